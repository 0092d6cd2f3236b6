"""Whole races on synthetic truths: are eliminations right as often as promised, and what do they
cost?

Truths come from the paper's prior, rankings from each truth with noise that is correlated over time
to a known degree. A race goes through the same rounds as `polarbear race`, but without a store:
only unresolved algorithms are run, inference follows every batch, decisions near alpha get more
draws. Every result is appended to a file of JSON lines; what is there is not done again.

    python benchmarks/race.py --out races.jsonl --races 300 --write benchmarks/results/race.md
    python benchmarks/race.py --out races.jsonl --races 20 --cells 'gp/*/0.99/*' 'f-race/*'
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import log_ndtr

sys.path.insert(0, str(Path(__file__).parent))
import f_race
import race_report
from quick_beliefs import QuickPosterior

from polarbear import racing as race
from polarbear.inference import ModelOptions, infer, relations
from polarbear.inference.dependence import evidence_weight
from polarbear.inference.relations import Joint, Pointwise
from polarbear.racing.rules import Rules
from polarbear.rankings import ChoiceSets, count_choice_sets, rank

ALGORITHMS, TIMES, LIMIT = 5, 20, 200
NAMES = [f"A{i + 1}" for i in range(ALGORITHMS)]
UNIT = np.linspace(0, 1, TIMES)
GRID = np.arange(1, TIMES + 1)  # evaluations, in units of a twentieth of a whole run
DRAWS, MORE = 1000, 4  # draws at first, and how many times as many near alpha
CORRELATIONS = ("0", "0.1", "0.33", "constant")
ALPHAS = ("0.95", "0.99")
KINDS = {"dirichlet": ("-",), "gp": ("clustered", "independent"), "f-race": ("-",)}
KINDS["bspline"] = KINDS["gp"]


@dataclass(frozen=True)
class Cell:
    """One way to race: what decides, how noise is correlated, alpha, how evidence is counted."""

    kind: str
    correlation: str
    alpha: str
    dependence: str

    @property
    def name(self) -> str:
        return f"{self.kind}/{self.correlation}/{self.alpha}/{self.dependence}"


def all_cells() -> list[Cell]:
    return [
        Cell(kind, correlation, alpha, dependence)
        for kind in ("dirichlet", "gp", "bspline", "f-race")
        for correlation, alpha, dependence in product(CORRELATIONS, ALPHAS, KINDS[kind])
    ]


def draw_truth(rng: np.random.Generator) -> np.ndarray:
    """Log-ratings mu[time, algorithm] from the paper's prior: Matern-3/2, its hyperpriors."""
    sigma, lengthscale = rng.lognormal(0, 0.5), 3 / rng.gamma(5)
    scaled = np.sqrt(3) * np.abs(UNIT[:, None] - UNIT) / lengthscale
    factor = np.linalg.cholesky((1 + scaled) * np.exp(-scaled) + 1e-10 * np.eye(TIMES))
    return np.asarray(sigma * factor @ rng.standard_normal((TIMES, ALGORITHMS)))


def draw_values(mu: np.ndarray, correlation: str, rng: np.random.Generator) -> np.ndarray:
    """Values[instance, algorithm, time], smaller is better, whose rankings at each time follow
    Plackett-Luce: Gumbel noise, coupled over time by a Gaussian copula with exponential kernel."""
    normal = rng.standard_normal((LIMIT, ALGORITHMS, TIMES))
    if correlation == "constant":
        kept = 1.0
    else:
        length = float(correlation)
        kept = np.exp(-(UNIT[1] - UNIT[0]) / length) if length > 0 else 0.0
    for t in range(1, TIMES):
        normal[:, :, t] = kept * normal[:, :, t - 1] + np.sqrt(1 - kept**2) * normal[:, :, t]
    return np.asarray(-mu.T + np.log(-log_ndtr(normal)))


