"""The goals for speed in one table: the measured time of each kind of work, and its limit.

    python benchmarks/goals.py --write benchmarks/results/goals.md
    python benchmarks/goals.py dirichlet gp   # some rows only

Each row is measured in a separate process. Wall-clock time is meaningful on two idle cores only, so
CPU seconds of the same work are next to it. `startup.py` has the goals of commands, `overhead.py`
measures the rounds of a race. The script exits with 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

QUICK_START = Path(__file__).parents[1] / "configs" / "quickstart.yaml"


@dataclass(frozen=True)
class Goal:
    """A row: ``measure`` returns the number that is compared with the limit, and CPU seconds."""

    work: str
    limit: float
    unit: str
    measure: Callable[[], tuple[float, float]]


def quick_start() -> tuple[float, float]:
    """Wall and CPU seconds of the quick start when no loop has been compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "quickstart.yaml"
        config.write_text(QUICK_START.read_text())
        command = [sys.executable, "-m", "polarbear", "race", str(config)]
        environment = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/cache"}
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=environment)
        wall = time.perf_counter() - start
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, usage.ru_utime + usage.ru_stime


def inference_of(
    n: int, n_times: int, instances: int, **options: Any
) -> Callable[[], tuple[float, float]]:
    """A measurement of a posterior with its relations at each time: the better of two, warm."""

    def measure() -> tuple[float, float]:
        from inference import grid, positions, timed

        from polarbear.inference import ModelOptions, infer
        from polarbear.inference.relations import pointwise
        from polarbear.rankings.choice_sets import count_choice_sets

        model_options = ModelOptions(**options)
        ranks = positions(n, instances, n_times)
        # Models other than the empirical one would check their fit if they had the positions.
        positions_for_model = ranks if options["model"] == "empirical" else None

        def work() -> None:
            sets = count_choice_sets(ranks)
            posterior = infer(sets, grid(n_times), model_options, 1, positions=positions_for_model)
            if options["model"] == "dirichlet":
                pointwise(posterior)

        timing = timed(work)
        return timing.wall, timing.cpu

    return measure


def evaluation() -> tuple[float, float]:
    """Microseconds for a point, the median over twenty instances of MA-BBOB; and CPU seconds."""
    import numpy as np

    from polarbear.problems.base import Setting
    from polarbear.problems.ma_bbob import MaBbob
    from polarbear.settings.grid import Budget

    setting = Setting(seed=1, budget=Budget.model_validate({"grid": [1]}))
    suite = MaBbob.model_validate({"suite": "ma-bbob", "dimensions": [30]})
    points = np.random.default_rng(1).uniform(-5, 5, (2000, 30))
    microseconds = []
    for index in range(20):
        problem = suite.build(suite.instance(index, setting).spec, setting)
        start = time.process_time()
        for x in points:
            problem.evaluate(x)
        microseconds.append((time.process_time() - start) / len(points) * 1e6)
    return median(microseconds), time.process_time()


GOALS = {
    "quickstart": Goal("quick start, nothing compiled yet", 15, "s", quick_start),
    "empirical": Goal(
        "empirical n 7, T 200, P 1,000, 4,000 draws", 1.4, "s",
        inference_of(7, 200, 1000, model="empirical", draws=4000)),
    "dirichlet": Goal(
        "dirichlet n 7, T 200, P 1,000, 4,000 draws, all pairs", 3, "s",
        inference_of(7, 200, 1000, model="dirichlet", draws=4000)),
    "gp": Goal(
        "gp n 5, P 30, T 60, 8,000 draws", 1.5, "s",
        inference_of(5, 60, 30, model="gp", dependence="independent", draws=8000)),
    "ma-bbob": Goal("MA-BBOB d 30, an evaluation", 15, "us", evaluation),
}  # fmt: skip


def row(name: str) -> str:
    """The row of the table for a goal, which is measured in a separate process."""
    goal = GOALS[name]
    command = [sys.executable, __file__, "--measure", name]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        return f"| {goal.work} | failed: {process.stderr.strip().splitlines()[-1]} | | | no |"
    measured, cpu = json.loads(process.stdout)
    cells = f"{measured:.2f} {goal.unit} | {cpu:.2f} | {goal.limit:g} {goal.unit}"
    return f"| {goal.work} | {cells} | {'yes' if measured <= goal.limit else 'no'} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", help=f"some of {', '.join(GOALS)}; by default all")
    parser.add_argument("--measure", choices=GOALS, help=argparse.SUPPRESS)
    parser.add_argument("--write", type=Path, help="a Markdown file for the table")
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(GOALS[args.measure].measure()))
        return 0
    machine = f"{platform.machine()}, {os.cpu_count()} processors"
    lines = [f"{machine}, load {os.getloadavg()[0]:.1f} when begun.", ""]
    lines += ["| work | takes | CPU s | at most | met |", "|---|---|---|---|---|"]
    print(*lines, sep="\n", flush=True)
    for name in args.rows or GOALS:
        lines.append(row(name))
        print(lines[-1], flush=True)
    if args.write:
        command = "`python benchmarks/goals.py --write benchmarks/results/goals.md`"
        args.write.write_text("\n".join(["# Goals for speed", "", f"{command}, on", *lines, ""]))
    return int(any(line.endswith("| no |") for line in lines))


if __name__ == "__main__":
    sys.exit(main())
