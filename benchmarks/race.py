"""Whole races on truths that are known: how often is somebody put out wrongly, and what does it
cost?

Truths are those of `truths.py`: Plackett-Luce, mixtures, near-clones and unequal variances, with
noise that is correlated over time to a known degree, and real populations, of which a race draws
instances (with replacement) and the truth is the whole. A race goes through the same rounds as
`polarbear race`, without a store. Rules:

- ``empirical``: the default: duels, smoothed over time, out by all times at once;
- ``duels``: the same model without smoothing, out by each time for itself;
- ``guarantee``: the default with `guarantee: anytime`;
- ``dirichlet``: Plackett-Luce, heeding duels as the tool does; ``ratings``: not heeding them, pairs
  settled by crossing and batches that double up to 64, as the paper has it; ``gp``: Plackett-Luce
  with ratings that are smooth over time, all times at once;
- ``f-race``: Friedman's test and Conover's one-sided comparisons at every time, not corrected over
  times: to be worse at every time needs no correction; ``f-race-holm``: corrected over times.

Every race is appended to a file of JSON lines; what is there is not done again.

    polarbear run configs/quickstart.yaml --instances 2000 --store POPULATIONS/quick-start
    polarbear run configs/mabbob-small.yaml --instances 1000 --store POPULATIONS/ma-bbob
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
from dataclasses import dataclass, field
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
from quick_beliefs import QuickPosterior
from replay import Found, replay
from truths import Truth

from polarbear import racing as race
from polarbear.inference import ModelOptions, infer, relations
from polarbear.inference.plackett_luce.composite_weight import composite_weight
from polarbear.racing.rules import Batch, Rules
from polarbear.rankings import count_choice_sets, rank

LIMIT = 200
ALPHAS = ("0.95", "0.99")
ROPE = 0.05
DRAWS = 1000
AS_THE_PAPER: dict[str, Any] = {"resolution": "crossing", "batch": Batch(share=None)}

Out = list[tuple[int, int, int]]  # who is out, by whom, after how many instances
History = list[tuple[float, set[int]]]  # what was spent, in whole runs, and who was left


@dataclass
class Data:
    """One truth with the instances that all rules race on, and what was inferred from them."""

    truth: Truth
    seed: int
    inferred: dict[tuple[Any, ...], Found] = field(default_factory=dict)

    def beliefs(self, rule: str, options: ModelOptions, present: np.ndarray, turn: int) -> Found:
        """Kept, since rules that differ in what they decide see the same at first."""
        key = (options.model, options.smoothing, turn, present.tobytes())
        if key not in self.inferred:
            self.inferred[key] = self._infer(rule, options, present, self.seed + turn)
        return self.inferred[key]

    def _infer(self, rule: str, options: ModelOptions, present: np.ndarray, seed: int) -> Found:
        unit = self.truth.unit
        positions = rank(self.truth.values[: len(present)], present)
        sets = count_choice_sets(positions)
        if rule == "gp":
            sets = sets.weighted(composite_weight(positions, sets, unit, options))
            options = options.model_copy(update={"dependence": "independent"})
            quick = QuickPosterior(sets, unit, options).beliefs(DRAWS, ROPE, seed)
            if quick is not None:
                return quick
        given = positions if not options.plackett_luce else None
        posterior = infer(sets, unit, options, seed, threads=1, positions=given)
        if not posterior.usable:
            return None, None
        joint = relations.joint(posterior, threads=1) if posterior.joint else None
        return relations.pointwise(posterior, ROPE, threads=1, no_worse=True), joint


def raced(data: Data, rule: str, alpha: float) -> tuple[Out, History]:
    values, unit = data.truth.values, data.truth.unit
    model = {"dirichlet": "dirichlet", "ratings": "dirichlet", "gp": "gp"}.get(rule, "empirical")
    options = ModelOptions(
        model=model, draws=DRAWS, smoothing="none" if rule == "duels" else "learned"
    )
    rules = Rules(
        alpha=alpha,
        epsilon=ROPE,
        elimination="pointwise" if rule == "duels" else "auto",
        guarantee="anytime" if rule == "guarantee" else "none",
        **(AS_THE_PAPER if rule == "ratings" else {}),
    ).under(options.joint, options.plackett_luce)
    names = [f"A{i + 1}" for i in range(values.shape[1])]
    found = replay(
        values[:LIMIT],
        names,
        unit,
        rules,
        lambda present, state: data.beliefs(rule, options, present, state.round),
        heeds_duels=rule in ("dirichlet", "gp", "guarantee"),
        cost=np.arange(1, len(unit) + 1),
    )
    out = [
        (names.index(e.algorithm), names.index(e.by), e.instances) for e in found.state.eliminated
    ]
    left = [{names.index(name) for name in turn.left} for turn in found.rounds]
    spent = [turn.spent / len(unit) for turn in found.rounds]  # in whole runs
    return out, list(zip(spent, left, strict=True))


def f_raced(data: Data, rule: str, alpha: float) -> tuple[Out, History]:
    """With the race's batches and its limit; pairs that cross are settled."""
    test = f_race.better if rule == "f-race-holm" else f_race.better_at_each
    return raced_by_tests(data.truth.values, test, 1 - alpha)


