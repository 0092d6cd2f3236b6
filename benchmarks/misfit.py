"""Whole races on truths that Plackett-Luce does not know: how often is somebody put out wrongly,
and what does it cost?

Truths are those of `truths.py`. A race goes through the same rounds as `polarbear race`, without a
store. An elimination is wrong if whoever put it out does not win more than half of all duels at
every time, in truth, beyond the two standard errors to which that is known. Rules:

- ``empirical``: the model of that name, pointwise elimination;
- ``dirichlet``: Plackett-Luce, heeding duels as the tool does; ``ratings``: not heeding them;
- ``guarantee``: the empirical model with `guarantee: anytime`;
- ``f-race``: Friedman's test and Conover's one-sided comparisons at every time, not corrected over
  times: to be worse at every time needs no correction.

    python benchmarks/misfit.py --races 300 --write benchmarks/results/misfit.md
    python benchmarks/misfit.py --races 40 --cells 'empirical/clones/*'
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

sys.path.insert(0, str(Path(__file__).parent))
import f_race
import race_report
import truths

from polarbear import racing as race
from polarbear.inference import ModelOptions, infer, relations
from polarbear.racing.guarantee import record_of_duels
from polarbear.racing.rules import Rules
from polarbear.rankings import count_choice_sets, rank

LIMIT = 200
NAMES = [f"A{i + 1}" for i in range(truths.ALGORITHMS)]
RULES = ("empirical", "dirichlet", "ratings", "guarantee", "f-race")
ALPHAS = ("0.95", "0.99")
ROPE = 0.05
DRAWS = 2000


@dataclass(frozen=True)
class Raced:
    """One race: eliminations and how many are wrong, by any margin and by more than the ROPE; true
    members lost; whether the final set is right, and what was spent until it was, in whole runs."""

    eliminations: int
    wrong: int
    wrong_beyond_rope: int
    members: int
    lost: int
    right: bool
    spent: float
    until_right: float | None


Out = list[tuple[int, int]]  # who is out, by whom
History = list[tuple[float, set[int]]]  # what was spent, and who was left


def one_race(cell: str, seed: int) -> Raced:
    rule, kind, correlation, alpha = cell.split("/")
    truth = truths.drawn(kind, correlation, seed, LIMIT)
    if rule == "f-race":
        out, history = _f_race(truth.values, float(alpha))
    else:
        out, history = _race(truth.values, rule, float(alpha), 100_000 * seed)
    # near-clones are even to within what the truth itself is known to
    better, nearly = truth.better(2 * truth.error), truth.better(ROPE)
    pareto = {i for i in range(len(NAMES)) if not truth.better()[:, i].any()}
    right = [left == pareto for _, left in history]
    since = len(right) - next((k for k, good in enumerate(right[::-1]) if not good), len(right))
    return Raced(
        eliminations=len(out),
        wrong=sum(not better[by, gone] for gone, by in out),
        wrong_beyond_rope=sum(not nearly[by, gone] for gone, by in out),
        members=len(pareto),
        lost=len(pareto - history[-1][1]),
        right=right[-1],
        spent=history[-1][0],
        until_right=history[since][0] if since < len(right) else None,
    )


def _race(values: np.ndarray, rule: str, alpha: float, seed: int) -> tuple[Out, History]:
    rules = Rules(alpha=alpha, guarantee="anytime" if rule == "guarantee" else "none")
    model = "dirichlet" if rule in ("dirichlet", "ratings") else "empirical"
    options = ModelOptions(model=model, draws=DRAWS)
    state = race.start(NAMES, truths.UNIT.tolist(), rules)
    present = np.zeros(values.shape, dtype=bool)
    spent, history = 0, []
    while state.open_pairs and state.instances < LIMIT and state.untrusted < race.PATIENCE:
        first, last = state.instances, min(state.instances + state.batch, LIMIT)
        for name, until in race.horizons(state, rules).items():
            steps = int(np.searchsorted(truths.UNIT, until)) + 1
            present[first:last, NAMES.index(name), :steps] = True
            spent += (last - first) * steps
        positions = rank(values[:last], present[:last])
        posterior = infer(
            count_choice_sets(positions),
            truths.UNIT,
            options,
            seed + state.round,
            threads=1,
            positions=positions if model == "empirical" else None,
        )
        found = relations.pointwise(posterior, rules.epsilon, threads=1)
        duels = record_of_duels(positions) if rule in ("dirichlet", "guarantee") else None
        usable = found if posterior.usable else None
        state, _ = race.step(state, rules, last - first, usable, None, duels)
        left = {NAMES.index(name) for name in state.candidates}
        history.append((spent / truths.TIMES, left))
    out = [(NAMES.index(e.algorithm), NAMES.index(e.by)) for e in state.eliminated]
    return out, history


def _f_race(values: np.ndarray, alpha: float) -> tuple[Out, History]:
    """With the race's batches, and its rule for pairs that cross."""
    batches = Rules().batch
    running = list(range(len(NAMES)))
    gone: dict[int, int] = {}
    batch, seen, spent, history = batches.start, 0, 0, []
    above = np.zeros((truths.TIMES, len(NAMES), len(NAMES)), dtype=bool)
    while len(running) > 1 and seen < LIMIT:
        last = min(seen + batch, LIMIT)
        spent += (last - seen) * len(running)
        seen = last
        now = np.stack([_better(values[:seen, running, t], 1 - alpha) for t in range(truths.TIMES)])
        block = np.ix_(range(truths.TIMES), running, running)
        newly = int((now & ~above[block]).sum())
        above[block] |= now
        batch = batch * 2 if newly == 0 else batch // 2 if newly > race.MUCH * now.size else batch
        batch = min(max(batch, batches.min), batches.max)
        always = now.all(axis=0)
        for j in np.flatnonzero(always.any(axis=0)):
            gone[running[j]] = running[int(np.argmax(always[:, j]))]
        crossing = above.any(axis=0) & above.any(axis=0).T
        left = [i for i in running if i not in gone]
        running = [i for i in left if any(not crossing[i, j] for j in left if j != i)]
        history.append((float(spent), set(range(len(NAMES))) - set(gone)))
    return list(gone.items()), history


