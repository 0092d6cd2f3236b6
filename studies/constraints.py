"""Which constrained optimiser when: feasible outcomes first, beside penalties of three sizes.

Optimisers that handle constraints, and random search, run on convex functions with linear
constraints and a known optimum (the suite `linear-constraints`). Every evaluated point is kept, so
that the same runs are judged four times: a run's outcome at a time is its best point until then

- ``feasible first``: feasible before infeasible, then less violation, then the better value;
- ``penalty 1``, ``penalty 1e3``, ``penalty 1e6``: the least value + penalty * violation.

Where the sets, the leaders and the duels differ, the size of the penalty has decided.

    python studies/constraints.py --small     some seconds: whether all parts work
    python studies/constraints.py             less than ten minutes of one core
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import bound
import common
import numpy as np
import population_races as races
import populations
from common import Claims, Lines, Row, deadline, markdown, told, write_csv
from mabbob_truth import ahead
from populations import Population
from solvers import default_way

from polarbear.config.configuration import Config, parse
from polarbear.execution.outcome import Task
from polarbear.execution.run import Problems, execute
from polarbear.numerics.seeds import derived_seed
from polarbear.problems.base import Instance, Problem
from polarbear.racing.rules import Rules
from polarbear.rankings.outcomes import ordinals, total_violation
from polarbear.settings.options import Source

TOLERANCE = 1e-8
FEASIBLE_FIRST = "feasible first"
PENALTIES = {"penalty 1": 1.0, "penalty 1e3": 1e3, "penalty 1e6": 1e6}
ROPE = 0.05  # a duel is decided where a win rate is further than this from a half
RACES_LIMIT = 200  # instances of a race on recorded runs, drawn with replacement
ALGORITHMS: tuple[Row, ...] = (
    {"name": "SLSQP", "use": "scipy-constrained", "method": "slsqp"},
    {"name": "trust-constr", "use": "scipy-constrained", "method": "trust-constr"},
    {"name": "COBYLA", "use": "scipy-constrained", "method": "cobyla"},
    {"name": "COBYQA", "use": "scipy-constrained", "method": "cobyqa"},
    {"name": "CMA-ES, Lagrangian", "use": "cma-constrained"},
    {"name": "random search", "use": "random-search"},
)


@dataclass(frozen=True)
class Size:
    """The size of the study: instances, evaluations of a run, and replayed races."""

    instances: int
    budget: int
    races: int


SIZES = {"small": Size(3, 60, 1), "full": Size(40, 1000, 10)}


def configuration(size: Size) -> Config:
    data: dict[str, Any] = {
        "seed": 1,
        "algorithms": list(ALGORITHMS),
        "instances": {"suite": "linear-constraints", "feasibility_tolerance": TOLERANCE},
        "budget": {"grid": {"from": 10, "to": size.budget, "points": 12}},
        "race": {"alpha": 0.95},
    }
    return parse(data, Source("study"))


class KeptProblems(Problems):
    """Problems that keep the outcomes of all points of the last run."""

    values: list[float]
    violations: list[float]

    def get(self, instance: Instance) -> Problem:
        problem = super().get(instance)
        self.values = []
        self.violations = []

        def evaluate(x: object) -> tuple[float, list[float]]:
            value, constraints = problem.evaluate(x)
            self.values.append(value)
            self.violations.append(total_violation(constraints, TOLERANCE))
            return value, constraints

        return replace(problem, evaluate=evaluate)


def scores(definition: str, values: np.ndarray, violations: np.ndarray) -> np.ndarray:
    """Numbers of outcomes, smaller is better by this definition."""
    if definition == FEASIBLE_FIRST:
        return ordinals(values, violations)
    return values + PENALTIES[definition] * violations


def best_at(scores_of_points: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The index of the best of the first t points, for each time t."""
    best = np.minimum.accumulate(scores_of_points)
    is_new = np.concatenate([[True], best[1:] < best[:-1]])
    index_of_best = np.maximum.accumulate(np.where(is_new, np.arange(len(best)), 0))
    last = np.minimum(times.astype(int), len(best)) - 1
    return index_of_best[last]