def raced_by_tests(
    values: np.ndarray, test: Callable[[np.ndarray, float], np.ndarray], level: float
) -> tuple[Out, History]:
    """A race whose test says where a is better than b: [time, a, b]."""
    batches = Rules().batch
    n, n_times = values.shape[1:]
    running = list(range(n))
    gone: dict[int, tuple[int, int]] = {}
    batch, seen, spent, history = batches.start, 0, 0, []
    above = np.zeros((n_times, n, n), dtype=bool)
    while len(running) > 1 and seen < LIMIT:
        last = min(seen + batch, LIMIT)
        spent += (last - seen) * len(running)
        seen = last
        now = test(values[:seen, running], level)
        block = np.ix_(range(n_times), running, running)
        newly = int((now & ~above[block]).sum())
        above[block] |= now
        batch = (
            batch * 2
            if newly == 0
            else batch // 2
            if newly > race.LARGE_SHARE * now.size
            else batch
        )
        batch = batches.within(batch, seen)
        always = now.all(axis=0)
        for j in np.flatnonzero(always.any(axis=0)):
            gone[running[j]] = running[int(np.argmax(always[:, j]))], seen
        crossing = above.any(axis=0) & above.any(axis=0).T
        left = [i for i in running if i not in gone]
        running = [i for i in left if any(not crossing[i, j] for j in left if j != i)]
        history.append((float(spent), set(range(n)) - set(gone)))
    return [(who, *by) for who, by in gone.items()], history


RULES: dict[str, Callable[[Data, str, float], tuple[Out, History]]] = {
    "empirical": raced,
    "duels": raced,
    "guarantee": raced,
    "dirichlet": raced,
    "ratings": raced,
    "gp": raced,
    "f-race": f_raced,
    "f-race-holm": f_raced,
}


def facts(truth: Truth, out: Out, history: History) -> dict[str, Any]:
    """Whether decisions are true, by any margin and up to the ROPE, and what was spent."""
    n = truth.wins.shape[1]
    better, nearly = truth.better(2 * truth.error), truth.better(ROPE)
    dominated, clearly = truth.better(), truth.better(-ROPE)
    pareto = {i for i in range(n) if not dominated[:, i].any()}

    def right_to_the_rope(left: set[int]) -> bool:
        """Who is out is worse or nearly so; who is left is not clearly worse than another."""
        lost = [i for i in pareto - left if not any(nearly[by, i] for by in left)]
        kept = [i for i in left if any(clearly[by, i] for by in left)]
        return not lost and not kept

    return {
        "eliminated": [
            {
                "instances": after,
                "wrong": not better[by, gone],
                "beyond": not nearly[by, gone],
                "member": gone in pareto,
            }
            for gone, by, after in out
        ],
        "members": len(pareto),
        "kept": len(pareto & history[-1][1]),
        "right": history[-1][1] == pareto,
        "right_to_the_rope": right_to_the_rope(history[-1][1]),
        "spent": history[-1][0],
        "until_right": _since(history, lambda left: left == pareto),
        "until_right_to_the_rope": _since(history, right_to_the_rope),
    }


def _since(history: History, good: Callable[[set[int]], bool]) -> float | None:
    """What was spent when it became right and stayed so."""
    are = [good(left) for _, left in history]
    if not are[-1]:
        return None
    wrong_until = max((k for k, is_good in enumerate(are) if not is_good), default=-1)
    return history[wrong_until + 1][0]


def all_races(
    kind: str, seed: int, wanted: list[tuple[str, str]], populations: Path | None
) -> list[dict[str, Any]]:
    """The races of some rules, at some alphas, on one truth and the same instances."""
    data = Data(truths.drawn(kind, seed, LIMIT, populations), 100_000 * seed)
    rows = []
    for rule, alpha in wanted:
        out, history = RULES[rule](data, rule, float(alpha))
        rows.append(
            {
                "rule": rule,
                "truth": kind,
                "alpha": alpha,
                "seed": seed,
                **facts(data.truth, out, history),
            }
        )
    return rows


def read(path: Path) -> list[dict[str, Any]]:
    """The races that were run; a line cut off by an interruption is left out."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def run_all(
    cells: list[tuple[str, str, str]],
    races: int,
    out: Path,
    processes: int,
    populations: Path | None,
) -> None:
    """Run what is not there yet, seed by seed over all truths: any stop leaves a balance."""
    done = {(row["rule"], row["truth"], row["alpha"], row["seed"]) for row in read(out)}
    todo = []
    for seed, kind in product(range(races), dict.fromkeys(kind for _, kind, _ in cells)):
        wanted = [
            (rule, alpha)
            for rule, of, alpha in cells
            if of == kind and (rule, kind, alpha, seed) not in done
        ]
        if wanted:
            todo.append((kind, seed, wanted, populations))
    with (
        out.open("a") as file,
        ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool,
    ):
        running = [pool.submit(all_races, *task) for task in todo]
        for number, future in enumerate(as_completed(running), start=1):
            file.write("".join(json.dumps(row) + "\n" for row in future.result()))
            file.flush()
            if number % 100 == 0:
                print(f"{number} of {len(todo)} truths", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--races", type=int, default=300)
    parser.add_argument("--cells", nargs="*", default=["*"], help="patterns of rule/truth/alpha")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines, appended to")
    parser.add_argument(
        "--populations", type=Path, help="a folder of stores; none are raced on if not given"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", type=Path, help="a Markdown file for the result")
    args = parser.parse_args()
    kinds = truths.KINDS + (truths.POPULATIONS if args.populations else ())
    cells = [
        cell
        for cell in product(RULES, kinds, ALPHAS)
        if any(fnmatch("/".join(cell), pattern) for pattern in args.cells)
    ]
    run_all(cells, args.races, args.out, args.processes, args.populations)
    rows = [row for row in read(args.out) if row["seed"] < args.races]
    text = race_report.markdown(rows, cells, LIMIT)
    print(text)
    if args.write:
        args.write.write_text(text)
    return race_report.missed(rows)


if __name__ == "__main__":
    sys.exit(main())
