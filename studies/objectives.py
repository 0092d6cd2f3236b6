"""Which multi-objective algorithm when, without and with a reference point.

NSGA-II, NSGA-III, MOEA/D, SMS-EMOA (by pymoo) and random search run on bbob-biobj in dimension 5
and 10. The same runs are judged several times, by the duels of their fronts:

- ``coverage`` and ``dominance`` depend on the order of the values of each objective only;
- ``hypervolume, nadir``: the reference is COCO's nadir, the values of each objective at the optimum
  of the other one;
- ``hypervolume, worst``: the reference is behind the worst values that any of the runs ended with.

Where the answers by the two references differ, the choice of the reference has decided. Then the
first objective is transformed by y -> y^3, and by y -> exp(y / s) with a scale s for each instance,
which changes no order: the answers of the first two must not change by a byte.

    python studies/objectives.py --small     some seconds: whether all parts work
    python studies/objectives.py             ten minutes of one core; needs the extra multi
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import bound
import common
import moocore
import numpy as np
import populations
import yaml
from common import Claims, Row, markdown, told, write_csv

from polarbear.rankings import GridValues
from polarbear.rankings.front_duels import (
    INCOMPARABLE,
    LOSS,
    NOT_MET,
    WIN,
    DuelRule,
    DuelSettings,
)
from polarbear.store import StoreOnDisk

DIMENSIONS = (5, 10)
ALGORITHMS: tuple[Row, ...] = (
    {"name": "NSGA-II", "use": "pymoo", "method": "nsga2"},
    {"name": "NSGA-III", "use": "pymoo", "method": "nsga3"},
    {"name": "MOEA/D", "use": "pymoo", "method": "moead"},
    {"name": "SMS-EMOA", "use": "pymoo", "method": "sms-emoa"},
    {"name": "random search", "use": "random-search"},
)
SCALE_FREE = (DuelRule.COVERAGE, DuelRule.DOMINANCE)
NADIR = "hypervolume, nadir"
WORST = "hypervolume, worst"
MARGIN = 0.1  # of the range, between the worst values and the reference behind them
LARGEST_EXPONENT = 600.0  # of the transformation by exp
ROPE = 0.05  # a duel is decided where a win rate is further than this from a half


@dataclass(frozen=True)
class Size:
    """The size of the study: instances in each dimension, evaluations of a run, and times."""

    instances: int
    budget: int
    times: int


SIZES = {"small": Size(3, 120, 4), "full": Size(30, 1000, 20)}


def configuration(dimension: int, size: Size) -> Row:
    return {
        "seed": 1,
        "algorithms": list(ALGORITHMS),
        "instances": {"suite": "bbob-biobj", "dimensions": [dimension]},
        "budget": {"grid": {"from": 50, "to": size.budget, "points": size.times}},
        "execution": {"workers": 1},
    }


@dataclass(frozen=True)
class Fronts:
    """The fronts of all runs in one dimension, and the nadir of each instance."""

    dimension: int
    grid: GridValues
    nadirs: np.ndarray

    @classmethod
    def of(cls, dimension: int, store: StoreOnDisk) -> Fronts:
        grid = store.on_grid(store.settings.budget.times, tuple(store.settings.algorithms))
        specs = store.specs()
        nadirs = np.array([nadir_of(specs[instance]) for instance in grid.instances])
        return cls(dimension, grid, nadirs)

    def transformed(self, transform: Callable[[np.ndarray, float], np.ndarray]) -> Fronts:
        """The fronts whose first objective is transformed; the function receives its scale, too."""
        assert self.grid.fronts is not None
        fronts = np.empty_like(self.grid.fronts)
        nadirs = self.nadirs.copy()
        for row, of_instance in enumerate(self.grid.fronts):
            points = np.concatenate(list(of_instance.ravel()))
            scale = float(np.abs(points[:, 0]).max())
            nadirs[row, 0] = transform(self.nadirs[row, :1], scale)[0]
            for cell, front in np.ndenumerate(of_instance):
                first = transform(front[:, 0], scale)
                fronts[(row, *cell)] = np.column_stack([first, front[:, 1]])
        return replace(self, grid=replace(self.grid, fronts=fronts), nadirs=nadirs)

    def worst(self, row: int) -> np.ndarray:
        """A point behind the worst values in the last fronts on an instance."""
        assert self.grid.fronts is not None
        points = np.concatenate(list(self.grid.fronts[row, :, -1]))
        high = points.max(axis=0)
        return np.asarray(high + MARGIN * (high - points.min(axis=0)))

    def results(self, way: str) -> np.ndarray:
        """The results of all duels by one way: [instance, pair, time]."""
        if way in (NADIR, WORST):
            return self._by_hypervolume(way)
        results = self.grid.duel_results(DuelSettings(DuelRule(way)))
        assert results is not None
        return results

    def _by_hypervolume(self, way: str) -> np.ndarray:
        fronts = self.grid.fronts
        assert fronts is not None
        volumes = np.zeros(fronts.shape)
        for row, of_instance in enumerate(fronts):
            reference = self.nadirs[row] if way == NADIR else self.worst(row)
            for cell, front in np.ndenumerate(of_instance):
                volumes[(row, *cell)] = moocore.hypervolume(front, ref=reference)
        pairs = list(combinations(range(fronts.shape[1]), 2))
        leads = np.stack([volumes[:, a] - volumes[:, b] for a, b in pairs], axis=1)
        return np.select([leads > 0, leads < 0], [WIN, LOSS], INCOMPARABLE).astype(np.int8)


def nadir_of(spec: Row) -> tuple[float, float]:
    """The value of each objective at the optimum of the other one."""
    from polarbear.problems.bbob.instances import bbob_function, function_problem
    from polarbear.problems.bbob_biobj import FUNCTION_PAIRS, INSTANCE_PAIRS

    functions = [
        bbob_function(function, instance, spec["dimension"])
        for function, instance in zip(
            FUNCTION_PAIRS[spec["function"] - 1], INSTANCE_PAIRS[spec["instance"] - 1], strict=True
        )
    ]
    first, second = (function_problem(function).evaluate for function in functions)
    return float(first(functions[1].x_opt)), float(second(functions[0].x_opt))


def cubed(values: np.ndarray, scale: float) -> np.ndarray:
    return values**3


def exponential(values: np.ndarray, scale: float) -> np.ndarray:
    return np.exp(LARGEST_EXPONENT * np.clip(values / scale, -1, 1))


TRANSFORMATIONS = {"y^3": cubed, "exp": exponential}


@dataclass(frozen=True)
class Answer:
    """What follows from duels.

    ``won[time, a, b]`` is the share of duels won, in ``ahead`` the others count as half, and
    ``incomparable[time]`` is the share of incomparable ones.
    """

    won: np.ndarray
    ahead: np.ndarray
    incomparable: np.ndarray

    @classmethod
    def of(cls, results: np.ndarray, n_algorithms: int) -> Answer:
        n_times = results.shape[2]
        won = np.zeros((n_times, n_algorithms, n_algorithms))
        ahead = np.full((n_times, n_algorithms, n_algorithms), 0.5)
        has_met = results != NOT_MET
        for pair, (a, b) in enumerate(combinations(range(n_algorithms), 2)):
            n_duels = np.maximum(has_met[:, pair].sum(axis=0), 1)
            won[:, a, b] = (results[:, pair] == WIN).sum(axis=0) / n_duels
            won[:, b, a] = (results[:, pair] == LOSS).sum(axis=0) / n_duels
            ahead[:, a, b] = 0.5 + 0.5 * (won[:, a, b] - won[:, b, a])
            ahead[:, b, a] = 1 - ahead[:, a, b]
        is_open = (results == INCOMPARABLE).sum(axis=(0, 1)) / has_met.sum(axis=(0, 1))
        return cls(won, ahead, is_open)

    def members(self, names: tuple[str, ...]) -> list[str]:
        """The algorithms that nobody beats at every time."""
        return [names[i] for i in bound.Duels(self.won).pareto]

    def leaders(self, names: tuple[str, ...]) -> list[str]:
        """The algorithm with the highest win rate against its strongest rival, at each time."""
        ahead = self.ahead.copy()
        index = np.arange(len(names))
        ahead[:, index, index] = 1.0
        return [names[int(best)] for best in ahead.min(axis=2).argmax(axis=1)]


def spans(times: np.ndarray, names: list[str]) -> str:
    """Who leads from when on, in words."""
    changes = [k for k, name in enumerate(names) if k == 0 or names[k - 1] != name]
    return ", ".join(f"{names[k]} from {times[k]:.0f}" for k in changes)


def decided_otherwise(first: Answer, other: Answer) -> int:
    """The number of pairs and times with a clear winner, which is not the same."""
    is_ahead = (first.ahead > 0.5 + ROPE) & (other.ahead < 0.5 - ROPE)
    return int(is_ahead.sum())


def judged(fronts: Fronts, claims: Claims) -> tuple[list[Row], list[Row]]:
    """The answers in one dimension, and what transformations change."""
    names = fronts.grid.algorithms
    times = fronts.grid.times
    ways = (*map(str, SCALE_FREE), NADIR, WORST)
    results = {way: fronts.results(way) for way in ways}
    answers = {way: Answer.of(results[way], len(names)) for way in ways}
    rows: list[Row] = []
    for way, answer in answers.items():
        rows.append(
            {
                "dimension": fronts.dimension,
                "duels by": way,
                "set": ", ".join(sorted(answer.members(names))),
                "leader": spans(times, answer.leaders(names)),
                "incomparable": f"{answer.incomparable.min():.0%} to "
                f"{answer.incomparable.max():.0%}",
                "otherwise than coverage": decided_otherwise(answers["coverage"], answer),
            }
        )
    n_by_reference = decided_otherwise(answers[NADIR], answers[WORST])
    claims.check(
        f"dimension {fronts.dimension}: the reference of hypervolume decides {n_by_reference} of "
        f"{len(times) * len(names) * (len(names) - 1) // 2} pairs at a time otherwise, more than 0",
        n_by_reference > 0,
    )
    changes = [change(fronts, name, way, results[way]) for name in TRANSFORMATIONS for way in ways]
    is_same = all(row["duels that change"] == 0 for row in changes if row["duels by"] in SCALE_FREE)
    claims.check(
        f"dimension {fronts.dimension}: no transformation changes a duel by coverage or dominance",
        is_same,
    )
    n_changed = sum(
        row["duels that change"] for row in changes if row["duels by"] in (NADIR, WORST)
    )
    claims.check(
        f"dimension {fronts.dimension}: {n_changed} duels by hypervolume change, more than 0",
        n_changed > 0,
    )
    return rows, changes


def change(fronts: Fronts, name: str, way: str, results: np.ndarray) -> Row:
    """How many duels change if the first objective is transformed."""
    transformed = fronts.transformed(TRANSFORMATIONS[name]).results(way)
    names = fronts.grid.algorithms
    before = Answer.of(results, len(names))
    after = Answer.of(transformed, len(names))
    return {
        "dimension": fronts.dimension,
        "first objective": name,
        "duels by": way,
        "duels": int((results != NOT_MET).sum()),
        "duels that change": int((results != transformed).sum()),
        "the leader changes at": sum(
            first != other
            for first, other in zip(before.leaders(names), after.leaders(names), strict=True)
        ),
        "the set changes": "yes" if before.members(names) != after.members(names) else "no",
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--small", action="store_true", help="few instances and evaluations")
    parser.add_argument("--instances", type=int, help="in each dimension")
    parser.add_argument("--stores", type=Path, default=populations.FOLDER, help="where runs go")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "objectives")
    args = parser.parse_args()
    size = SIZES["small" if args.small else "full"]
    if args.instances is not None:
        size = replace(size, instances=args.instances)
    claims = Claims()
    answers: list[Row] = []
    changes: list[Row] = []
    n_instances = []
    for dimension in DIMENSIONS:
        store = args.stores / f"objectives-{size.budget}-d{dimension}"
        config = store.with_suffix(".yaml")
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(yaml.safe_dump(configuration(dimension, size), sort_keys=False))
        populations.make(config, store, size.instances)
        fronts = Fronts.of(dimension, StoreOnDisk.open(store))
        n_instances.append(f"{len(fronts.grid.instances)} in dimension {dimension}")
        own_answers, own_changes = judged(fronts, claims)
        answers += own_answers
        changes += own_changes
    write_csv(args.out / "answers.csv", answers)
    write_csv(args.out / "transformations.csv", changes)
    parts = [
        (
            "Runs",
            f"{len(ALGORITHMS)} algorithms on bbob-biobj, {size.budget} evaluations each, on "
            f"{' and '.join(n_instances)} instances.",
        ),
        ("Answers", markdown(answers)),
        ("Transformations of the first objective", markdown(changes)),
    ]
    print(told(args.out, "Several objectives, without and with a reference point", parts, claims))
    return 1 if claims.failed else 0


if __name__ == "__main__":
    sys.exit(main())