def outcomes_on(config: Config) -> Callable[[Row], Row]:
    """A function that runs all algorithms on an instance, given by its index."""
    problems = KeptProblems(config.instances, config.setting)

    def work(task: Row) -> Row:
        instance = config.instances.instance(task["instance"], config.setting)
        outcomes: dict[str, dict[str, list[list[float]]]] = {}
        failures = []
        for algorithm in config.algorithms:
            seed = derived_seed(config.seed, instance.id, algorithm.name)
            outcome = execute(Task(algorithm, instance, seed, config.budget.limit), problems)
            if outcome.status.failed:
                failures.append(f"{algorithm.name}: {outcome.message}")
            values = np.array(problems.values)
            violations = np.array(problems.violations)
            outcomes[algorithm.name] = {}
            for definition in (FEASIBLE_FIRST, *PENALTIES):
                numbers = scores(definition, values, violations)
                index = best_at(numbers, config.budget.times)
                pairs = [values[index].tolist(), violations[index].tolist()]
                outcomes[algorithm.name][definition] = pairs
        return {"outcomes": outcomes, "failures": failures}

    return work


@dataclass(frozen=True)
class Judged:
    """Values and violations[instance, algorithm, time] of the outcomes by one definition."""

    definition: str
    values: np.ndarray
    violations: np.ndarray

    @classmethod
    def of(cls, rows: list[Row], definition: str) -> Judged:
        names = [str(algorithm["name"]) for algorithm in ALGORITHMS]
        pairs = np.array([[row["outcomes"][name][definition] for name in names] for row in rows])
        return cls(definition, pairs[:, :, 0], pairs[:, :, 1])

    def population(self, config: Config) -> Population:
        """The outcomes as numbers in their order on each instance."""
        numbers = [
            scores(self.definition, values.ravel(), violations.ravel()).reshape(values.shape)
            for values, violations in zip(self.values, self.violations, strict=True)
        ]
        names = tuple(algorithm.name for algorithm in config.algorithms)
        budget = config.budget
        return Population(names, budget.times, budget.unit_times, np.stack(numbers))


def leaders(people: Population) -> list[str]:
    """The algorithm whose win rate against its strongest rival is highest, at each time."""
    least = [
        np.min([ahead(people, name, rival) for rival in people.names if rival != name], axis=0)
        for name in people.names
    ]
    return [people.names[int(best)] for best in np.argmax(least, axis=0)]


def spans(times: np.ndarray, names: list[str]) -> str:
    """Who leads from when on, in words."""
    words = []
    for k, name in enumerate(names):
        if k == 0 or names[k - 1] != name:
            words.append(f"{name} from {times[k]:.0f}")
    return ", ".join(words)


def answer(judged: Judged, people: Population, rows: list[Row]) -> Row:
    """What follows from one definition."""
    members = [people.names[i] for i in bound.duels_in(people.values).pareto]
    often, times = common.most_frequent([", ".join(sorted(row["left"])) for row in rows])
    is_infeasible = judged.violations[:, :, -1] > 0
    return {
        "outcome": judged.definition,
        "set by all duels": ", ".join(sorted(members)),
        "most frequent set of races": f"{often} ({times} of {len(rows)})",
        "leader": spans(people.times, leaders(people)),
        "infeasible at the end": f"{is_infeasible.mean():.1%}",
    }


def decided_otherwise(first: Population, other: Population) -> list[Row]:
    """The pairs of which one is clearly ahead in the first population, the other in the other."""
    rows = []
    for a, b in combinations(first.names, 2):
        share = ahead(first, a, b)
        other_share = ahead(other, a, b)
        differs = (share > 0.5 + ROPE) & (other_share < 0.5 - ROPE)
        differs |= (share < 0.5 - ROPE) & (other_share > 0.5 + ROPE)
        if differs.any():
            strongest = int(np.argmax(np.where(differs, np.abs(share - other_share), -1)))
            times = first.times[differs]
            rows.append(
                {
                    "pair": f"{a}, {b}",
                    "times": int(differs.sum()),
                    "from": float(times[0]),
                    "to": float(times[-1]),
                    "at": float(first.times[strongest]),
                    FEASIBLE_FIRST: f"{share[strongest]:.0%} for the first",
                    "by the penalty": f"{other_share[strongest]:.0%}",
                }
            )
    return rows


