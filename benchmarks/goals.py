"""The goals for speed, in one table: what each kind of work took, takes now, and should take.

    python benchmarks/goals.py --write benchmarks/results/goals.md
    python benchmarks/goals.py round dirichlet   # some rows only
    python benchmarks/goals.py --before ../before  # as ratios to the old version (before.py)
    python benchmarks/goals.py --before ../before --pythons OLD NEW quickstart  # each in its own
        # environment, which has nothing but what its installation brings

'Before' is what was measured when the goals were set, on two cores of another machine; with
--before the old version does the same work here, in the same run, and the goal is the share of its
time that was asked for. Each row is measured in a
process of its own, warm unless it says otherwise: CPU seconds are those of all its processes, wall
clock only means something on a machine that is idle. Commands find Python's bytecode compiled, as
an installation has it: PYTHONDONTWRITEBYTECODE, where it is set, is unset for them. Exits with 1
when a goal is missed.
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
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent
QUICK_START = HERE.parent / "configs" / "quickstart.yaml"
POLARBEAR = [sys.executable, "-m", "polarbear"]
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@dataclass(frozen=True)
class Goal:
    """A row: numbers measured, in the order of their limits; what is beyond them is for the reader
    of a busy machine, and CPU seconds."""

    work: str
    before: str
    goal: str
    limits: tuple[float, ...]
    unit: str
    measure: Callable[[], list[float]]
    then: tuple[float, ...] = ()  # what it took before, as numbers, where the old version can do it


class Spent:
    """CPU and wall seconds of a command."""

    def __init__(self, command: list[str], **more: Any) -> None:
        wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, **more)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.wall = time.perf_counter() - wall
        self.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cpu_of(*arguments: str) -> float:
    """CPU seconds of a command of PolarBear, the better of two after a first."""
    return min(Spent([*POLARBEAR, *arguments]).cpu for _ in range(3))


def raced(folder: str) -> tuple[str, str]:
    """The quick start's configuration and store, raced."""
    config, store = Path(folder) / "quickstart.yaml", Path(folder) / "store"
    config.write_text(QUICK_START.read_text())
    Spent([*POLARBEAR, "race", str(config), "--store", str(store)])
    return str(config), str(store)


def commands() -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        config, store = raced(folder)
        again = cpu_of("race", config, "--store", store)
        chosen = cpu_of("select", store, "--preference", "at 1000")
        return [again, chosen, cpu_of("status", store), cpu_of("infer", store)]


def quick_start() -> list[float]:
    """With no loop compiled before; bytecode is, as pip does it when it installs."""
    Spent([sys.executable, "-m", "compileall", "-q", str(HERE.parent / "polarbear")])
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "quickstart.yaml"
        config.write_text(QUICK_START.read_text())
        cache = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/cache"}
        spent = Spent([*POLARBEAR, "race", str(config)], env=cache)
        return [spent.cpu, spent.wall]


def page() -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        _, store = raced(folder)
        return [cpu_of("report", store, "--force", "--html", f"{folder}/page.html")]


def rounds_of(model: str) -> list[float]:
    from overhead import seconds_a_round, strict_race

    seconds = seconds_a_round(strict_race(model))[1:]
    return [float(seconds.mean()), float(seconds.max())]


def inferred(n: int, n_times: int, instances: int, **options: Any) -> Callable[[], list[float]]:
    """Wall seconds of a posterior, the better of two after a first, peak memory in GB, and CPU
    seconds."""

    def measure() -> list[float]:
        import numpy as np
        from inference import grid, positions

        from polarbear.inference import ModelOptions, infer
        from polarbear.inference.relations import pointwise
        from polarbear.rankings import count_choice_sets

        chosen = ModelOptions(**{**options, "draws": options.get("draws", 4000)})
        places = positions(n, instances, n_times)
        taken = []
        for _ in range(3):
            begun, cpu = time.perf_counter(), time.process_time()
            posterior = infer(count_choice_sets(places), grid(n_times), chosen, 1)
            if options["model"] == "dirichlet":
                pointwise(posterior)
            taken.append((time.perf_counter() - begun, time.process_time() - cpu))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        wall, cpu = np.min(taken, axis=0).tolist()
        return [wall, peak, cpu]

    return measure