def beliefs(
    sets: ChoiceSets, options: ModelOptions, rules: Rules, state: race.State, seed: int
) -> tuple[Pointwise | None, Joint | None]:
    """Relations that have enough draws for the decisions at hand; None if not to be trusted."""
    if options.model == "dirichlet":
        return independent_beliefs(sets, options, rules, state, seed), None
    quick = QuickPosterior(sets, UNIT, options)
    for draws in (DRAWS, MORE * DRAWS):
        found = quick.beliefs(draws, rules.epsilon, seed + draws)
        if found is None:
            break
        if not race.hanging(state, rules, *found).any():
            return found
    if found is not None:
        return found
    weighted_already = options.model_copy(update={"dependence": "independent"})
    posterior = infer(sets, UNIT, weighted_already, seed, threads=1)
    if not posterior.usable:
        return None, None
    joint = relations.joint(posterior) if posterior.joint else None
    return relations.pointwise(posterior, rules.epsilon, threads=1), joint


def independent_beliefs(
    sets: ChoiceSets, options: ModelOptions, rules: Rules, state: race.State, seed: int
) -> Pointwise | None:
    """The same for times that are independent: more draws only at those that ask for them."""
    posterior = infer(sets, UNIT, options.model_copy(update={"draws": DRAWS}), seed, threads=1)
    found = relations.pointwise(posterior, rules.epsilon, threads=1)
    times = np.flatnonzero(race.hanging(state, rules, found))
    if not posterior.usable:
        times = np.arange(TIMES)
    if not len(times):
        return found
    posterior = infer(sets.pick(times), UNIT[times], options, seed + 1, threads=1)
    if not posterior.usable:
        return None
    finer = relations.pointwise(posterior, rules.epsilon, threads=1)
    for name in ("dominance", "dominance_error", "equivalence", "equivalence_error"):
        getattr(found, name)[times] = getattr(finer, name)
    return found


def polarbear_race(cell: Cell, mu: np.ndarray, values: np.ndarray, seed: int) -> dict[str, Any]:
    """One race to its end, or to the limit on instances."""
    temporal = cell.kind != "dirichlet"
    rules = Rules(
        elimination="joint" if temporal else "pointwise",
        resolution="crossing",
        alpha=float(cell.alpha),
        epsilon=0.05,
    )
    options = ModelOptions(
        model=cell.kind,
        draws=MORE * DRAWS,
        lengthscale={"shape": 5, "scale": 2},
        dependence=cell.dependence if temporal else "clustered",
    )
    state = race.start(NAMES, UNIT.tolist(), rules)
    present = np.zeros(values.shape, dtype=bool)
    spent, history, weight = 0, [], 1.0
    while state.open_pairs and state.instances < LIMIT and state.untrusted < race.PATIENCE:
        first, last = state.instances, min(state.instances + state.batch, LIMIT)
        for name, until in race.horizons(state, rules).items():
            steps = int(np.searchsorted(UNIT, until)) + 1
            present[first:last, NAMES.index(name), :steps] = True
            spent += (last - first) * int(GRID[steps - 1])
        positions = rank(values[:last], present[:last])
        sets = count_choice_sets(positions)
        weight = evidence_weight(positions, sets, UNIT, options)
        found = beliefs(sets.weighted(weight), options, rules, state, seed + state.round)
        state, _ = race.step(state, rules, last - first, *found)
        history.append((spent, state.candidates))
    return {
        "eliminated": [(e.algorithm, e.by, e.instances) for e in state.eliminated],
        "candidates": state.candidates,
        "history": history,
        "instances": state.instances,
        "rounds": state.round,
        "resolved": not state.open_pairs,
        "weight": round(weight, 4),
    }


