"""Answers and costs of other methods on the same data.

Truths are those of `benchmarks/truths.py`: Plackett-Luce, mixtures, near-clones and unequal
variances, and two real populations where --populations names their folder (quick start on 2,000
instances, MA-BBOB in five dimensions on 1,000; see `benchmarks/race.py`). All methods see the same
instances of a seed, at most 200; what they spend is counted in whole runs.

Methods answer different questions, and each is judged by the question that it answers:

- *which of them are not worse than another one at every time* (PolarBear's): is the set right, up
  to a ROPE of 0.05; how many runs until it was; how many eliminations were wrong;
  the bound is a rule that knows all differences and only has to prove them (`bound.py`);
- *who is best at the end*, or *by area*: is the one that is named, or one of those not ruled out,
  the truth's best; and how many members of the anytime Pareto set a user of it goes without.

    python studies/comparators.py --populations FOLDER         30 seeds, some hours of one core
    python studies/comparators.py --seeds 2 --data pl-0.33      minutes
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import bound
import common
import numpy as np
import race
import truths
from common import Claims, Lines, Row, deadline, markdown, middle, told, write_csv
from peers import (
    caiser,
    glicko,
    halving,
    irace,
    plackett_luce,
    robust_ranking,
    sprint_race,
    utility,
)
from scipy.stats import rankdata

ALPHA = 0.95
KINDS = ("pl-0.33", "mixture-0.33", "clones-0.33", "thurstone-0.33")
MANY = 4000  # instances from which true means and areas are computed
FIXED = 100  # instances of methods that do not choose a number
SEEN = 8  # instances of a rung of successive halving

ANYTIME = "not worse at every time"
END = "best at the end"
AREA = "best by area"


def _anytime(data: race.Data, out: race.Out, history: race.History) -> Row:
    facts = race.facts(data.truth, out, history)
    return {
        "spent": facts["spent"],
        "right": facts["right_to_the_rope"],
        "until_right": facts["until_right_to_the_rope"],
        "wrong": sum(elimination["wrong"] for elimination in facts["eliminated"]),
        "eliminated": len(facts["eliminated"]),
        "kept": facts["kept"],
        "members": facts["members"],
    }


def _by_race(rule: str) -> Callable[[race.Data], Row]:
    return lambda data: _anytime(data, *race.RULES[rule](data, rule, ALPHA)[:2])


def _by_tests(
    test: Callable[[np.ndarray, float], np.ndarray], every: int = 1
) -> Callable[[race.Data], Row]:
    """Test at every time, or at each ``every``-th time only."""
    return lambda data: _anytime(
        data, *race.raced_by_tests(data.truth.values[:, :, ::every], test, 1 - ALPHA)
    )


def _sprint_race(data: race.Data) -> Row:
    out, history = sprint_race.raced(data.truth.values, 1 - ALPHA, 0.1)
    return _anytime(data, out, [(float(spent), candidates) for spent, candidates in history])


def _pareto(truth: truths.Truth) -> set[int]:
    beaten = truth.better().any(axis=0)
    return {int(i) for i in np.flatnonzero(~beaten)}


def _one(data: race.Data, answer: set[int], best: int, spent: float) -> Row:
    """The record of a method that names one algorithm, or those that are not ruled out."""
    pareto = _pareto(data.truth)
    return {
        "spent": spent,
        "right": best in answer,
        "until_right": spent if answer == {best} else None,
        "wrong": int(best not in answer),
        "eliminated": data.truth.wins.shape[1] - len(answer),
        "kept": len(pareto & answer),
        "members": len(pareto),
    }


@cache
def many(kind: str, seed: int, populations: Path | None) -> np.ndarray:
    """Values from which true means are computed: a whole population, or MANY instances."""
    if kind in truths.POPULATIONS:
        assert populations is not None
        return truths.population(populations / kind)[0]
    return truths.drawn(kind, seed, MANY).values


def _best_at_the_end(data: race.Data) -> int:
    """The algorithm with the highest win rate against its strongest rival at the last time."""
    wins = data.truth.wins[-1] + np.diag(np.full(data.truth.wins.shape[1], np.inf))
    return int(wins.min(axis=1).argmax())


def _irace(
    test: irace.Test, truth: Callable[[np.ndarray], int]
) -> Callable[[race.Data, np.ndarray], Row]:
    def run(data: race.Data, population: np.ndarray) -> Row:
        _, history = irace.raced(data.truth.values[:, :, -1], test, 1 - ALPHA)
        return _one(data, history[-1][1], truth(population[:, :, -1]), float(history[-1][0]))

    return run


def _lowest_rank(ends: np.ndarray) -> int:
    return int(rankdata(ends, axis=1).mean(axis=0).argmin())


def _cost(data: race.Data) -> np.ndarray:
    return np.arange(1, len(data.truth.unit) + 1) / len(data.truth.unit)


def _halved(hyper: bool) -> Callable[[race.Data, np.ndarray], Row]:
    def run(data: race.Data, population: np.ndarray) -> Row:
        values = data.truth.values[: 3 * SEEN if hyper else SEEN]
        winner = (halving.hyperband if hyper else halving.successive_halving)(values, _cost(data))
        return _one(data, {winner.winner}, _lowest_rank(population[:, :, -1]), winner.spent)

    return run


def _calvo(data: race.Data, population: np.ndarray) -> Row:
    """Test after 8, 16, 32, ... instances, until one is best with probability alpha."""
    ends = data.truth.values[:, :, -1]
    n = data.truth.values.shape[1]
    for size in (8, 16, 32, 64, 128, race.LIMIT):
        p = plackett_luce.best(ends[:size], data.seed + size)
        if p.max() >= ALPHA:
            break
    order = np.argsort(-p)
    enough = int(np.searchsorted(p[order].cumsum(), ALPHA)) + 1
    answer = {int(i) for i in order[:enough]}
    return _one(data, answer, _best_at_the_end(data), float(size * n))


def _caiser(data: race.Data, population: np.ndarray) -> Row:
    """All sign tests at the end, on the instances that show half a standard deviation."""
    n = data.truth.values.shape[1]
    size = caiser.instances(n * (n - 1) // 2, 0.5, 0.8, 1 - ALPHA, sign_test=True)
    size = min(size, race.LIMIT)
    better = caiser.compared(data.truth.values[:size, :, -1], 1 - ALPHA)
    answer = {i for i in range(n) if not better[:, i].any()}
    return _one(data, answer, _best_at_the_end(data), float(size * n))


def _by_area(log: bool) -> Callable[[race.Data, np.ndarray], Row]:
    def run(data: race.Data, population: np.ndarray) -> Row:
        times = np.exp(data.truth.unit) if log else 1 + data.truth.unit
        weights = utility.stopped(times, log)
        utilities = utility.utility(utility.seen_quality(data.truth.values[:FIXED]), weights)
        true = utility.utility(utility.seen_quality(population), weights)
        answer = {int(utilities.mean(axis=0).argmax())}
        spent = float(FIXED * utilities.shape[1])
        return _one(data, answer, int(true.mean(axis=0).argmax()), spent)

    return run


def _knows_the_distances(data: race.Data, population: np.ndarray) -> Row:
    """The bound of `bound.py`, at most the cost of all runs; it makes no errors."""
    truth = data.truth
    synthetic = (
        truth.values.shape[1:] == (truths.ALGORITHMS, truths.TIMES) and len(population) == MANY
    )
    duels = bound.Duels(truth.wins) if synthetic else bound.duels_in(population)
    n = truth.wins.shape[1]
    least = min(bound.bound(duels, _cost(data), ALPHA, race.ROPE).spent, float(n * race.LIMIT))
    members = len(duels.pareto)
    return {
        "spent": least,
        "right": True,
        "until_right": least,
        "wrong": 0,
        "eliminated": n - members,
        "kept": members,
        "members": members,
    }


# For each method: the question that it answers, its function, and what it cannot answer.
ASKED: dict[str, tuple[str, Callable[[race.Data], Row], str]] = {
    "PolarBear": (ANYTIME, _by_race("empirical"), "by how much one is better"),
    "PolarBear, guarantee": (ANYTIME, _by_race("guarantee"), "the same, and more slowly"),
    "the paper's": (ANYTIME, _by_race("ratings"), "whether Plackett-Luce holds"),
    "fair F-Race": (ANYTIME, _by_race("f-race"), "how sure it is; who is equivalent"),
    "F-Race, Holm": (ANYTIME, _by_race("f-race-holm"), "the same"),
    "robust ranking": (
        ANYTIME,
        _by_tests(robust_ranking.better_at_each),
        "when to stop; its ranks depend on who else is there",
    ),
    "Glicko-2 bands": (
        ANYTIME,
        _by_tests(lambda values, level: glicko.better_at_each(values, 2.0), every=4),
        "an error rate: bands are no intervals; every fourth time only",
    ),
    "SPRINT-Race": (ANYTIME, _sprint_race, "anything from instances on which two cross"),
}
OTHERWISE: dict[str, tuple[str, Callable[[race.Data, np.ndarray], Row], str]] = {
    "a rule that knows the distances": (
        ANYTIME,
        _knows_the_distances,
        "it is a bound: they are unknown in practice",
    ),
    "irace, Friedman": (END, _irace(irace.friedman, _lowest_rank), "anything before the end"),
    "irace, t-test": (
        END,
        _irace(irace.t_test, lambda ends: int(ends.mean(axis=0).argmin())),
        "anything before the end; who wins more often",
    ),
    "successive halving": (END, _halved(False), "how sure it is; who is late is lost"),
    "Hyperband": (END, _halved(True), "how sure it is"),
    "Calvo's Plackett-Luce": (END, _calvo, "anything before the end"),
    "CAISEr": (END, _caiser, "anything before the end; it does not stop early"),
    "AOCC, utility": (AREA, _by_area(False), "anything without a scale; who crosses whom"),
    "AOCC, log time": (AREA, _by_area(True), "anything without a scale; who crosses whom"),
}
METHODS = (*ASKED, *OTHERWISE)


def compared(task: Row, populations: Path | None) -> Row:
    """One method on one truth and seed."""
    kind = task["data"]
    seed = task["seed"]
    data = race.Data(truths.drawn(kind, seed, race.LIMIT, populations), 100_000 * seed)
    if task["method"] in ASKED:
        return ASKED[task["method"]][1](data)
    return OTHERWISE[task["method"]][1](data, many(kind, seed, populations))


def table(rows: list[Row]) -> list[Row]:
    """A row for each method, on each population and on all synthetic truths together."""
    lines = []
    groups = {row["data"]: row["data"] for row in rows}
    groups = {name: name if name in truths.POPULATIONS else "synthetic" for name in groups}
    for group in dict.fromkeys(groups.values()):
        for method in METHODS:
            races = [r for r in rows if groups[r["data"]] == group and r["method"] == method]
            if not races:
                continue
            question, _, cannot = (ASKED | OTHERWISE)[method]  # type: ignore[operator]
            lines.append(
                {
                    "data": group,
                    "method": method,
                    "question": question,
                    "races": len(races),
                    "its answer is right": f"{np.mean([row['right'] for row in races]):.0%}",
                    "wrong": _wrong(races, question),
                    "runs": middle([row["spent"] for row in races]),
                    "runs until right": price(races),
                    "anytime members kept": f"{sum(row['kept'] for row in races)}/"
                    f"{sum(row['members'] for row in races)}",
                    "cannot say": cannot,
                }
            )
    return lines


def _wrong(rows: list[Row], question: str) -> str:
    wrong = sum(row["wrong"] for row in rows)
    of = sum(row["eliminated"] for row in rows) if question == ANYTIME else len(rows)
    return f"{wrong}/{of}" if of else "0/0"


def price(rows: list[Row]) -> float:
    """Mean runs until right; a race that never was right counts as all runs on all instances."""
    n = {"quick-start": 5, "ma-bbob": 7}
    return float(
        np.mean(
            [
                n.get(row["data"], truths.ALGORITHMS) * race.LIMIT
                if row["until_right"] is None
                else row["until_right"]
                for row in rows
            ]
        )
    )


def claims_of(rows: list[Row]) -> Claims:
    """Claims on the cheapest of the methods that answer the same question with as few errors."""
    claims = Claims()
    for data in dict.fromkeys(row["data"] for row in rows):
        prices = {}
        for method in ASKED:
            races = [row for row in rows if row["data"] == data and row["method"] == method]
            out = sum(row["eliminated"] for row in races)
            wrong = sum(row["wrong"] for row in races) / out if out else 0.0
            if races:
                prices[method] = price(races), wrong
        if "PolarBear" not in prices:
            continue
        allowed = max(1 - ALPHA, prices["PolarBear"][1])
        fair = {method: runs for method, (runs, wrong) in prices.items() if wrong <= allowed}
        best = min(fair, key=lambda method: fair[method])
        claims.check(
            f"{data}: cheapest of those with at most {allowed:.1%} wrong eliminations is {best}, "
            f"{fair[best]:.0f} runs until right on average; PolarBear {fair['PolarBear']:.0f}, "
            f"the fair F-Race {prices.get('fair F-Race', (float('nan'),))[0]:.0f}",
            best.startswith("PolarBear"),
        )
    return claims


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--data", nargs="*", help="kinds of truths; all if not given")
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--populations", type=Path, help="a folder of stores")
    parser.add_argument("--minutes", type=float, help="begin no further race after so many")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "comparators")
    args = parser.parse_args()
    kinds = args.data or (*KINDS, *(truths.POPULATIONS if args.populations else ()))
    lines = Lines(args.out / "races.jsonl", ("data", "method", "seed"))
    tasks = (
        {"data": kind, "method": method, "seed": seed}
        for seed in range(args.seeds)
        for kind in kinds
        for method in args.methods
    )
    n_left = lines.complete(
        tasks, lambda task: compared(task, args.populations), deadline(args.minutes)
    )
    rows = [row for row in lines.rows if row["data"] in kinds and row["method"] in args.methods]
    methods = table(rows)
    write_csv(args.out / "comparators.csv", methods)
    claims = claims_of(rows)
    print(told(args.out, "Everybody on the same data", [("Methods", markdown(methods))], claims))
    if n_left:
        print(f"{n_left} are left: the same command goes on", file=sys.stderr)
    return 1 if claims.failed else 0


if __name__ == "__main__":
    sys.exit(main())