def evaluation() -> list[float]:
    """Microseconds for a point of MA-BBOB."""
    from polarbear.problems.base import Setting
    from polarbear.problems.ma_bbob import MaBbob
    from polarbear.settings.grid import Budget

    setting = Setting(seed=1, budget=Budget.model_validate({"grid": [1]}))
    return [microseconds(MaBbob, setting)]


def microseconds(ma_bbob: Any, setting: Any) -> float:
    """What a point takes in the middle one of twenty instances in 30 dimensions."""
    import numpy as np

    suite = ma_bbob.model_validate({"suite": "ma-bbob", "dimensions": [30]})
    points = np.random.default_rng(1).uniform(-5, 5, (2000, 30))
    taken = []
    for index in range(20):
        problem = suite.build(suite.instance(index, setting).spec, setting)
        for x in points:
            problem.evaluate(x)
        begun = time.process_time()
        for x in points:
            problem.evaluate(x)
        taken.append((time.process_time() - begun) / len(points) * 1e6)
    return median(taken)


def adaptations() -> list[float]:
    """CPU seconds of the slowest and the fastest of modcma's ways to adapt its step."""
    from execution import EVALUATIONS, configured, seconds

    from polarbear.algorithms.modcma import STEP_SIZES
    from polarbear.execution.recorder import Recorder

    taken = []
    for way in STEP_SIZES:
        config = configured({"suite": "ma-bbob"}, EVALUATIONS, way)
        setting = config.setting
        problem = config.instances.build(config.instances.instance(0, setting).spec, setting)
        for _ in range(2):
            recorder = Recorder(problem, "evaluations", EVALUATIONS)
            spent = seconds(config, setting, problem, recorder.evaluate)
        taken.append(spent)
    return [max(taken), min(taken)]


GOALS = {
    "commands": Goal(
        "finished race again / select / status / infer", "4.4 / 2.2 / 2.6 / 3.3 CPU s",
        "0.9 / 0.6 / 0.5 / 1.0", (0.9, 0.6, 0.5, 1.0), "CPU s", commands, (4.4, 2.2, 2.6, 3.3)),
    "quickstart": Goal(
        "quick start, nothing compiled yet: CPU, wall", "41 CPU s, 22 s", "any, 15 s",
        (float("inf"), 15), "s", quick_start, (41, 22)),
    "round": Goal(
        "race overhead a round, empirical, n 7, T 200, 100 rounds: mean, worst",
        "1.92 s, 4.1 s", "0.6 s, 1.2 s", (0.6, 1.2), "s",
        lambda: rounds_of("empirical"), (1.92, 4.1)),
    "round-dirichlet": Goal(
        "the same, dirichlet", "1.92 s, 4.1 s", "0.6 s, 1.2 s", (0.6, 1.2), "s",
        lambda: rounds_of("dirichlet"), (1.92, 4.1)),
    "dirichlet": Goal(
        "dirichlet n 7, T 200, P 1,000, all pairs", "0.88 s", "3 s", (3.0,), "s",
        lambda: inferred(7, 200, 1000, model="dirichlet")()[::2], (0.88,)),
    "gp": Goal(
        "gp n 5, P 30, T 60, 8,000 draws", "0.91 s", "1.5 s", (1.5,), "s",
        lambda: inferred(5, 60, 30, model="gp", dependence="independent", draws=8000)()[::2],
        (0.91,)),
    "ma-bbob": Goal(
        "MA-BBOB d 30, an evaluation", "34 us", "15 us", (15,), "us", evaluation, (34,)),
    "modcma": Goal(
        "modcma run, d 30, 60,000 evaluations: slowest, fastest adaptation", "4.2, 2.6 s", "1.2 s",
        (1.2, 1.2), "CPU s", adaptations),
    "page": Goal("report of the quick start, page only", "5.7 CPU s", "2.5 CPU s", (2.5,), "CPU s",
        page, (5.7,)),
}  # fmt: skip