def f_races(cell: Cell, mu: np.ndarray, values: np.ndarray, seed: int) -> dict[str, Any]:
    """The baseline, with the same batches, limit and rule for settled pairs."""
    rules, level = Rules(), 1 - float(cell.alpha)
    running, gone = list(range(ALGORITHMS)), {}
    batch, instances, rounds, spent, history = rules.batch.start, 0, 0, 0, []
    above = np.zeros((TIMES, ALGORITHMS, ALGORITHMS), dtype=bool)
    while len(running) > 1 and instances < LIMIT:
        last = min(instances + batch, LIMIT)
        spent += (last - instances) * len(running) * TIMES
        instances, rounds = last, rounds + 1
        block = np.ix_(range(TIMES), running, running)
        before = above[block].sum()
        above[block] |= f_race.better(values[:instances, running], level)
        newly, size = above[block].sum() - before, above[block].size
        batch = batch * 2 if newly == 0 else batch // 2 if newly > race.MUCH * size else batch
        batch = min(max(batch, rules.batch.min), rules.batch.max)
        now = f_race.better(values[:instances, running], level).all(axis=0)
        for j in np.flatnonzero(now.any(axis=0)):
            gone[running[j]] = (running[int(np.argmax(now[:, j]))], instances)
        crossing = above.any(axis=0) & above.any(axis=0).T
        left = [i for i in running if i not in gone]
        running = [i for i in left if any(not crossing[i, j] for j in left if j != i)]
        history.append((spent, [NAMES[i] for i in range(ALGORITHMS) if i not in gone]))
    return {
        "eliminated": [(NAMES[i], NAMES[by], seen) for i, (by, seen) in gone.items()],
        "candidates": history[-1][1],
        "history": history,
        "instances": instances,
        "rounds": rounds,
        "resolved": len(running) < 2,
        "weight": 1.0,
    }


def one_race(cell: Cell, seed: int) -> dict[str, Any]:
    """The facts of one race: its decisions, whether they are true, what it spent.

    Truth and noise depend on the seed and the correlation alone, so that cells are compared on the
    same races.
    """
    begun = time.process_time()
    mu = draw_truth(np.random.default_rng([seed, 1]))
    values = draw_values(mu, cell.correlation, np.random.default_rng([seed, 2]))
    above = (mu[:, :, None] > mu[:, None, :]).all(axis=0)
    run = f_races if cell.kind == "f-race" else polarbear_race
    found = run(cell, mu, values, 100_000 * seed)
    pareto = [name for i, name in enumerate(NAMES) if not above[:, i].any()]
    history = found.pop("history")
    right = [set(candidates) == set(pareto) for _, candidates in history]
    settled = len(right) - next(
        (k for k, is_right in enumerate(right[::-1]) if not is_right), len(right)
    )
    index = {name: i for i, name in enumerate(NAMES)}
    return {
        "cell": cell.name,
        "seed": seed,
        **found,
        "eliminated": [
            {
                "algorithm": name,
                "by": by,
                "instances": seen,
                "true": bool(above[index[by], index[name]]),
                "was_pareto": name in pareto,
            }
            for name, by, seen in found["eliminated"]
        ],
        "pareto": pareto,
        "spent": history[-1][0] / TIMES,
        "everything": ALGORITHMS * found["instances"],
        "spent_when_right": history[settled][0] / TIMES if settled < len(history) else None,
        "seconds": round(time.process_time() - begun, 3),
    }


def read(path: Path) -> list[dict[str, Any]]:
    """The races that were run; a line cut off by an interruption is left out."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def run_all(cells: list[Cell], races: int, out: Path, processes: int) -> None:
    """Run what is not there yet, race by race over all cells, so that any stop leaves a balance."""
    done = {(row["cell"], row["seed"]) for row in read(out)}
    todo = [
        (cell, seed) for seed in range(races) for cell in cells if (cell.name, seed) not in done
    ]
    with (
        out.open("a") as file,
        ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool,
    ):
        running = [pool.submit(one_race, cell, seed) for cell, seed in todo]
        for number, future in enumerate(as_completed(running), start=1):
            file.write(json.dumps(future.result()) + "\n")
            file.flush()
            if number % 100 == 0:
                print(f"{number} of {len(todo)} races", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--races", type=int, default=300)
    parser.add_argument("--cells", nargs="*", default=["*"], help="patterns of cell names")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines, appended to")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", type=Path, help="a Markdown file for the result")
    args = parser.parse_args()
    cells = [c for c in all_cells() if any(fnmatch(c.name, pattern) for pattern in args.cells)]
    run_all(cells, args.races, args.out, args.processes)
    place = {cell.name: number for number, cell in enumerate(cells)}
    rows = [row for row in read(args.out) if row["cell"] in place and row["seed"] < args.races]
    rows.sort(key=lambda row: (place[row["cell"]], row["seed"]))
    text = race_report.markdown(rows, LIMIT)
    print(text)
    if args.write:
        args.write.write_text(text)
    return race_report.missed(rows)


if __name__ == "__main__":
    sys.exit(main())