def _better(values: np.ndarray, level: float) -> np.ndarray:
    """Conover's comparisons where Friedman's test rejects, one-sided: bool[a, b]."""
    p, comparisons = f_race.friedman(rankdata(values, axis=1))
    return np.asarray((comparisons / 2 <= level) & (comparisons < 1) & (p <= level))


def markdown(cells: Iterable[tuple[str, list[Raced]]], races: int) -> str:
    lines = [
        "# Races on truths that Plackett-Luce does not know",
        "",
        f"{races} races a cell; 5 algorithms, 20 times, at most {LIMIT} instances, crossing "
        "resolution, epsilon 0.05. A cell is named by the rule, the truth, the noise's correlation "
        "length over time and alpha; `benchmarks/misfit.py` says what they are. 95 % confidence "
        "intervals in brackets. Until right: whole runs spent until the set was the true one and "
        "stayed so, over the races of a cell in which that came about.",
        "",
        "| cell | wrong eliminations | by more than the ROPE | races with a wrong one | true "
        "members lost | final set right | spent | until right |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, found in cells:
        out = sum(one.eliminations for one in found)
        until = [one.until_right for one in found if one.until_right is not None and one.right]
        lines.append(
            f"| {name} | {race_report.rate(sum(one.wrong for one in found), out)} | "
            f"{sum(one.wrong_beyond_rope for one in found)} | "
            f"{sum(one.wrong > 0 for one in found)} | "
            f"{sum(one.lost for one in found)}/{sum(one.members for one in found)} | "
            f"{np.mean([one.right for one in found]):.0%} | "
            f"{np.mean([one.spent for one in found]):.0f} | "
            f"{f'{np.mean(until):.0f} ({len(until)})' if until else ''} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--races", type=int, default=300)
    parser.add_argument("--cells", nargs="*", default=["*"], help="patterns of cell names")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", type=Path, help="a Markdown file for the result")
    args = parser.parse_args()
    names = ["/".join(c) for c in product(RULES, truths.KINDS, truths.CORRELATIONS, ALPHAS)]
    wanted = [name for name in names if any(fnmatch(name, pattern) for pattern in args.cells)]
    done = []
    with ProcessPoolExecutor(args.processes, mp_context=get_context("spawn")) as pool:
        for name in wanted:
            found = list(pool.map(one_race, [name] * args.races, range(args.races)))
            done.append((name, found))
            print(markdown(done[-1:], args.races).splitlines()[-1], file=sys.stderr, flush=True)
    text = markdown(done, args.races)
    print(text)
    if args.write:
        args.write.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
