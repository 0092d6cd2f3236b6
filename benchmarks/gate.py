"""How often `polarbear gate` is right, and after how many instances.

Rows of *synthetic* truths: a candidate whose win rate is known at each of 20 times. Noise is
correlated over time (length 0.33 of the grid) or constant; a duel is a win or a loss. Rows of
*real* optimisers: two versions of a random local search on 400 instances of `classic`, of which
each trial draws 100 in a random order. Both are replayed with the gate's looks and decisions, at
the default tolerance and level. Rows called *command* are whole gates on real runs: a candidate
that crashes, and a C program on the axis of seconds.

    python benchmarks/gate.py --write benchmarks/results/gate.md
    python benchmarks/gate.py --trials 20 --rows 'synthetic*'
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
from scipy.special import ndtri

sys.path.insert(0, str(Path(__file__).parent))
import truths

import polarbear as pb
from polarbear.facts.evidence import evidence_of
from polarbear.regression.gate_decision import (
    GateVerdict,
    Level,
    Looks,
    decide,
    instances_for_failures,
    look_sizes,
)
from polarbear.store import StoreOnDisk

TIMES = 20
LIMIT = 100
LEVEL = Level(tolerance=0.05, error=0.05, alarm=0.05, seed=1)
OPTIMISER = """
import numpy as np

def search(problem, seed, shrink=0.98, least=1e-3, crash=0):
    rng = np.random.default_rng(seed)
    width = np.asarray(problem.upper) - np.asarray(problem.lower)
    x = rng.uniform(problem.lower, problem.upper)
    y = problem(x)
    step = 0.3
    if crash and seed % crash == 0:
        raise RuntimeError("the matrix is singular")
    while True:
        moved = x + step * width * rng.standard_normal(len(x))
        trial = np.clip(moved, problem.lower, problem.upper)
        value = problem(trial)
        if value < y:
            x = trial
            y = value
        else:
            step = max(step * shrink, least)
"""
VERSIONS = {
    "same": {},
    "does not shrink": {"shrink": 1.0},
    "shrinks early": {"shrink": 0.9},
    "stops shrinking": {"least": 0.1},
    "slightly slower": {"shrink": 0.985},
}
# Prints the seconds so far and a better value after each block of work.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
int main(int count, char **arguments) {
    long work = atol(arguments[1]);
    double start = now(), best = 1e9 + atol(arguments[2]) % 1000;
    volatile double x = 1.0;
    while (1) {
        for (long k = 0; k < work; k++) x = x * 1.0000001 + 1e-9;
        best *= 0.999;
        printf("%.9f %.12g\n", now() - start, best);
        fflush(stdout);
    }
}
"""
WORK = 400_000  # about a millisecond


@dataclass(frozen=True)
class Trial:
    verdict: GateVerdict
    instances: int
    note: str = ""


@dataclass(frozen=True)
class Row:
    """A kind of change, and the goal for its verdicts."""

    name: str
    goal: str
    trial: Callable[[int], Trial]
    max_trials: int | None = None  # Whole gates take long.


def replayed(scores: np.ndarray, seed: int) -> Trial:
    """The verdict of a gate on code that has changed."""
    sizes = look_sizes(LIMIT)
    level = replace(LEVEL, seed=seed)
    for number, size in enumerate(sizes, start=1):
        problems = tuple(sizes[:number])
        looks = Looks(problems, tuple(n / LIMIT for n in problems))
        may_pass = size >= instances_for_failures(level)
        decision = decide(scores[:size], looks, level, may_pass)
        if decision.verdict is not GateVerdict.UNDECIDED:
            break
    return Trial(decision.verdict, size)


def synthetic(rates: np.ndarray, correlation: str) -> Callable[[int], Trial]:
    def trial(seed: int) -> Trial:
        noise = truths.normal_noise(LIMIT, correlation, np.random.default_rng([seed, 7]), 1, TIMES)
        return replayed((noise[:, 0] < ndtri(rates)).astype(float), seed)

    return trial


