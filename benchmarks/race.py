"""Whole races on known truths: how often is an elimination wrong, and what does it cost?

Truths are those of `truths.py`: those on which the sceptical prior was chosen, others on which it
was validated, and real populations. A race draws instances from a population with replacement, and
the truth is the whole population. A race goes through the same rounds as `polarbear race`, without
a store. Rules:

- ``empirical``: the default: duels with a sceptical prior, eliminations by each time;
- ``guarantee``: the default with `guarantee: anytime`;
- ``dirichlet``: Plackett-Luce, supported by duels as in the tool; ``ratings``: without that, pairs
  settled by crossing and batches that double up to 64, as in the paper; ``gp``: Plackett-Luce with
  ratings that are smooth over time, all times jointly;
- ``f-race``: Friedman's test and Conover's one-sided comparisons at every time, not corrected over
  times: to be worse at every time needs no correction; ``f-race-holm``: corrected over times.

Every race is appended to a file of JSON lines; races that it contains are not repeated. With
``--before FILE``, the rows of an earlier version on the same seeds, runs are compared with that
version.

    polarbear run configs/quickstart.yaml --instances 400 --store POPULATIONS/quick-start
    polarbear run configs/mabbob-small.yaml --instances 400 --store POPULATIONS/ma-bbob
    python benchmarks/race.py --out races.jsonl --populations POPULATIONS \
        --write benchmarks/results/race.md
    python benchmarks/race.py --out few.jsonl --races 20 --cells 'empirical/clones-*' 'f-race/*'
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import f_race
import race_report
import truths
from replay import Rankings, by_duels, replay
from truths import Truth

from polarbear.driver.round_posterior import p_any_wrong
from polarbear.inference import ModelOptions, infer, relations
from polarbear.inference.relations import DecisionTables
from polarbear.racing import State
from polarbear.racing.decide import LARGE_SHARE
from polarbear.racing.rules import Batch, Rules
from polarbear.rankings.choice_sets import count_choice_sets

LIMIT = 200
ALPHAS = ("0.95", "0.99")
ROPE = 0.05
DRAWS = 1000
AS_THE_PAPER: dict[str, Any] = {"resolution": "crossing", "batch": Batch(share=None)}

Out = list[tuple[int, int, int]]  # an eliminated algorithm, its eliminator, number of instances
History = list[tuple[float, set[int]]]  # the cost, in whole runs, and the remaining algorithms


@dataclass(frozen=True)
class Data:
    """One truth with the instances that all rules race on."""

    truth: Truth
    seed: int


MODELS = {"dirichlet": "dirichlet", "ratings": "dirichlet", "gp": "gp"}  # of rules


def raced(data: Data, rule: str, alpha: float) -> tuple[Out, History, float | None]:
    """A race by PolarBear's rules, and its P(any elimination is wrong)."""
    values = data.truth.values[:LIMIT]
    unit = data.truth.unit
    model = MODELS.get(rule, "empirical")
    options = ModelOptions(model=model, draws=DRAWS)
    rules = Rules(
        alpha=alpha,
        epsilon=ROPE,
        guarantee="anytime" if rule == "guarantee" else "none",
        **(AS_THE_PAPER if rule == "ratings" else {}),
    ).under(options.temporal)

    def by_ratings(rankings: Rankings, state: State) -> DecisionTables | None:
        sets = count_choice_sets(rankings.positions)
        seed = data.seed + state.round
        posterior = infer(sets, unit, options, seed, threads=1, positions=rankings.positions)
        if not posterior.usable:
            return None
        return relations.decision_tables(posterior, ROPE, rules.elimination)

    names = [f"A{i + 1}" for i in range(values.shape[1])]
    replayed = replay(
        values,
        names,
        unit,
        rules,
        by_duels(rules) if model == "empirical" else by_ratings,
        heeds_duels=rule in ("dirichlet", "gp", "guarantee"),
        cost=np.arange(1, len(unit) + 1),
    )
    eliminated = replayed.state.eliminated
    out = [(names.index(e.algorithm), names.index(e.by), e.instances) for e in eliminated]
    history = []
    for replayed_round in replayed.rounds:
        remaining = {names.index(name) for name in replayed_round.candidates}
        history.append((replayed_round.spent / len(unit), remaining))  # in whole runs
    return out, history, p_any_wrong(replayed.duels, names, eliminated)


def f_raced(data: Data, rule: str, alpha: float) -> tuple[Out, History, float | None]:
    """A race by F-race's tests, with PolarBear's batches and the same limit.

    Pairs that cross are settled.
    """
    test = f_race.better if rule == "f-race-holm" else f_race.better_at_each
    return *raced_by_tests(data.truth.values, test, 1 - alpha), None


def raced_by_tests(
    values: np.ndarray, test: Callable[[np.ndarray, float], np.ndarray], level: float
) -> tuple[Out, History]:
    """A race by a test that says where a is better than b: [time, a, b]."""
    batches = Rules().batch
    n, n_times = values.shape[1:]
    running = list(range(n))
    eliminators: dict[int, tuple[int, int]] = {}
    history: History = []
    batch = batches.start
    instances = 0
    spent = 0
    above = np.zeros((n_times, n, n), dtype=bool)
    while len(running) > 1 and instances < LIMIT:
        last = min(instances + batch, LIMIT)
        spent += (last - instances) * len(running)
        instances = last
        is_better = test(values[:instances, running], level)
        block = np.ix_(range(n_times), running, running)
        n_new = int((is_better & ~above[block]).sum())
        above[block] |= is_better
        if n_new == 0:
            batch *= 2
        elif n_new > LARGE_SHARE * is_better.size:
            batch //= 2
        batch = batches.within(batch, instances)
        always = is_better.all(axis=0)
        for j in np.flatnonzero(always.any(axis=0)):
            eliminators[running[j]] = running[int(np.argmax(always[:, j]))], instances
        crossing = above.any(axis=0) & above.any(axis=0).T
        candidates = [i for i in running if i not in eliminators]
        running = [i for i in candidates if any(not crossing[i, j] for j in candidates if j != i)]
        history.append((float(spent), set(range(n)) - set(eliminators)))
    out = [(loser, winner, n_instances) for loser, (winner, n_instances) in eliminators.items()]
    return out, history