def measured(command: list[str], **more: Any) -> list[float] | str:
    """What a process measured, or why it could not."""
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        return f"failed: {done.stderr.strip().splitlines()[-1]}"
    numbers: list[float] = json.loads(done.stdout)
    return numbers


def row(name: str) -> str:
    goal = GOALS[name]
    found = measured([sys.executable, __file__, "--measure", name])
    if isinstance(found, str):
        return f"| {goal.work} | {goal.before} | {found} | {goal.goal} | no |"
    met = all(value <= limit for value, limit in zip(found, goal.limits, strict=False))
    judged, more = found[: len(goal.limits)], found[len(goal.limits) :]
    verdict = "yes" if met else "no"
    cpu = f" ({slashed(more)} CPU s)" if more else ""
    now = f"{slashed(judged)} {goal.unit}{cpu}"
    return f"| {goal.work} | {goal.before} | {now} | {goal.goal} | {verdict} |"


def ratios(name: str, tree: Path, pythons: list[str]) -> str:
    """A row of what it takes as a share of what the old version does, on this machine."""
    goal = GOALS[name]
    old = {**os.environ, "PYTHONPATH": str(tree)}
    # from its own folder: `python -m` looks there first, and would find this version in ours
    before = measured([pythons[0], str(HERE / "before.py"), str(tree), name], env=old, cwd=tree)
    now = measured([pythons[1], __file__, "--measure", name])
    if isinstance(before, str) or isinstance(now, str):
        why = before if isinstance(before, str) else now
        return f"| {goal.work} | {why} | | | | no |"
    shares = [new / was for new, was in zip(now, before, strict=False)]
    asked = [limit / was for limit, was in zip(goal.limits, goal.then, strict=True)]
    met = all(share <= limit for share, limit in zip(shares, asked, strict=False))
    cells = (f"{slashed(before)} {goal.unit}", slashed(now[: len(before)]), slashed(shares))
    return f"| {goal.work} | {' | '.join(cells)} | {slashed(asked)} | {'yes' if met else 'no'} |"


def slashed(numbers: Iterable[float]) -> str:
    return " / ".join(f"{number:.2f}" for number in numbers)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", help=f"of {', '.join(GOALS)}; all if none is named")
    parser.add_argument("--measure", choices=GOALS, help=argparse.SUPPRESS)
    parser.add_argument("--before", type=Path, help="the old version's tree, to do the same work")
    parser.add_argument(
        "--pythons", nargs=2, default=[sys.executable] * 2, metavar=("OLD", "NEW"),
        help="interpreters, with --before",
    )  # fmt: skip
    parser.add_argument("--write", type=Path, help="a Markdown file for the table")
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(GOALS[args.measure].measure()))
        return 0
    columns = ["work", "before", "now", "goal", "met"]
    if args.before:
        columns = ["work", "before, here", "now", "share", "share asked for", "met"]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    machine = f"{platform.machine()}, {os.cpu_count()} processors"
    where = f"{machine}, load {os.getloadavg()[0]:.1f} when begun."
    print(where, *lines, sep="\n", flush=True)
    for name in args.rows or (GOALS if not args.before else [n for n in GOALS if GOALS[n].then]):
        if args.before:
            lines.append(ratios(name, args.before.resolve(), args.pythons))
        else:
            lines.append(row(name))
        print(lines[-1], flush=True)
    if args.write:
        how = "`python benchmarks/goals.py --write benchmarks/results/goals.md`"
        text = "\n".join(["# Goals for speed", "", f"{how}: {where}", "", *lines, ""])
        args.write.write_text(text)
    return int(any(line.endswith("| no |") for line in lines))


if __name__ == "__main__":
    sys.exit(main())