def real(values: dict[str, np.ndarray], candidate: str) -> Callable[[int], Trial]:
    baseline = "same, other seed" if candidate == "same" else "same"

    def trial(seed: int) -> Trial:
        new = values[candidate]
        old = values[baseline]
        instances = np.random.default_rng([seed, 8]).permutation(len(new))[:LIMIT]
        scores = 0.5 * (new < old) + 0.5 * (new <= old)
        return replayed(scores[instances], seed)

    return trial


def populations(folder: Path) -> dict[str, np.ndarray]:
    """Values of all versions on 400 instances, with common seeds: [instance, time] each."""
    values: dict[str, np.ndarray] = {}
    for seed, seeds in ((1, "common"), (2, "separate")):
        versions = VERSIONS if seed == 1 else {"same": {}, "same, other seed": {}}
        config = {
            "seeds": seeds,
            "algorithms": [
                {"name": name, "use": "python", "function": f"{folder}/search.py:search"}
                | {"options": options}
                for name, options in versions.items()
            ],
            "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 5}},
            "budget": {"grid": {"from": 20, "to": 400, "points": TIMES}},
        }
        store = StoreOnDisk.open(pb.run(config, folder / seeds, instances=400).path)
        grid = store.on_grid(evidence_of(store).grid.times)
        for index, name in enumerate(grid.algorithms):
            values.setdefault(name, grid.values[:, index])
    return values


def python(folder: Path, **options: float) -> dict[str, object]:
    return {"use": "python", "function": f"{folder}/search.py:search", "options": options}


def command(folder: Path, slowdown: float) -> dict[str, object]:
    return {"use": "command", "command": f"{folder}/program {WORK * slowdown:.0f} {{seed}}"}


def whole_gate(
    folder: Path, baseline: dict[str, object], candidate: dict[str, object], seconds: bool = False
) -> Callable[[int], Trial]:
    """A gate on real runs, each with other instances and seeds."""

    def trial(seed: int) -> Trial:
        config: dict[str, object] = {
            "seed": seed + 1,
            "algorithms": [{"name": "main", **baseline}, {"name": "branch", **candidate}],
            "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 5}},
            "budget": {"grid": {"from": 20, "to": 200, "points": TIMES}},
        }
        if seconds:
            names = [f"instance {k}" for k in range(LIMIT)]
            config["instances"] = {"suite": "files", "names": names}
            config["budget"] = {"axis": "seconds", "grid": {"from": 0.05, "to": 0.2, "points": 6}}
        trial_folder = tempfile.mkdtemp(dir=folder)
        result = pb.gate(config, baseline="main", candidate="branch", store=f"{trial_folder}/store")
        (pair,) = result.pairs
        note = pair.failed[0].instance if pair.failed else ""
        if pair.slowdown is not None:
            note = f"{pair.slowdown.ratio:.2f} times, {pair.slowdown.detectable:.0%} detectable"
        return Trial(result.verdict, pair.instances, note)

    return trial