RULES: dict[str, Callable[[Data, str, float], tuple[Out, History, float | None]]] = {
    "empirical": raced,
    "guarantee": raced,
    "dirichlet": raced,
    "ratings": raced,
    "gp": raced,
    "f-race": f_raced,
    "f-race-holm": f_raced,
}


def facts(truth: Truth, out: Out, history: History) -> dict[str, Any]:
    """Whether decisions are true, by any margin and up to the ROPE, and their cost."""
    n = truth.wins.shape[1]
    better = truth.better(2 * truth.error)
    nearly_better = truth.better(ROPE)
    dominates = truth.better()
    clearly_better = truth.better(-ROPE)
    pareto = {i for i in range(n) if not dominates[:, i].any()}

    def right_to_the_rope(remaining: set[int]) -> bool:
        """Whether the eliminated are worse or nearly so, and no remaining one is clearly worse."""
        lost = [i for i in pareto - remaining if not any(nearly_better[j, i] for j in remaining)]
        beaten = [i for i in remaining if any(clearly_better[j, i] for j in remaining)]
        return not lost and not beaten

    final_set = history[-1][1]
    return {
        "eliminated": [
            {
                "instances": n_instances,
                "wrong": not better[winner, loser],
                "beyond": not nearly_better[winner, loser],
                "member": loser in pareto,
            }
            for loser, winner, n_instances in out
        ],
        "members": len(pareto),
        "kept": len(pareto & final_set),
        "right": final_set == pareto,
        "right_to_the_rope": right_to_the_rope(final_set),
        "spent": history[-1][0],
        "until_right": _since(history, lambda remaining: remaining == pareto),
        "until_right_to_the_rope": _since(history, right_to_the_rope),
    }


def _since(history: History, is_right: Callable[[set[int]], bool]) -> float | None:
    """The cost after which the set of candidates stayed right; None if the final set is wrong."""
    if not is_right(history[-1][1]):
        return None
    wrong_rounds = [k for k, (_, remaining) in enumerate(history) if not is_right(remaining)]
    return history[max(wrong_rounds, default=-1) + 1][0]


def all_races(
    kind: str, seed: int, rules_and_alphas: list[tuple[str, str]], populations: Path | None
) -> list[dict[str, Any]]:
    """The races by several rules and alphas on the same instances of one truth."""
    data = Data(truths.drawn(kind, seed, LIMIT, populations), 100_000 * seed)
    rows = []
    for rule, alpha in rules_and_alphas:
        out, history, p_wrong = RULES[rule](data, rule, float(alpha))
        rows.append(
            {
                "rule": rule,
                "truth": kind,
                "alpha": alpha,
                "seed": seed,
                "p_any_wrong": p_wrong,
                **facts(data.truth, out, history),
            }
        )
    return rows


def read(path: Path) -> list[dict[str, Any]]:
    """The races in a file, without a line that an interruption has cut off."""
    rows = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def run_all(
    cells: list[tuple[str, str, str]],
    races: int,
    out: Path,
    processes: int,
    populations: Path | None,
) -> None:
    """Run the missing races.

    They run seed by seed over all truths, so that all truths have about the same number of races
    whenever it is stopped.
    """
    done = {(row["rule"], row["truth"], row["alpha"], row["seed"]) for row in read(out)}
    kinds = dict.fromkeys(kind for _, kind, _ in cells)
    tasks = []
    for seed, kind in product(range(races), kinds):
        missing = [
            (rule, alpha)
            for rule, truth, alpha in cells
            if truth == kind and (rule, kind, alpha, seed) not in done
        ]
        if missing:
            tasks.append((kind, seed, missing, populations))
    with (
        out.open("a") as file,
        ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool,
    ):
        running = [pool.submit(all_races, *task) for task in tasks]
        for number, future in enumerate(as_completed(running), start=1):
            file.write("".join(json.dumps(row) + "\n" for row in future.result()))
            file.flush()
            if number % 100 == 0:
                print(f"{number} of {len(tasks)} truths", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--races", type=int, default=300)
    parser.add_argument("--cells", nargs="*", default=["*"], help="patterns of rule/truth/alpha")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines, appended to")
    parser.add_argument(
        "--populations", type=Path, help="a folder of stores; without it, only synthetic truths"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--before", type=Path, help="JSON lines of an earlier version")
    parser.add_argument("--write", type=Path, help="a Markdown file for the result")
    args = parser.parse_args()
    kinds = truths.KINDS + truths.OTHERS + (truths.POPULATIONS if args.populations else ())
    cells = [
        cell
        for cell in product(RULES, kinds, ALPHAS)
        if any(fnmatch("/".join(cell), pattern) for pattern in args.cells)
    ]
    run_all(cells, args.races, args.out, args.processes, args.populations)
    rows = [row for row in read(args.out) if row["seed"] < args.races]
    before = read(args.before) if args.before else []
    text = race_report.markdown(rows, cells, LIMIT, before)
    print(text)
    if args.write:
        args.write.write_text(text)
    return race_report.missed(rows)


if __name__ == "__main__":
    sys.exit(main())