def claims_of(populations: dict[str, Population], judged: Judged, answers: list[Row]) -> Claims:
    """What should come out."""
    claims = Claims()
    first = populations[FEASIBLE_FIRST]
    cubed = [
        ordinals((values**3).ravel(), (violations**3).ravel()).reshape(values.shape)
        for values, violations in zip(judged.values, judged.violations, strict=True)
    ]
    claims.check(
        "feasible first: cubes of all values and violations give the same duels to the byte",
        np.stack(cubed).tobytes() == first.values.tobytes(),
    )
    by_penalties = [row for row in answers if row["outcome"] in PENALTIES]
    texts = [(row["set by all duels"], row["leader"]) for row in by_penalties]
    claims.check(
        f"the three penalties give {len(set(texts))} different answers, more than one",
        len(set(texts)) > 1,
    )
    for name in PENALTIES:
        n_pairs = len(decided_otherwise(first, populations[name]))
        claims.check(
            f"{name} decides {n_pairs} pairs otherwise than feasible first, at some time",
            n_pairs > 0,
        )
    return claims


def written(lines: Lines, config: Config, size: Size, out: Path) -> Claims:
    """Write the tables and the page."""
    rows = [row for row in lines.rows if row["instance"] < size.instances]
    rows.sort(key=lambda row: int(row["instance"]))
    judgements = {name: Judged.of(rows, name) for name in (FEASIBLE_FIRST, *PENALTIES)}
    populations = {name: judged.population(config) for name, judged in judgements.items()}
    way = default_way(Rules(alpha=0.95))
    answers = []
    for name, people in populations.items():
        raced = [races.one_race(way, seed, people, RACES_LIMIT) for seed in range(size.races)]
        answers.append(answer(judgements[name], people, raced))
    write_csv(out / "answers.csv", answers)
    failures = [failure for row in rows for failure in row["failures"]]
    n_runs = len(rows) * len(config.algorithms)
    parts = [
        (
            "Runs",
            f"{n_runs} runs, {len(failures)} of which failed: {len(config.algorithms)} algorithms "
            f"on {len(rows)} instances, {size.budget} evaluations each, feasible up to a violation "
            f"of {TOLERANCE:g}. Races draw at most {RACES_LIMIT} of these instances, with "
            "replacement.",
        ),
        ("Answers", markdown(answers)),
    ]
    for name in PENALTIES:
        table = decided_otherwise(populations[FEASIBLE_FIRST], populations[name])
        text = "No pair."
        if table:
            write_csv(out / f"{name.replace(' ', '-')}.csv", table)
            text = markdown(table)
        parts.append((f"Pairs that {name} decides otherwise", text))
    claims = claims_of(populations, judgements[FEASIBLE_FIRST], answers)
    print(told(out, "Constraints, without and with penalties", parts, claims))
    return claims


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--small", action="store_true", help="few instances and evaluations")
    parser.add_argument("--instances", type=int, help="how many; by default those of the size")
    parser.add_argument("--minutes", type=float, help="begin nothing further after so many")
    parser.add_argument("--stores", type=Path, default=populations.FOLDER, help="where runs go")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "constraints")
    args = parser.parse_args()
    size = SIZES["small" if args.small else "full"]
    if args.instances is not None:
        size = replace(size, instances=args.instances)
    config = configuration(size)
    lines = Lines(args.stores / f"constraints-{size.budget}.jsonl", ("instance",))
    tasks = ({"instance": index} for index in range(size.instances))
    n_left = lines.complete(tasks, outcomes_on(config), deadline(args.minutes))
    if n_left:
        print(f"{n_left} instances are left: the same command goes on", file=sys.stderr)
        return 0
    return 1 if written(lines, config, size, args.out).failed else 0


if __name__ == "__main__":
    sys.exit(main())