def synthetic_rows() -> list[Row]:
    """Changes by which the candidate has a known win rate at each time."""
    late = np.where(np.arange(TIMES) < TIMES // 2, 0.5, 0.3)
    window = np.full(TIMES, 0.5)
    window[9:11] = 0.3
    edge_window = np.where(window == 0.3, 0.45, 0.9)
    kinds = {
        "even": (np.full(TIMES, 0.5), "worse at most 5 %"),
        "win rate 0.45": (np.full(TIMES, 0.45), "worse at most 5 %"),
        "win rate 0.45 in a window, 0.9 elsewhere": (edge_window, "worse at most 5 %"),
        "win rate 0.7": (np.full(TIMES, 0.7), "better at least 95 %, never worse"),
        "win rate 0.35": (np.full(TIMES, 0.35), "worse at least 95 %, median at most 40"),
        "late, win rate 0.3": (late, "worse at least 90 %"),
        "early, win rate 0.3": (late[::-1], "worse at least 90 %"),
        "window of 10 %, win rate 0.3": (window, "worse at least 90 %"),
    }
    return [
        Row(f"synthetic: {name}, noise {noise}", goal, synthetic(rates, noise))
        for name, (rates, goal) in kinds.items()
        for noise in ("0.33", "constant")
    ]


def real_rows(folder: Path) -> list[Row]:
    """Changes of a real optimiser, whose runs are made for the first trial."""
    values: dict[str, np.ndarray] = {}

    def on_real(candidate: str) -> Callable[[int], Trial]:
        def trial(seed: int) -> Trial:
            if not values:
                values.update(populations(folder))
            return real(values, candidate)(seed)

        return trial

    return [
        Row("real: same code, other seeds", "worse at most 5 %", on_real("same")),
        Row("real: the step does not shrink", "worse", on_real("does not shrink")),
        Row("real: the step stops shrinking", "worse", on_real("stops shrinking")),
        Row("real: the step shrinks fast", "", on_real("shrinks early")),
        Row("real: the step shrinks slightly slower", "", on_real("slightly slower")),
    ]


def command_rows(folder: Path) -> list[Row]:
    """Whole gates: a candidate that crashes, and a C program that is slower."""
    same = python(folder)
    crashing = python(folder, crash=20)
    rows = [
        Row(
            "command: same code, common seeds",
            "identical after 8",
            whole_gate(folder, same, same),
            10,
        ),
        Row(
            "command: crashes on 5 %",
            "worse, instances named",
            whole_gate(folder, same, crashing),
            20,
        ),
    ]
    for slowdown, goal in (
        (48, "worse"),
        (1.3, "worse"),
        (1.1, "says if detectable"),
        (1, "no alarm"),
    ):
        trial = whole_gate(folder, command(folder, 1), command(folder, slowdown), seconds=True)
        rows.append(Row(f"command: C program, {slowdown} times as slow", goal, trial, 10))
    return rows


def line(row: Row, trials: list[Trial]) -> str:
    """The row of the table: how often each verdict was given, and after how many instances."""
    counts = [sum(trial.verdict is verdict for trial in trials) for verdict in GateVerdict]
    cells = [f"{count}" if count else "" for count in counts]
    n_instances = [trial.instances for trial in trials]
    notes = "; ".join(dict.fromkeys(trial.note for trial in trials[:3] if trial.note))
    numbers = f"{len(trials)} | {' | '.join(cells)} | {np.median(n_instances):.0f}"
    return f"| {row.name} | {row.goal} | {numbers} | {notes} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--rows", nargs="*", default=["*"], help="patterns of rows")
    parser.add_argument("--write", type=Path, help="a Markdown file for the result")
    args = parser.parse_args()
    titles = [
        "change",
        "goal",
        "trials",
        *(verdict.value for verdict in GateVerdict),
        "median instances",
        "notes",
    ]
    table = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "search.py").write_text(OPTIMISER)
        (folder / "program.c").write_text(PROGRAM)
        compiled = ["cc", "-O1", "-o", f"{folder}/program", f"{folder}/program.c"]
        subprocess.run(compiled, check=True)
        for row in [*synthetic_rows(), *real_rows(folder), *command_rows(folder)]:
            if any(fnmatch(row.name, pattern) for pattern in args.rows):
                count = min(args.trials, row.max_trials or args.trials)
                table.append(line(row, [row.trial(seed) for seed in range(count)]))
                print(table[-1], flush=True)
    text = "\n".join(["# Gates on known changes", "", TEXT, "", *table, ""])
    if args.write:
        args.write.write_text(text)
    return 0


TEXT = (
    "`python benchmarks/gate.py` describes the rows. Tolerance 0.05, level 0.95, at most "
    f"{LIMIT} instances; rows called *command* are whole gates, the others are replayed."
)

if __name__ == "__main__":
    sys.exit(main())
