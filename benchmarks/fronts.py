"""The costs of several objectives: recording archives, and duels of fronts.

    python benchmarks/fronts.py

Recording: the points of a run of pymoo's NSGA-II on ZDT1 (two objectives) or DTLZ2 (three) go
through the recorder and its journal; the time is a share of the processor time that pymoo itself
took for the same run. Duels: five algorithms whose archives are drawn, on 30 instances at 20 times,
in the looks of a race at 8, 16, 24 and 30 instances, each with its rankings and its posterior. It
needs pymoo, and exits with 1 when a target is missed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem as PymooProblem
from pymoo.problems import get_problem
from targets import Row, report

from polarbear.execution.front_recorder import FrontRecorder
from polarbear.execution.journal import Journal
from polarbear.facts.evidence import ranked
from polarbear.inference import ModelOptions
from polarbear.problems import Problem
from polarbear.rankings import GridValues, Improvements
from polarbear.rankings.archives import entered, fronts_at
from polarbear.rankings.front_duels import DuelRule, DuelSettings

EVALUATIONS = 100_000
POPULATION = 100
MAX_SHARE = 0.1
MAX_SECONDS = 5.0
N_ALGORITHMS = 5
N_POINTS = 2000  # of a run whose duels are measured
LOOKS = (8, 16, 24, 30)
TIMES = np.geomspace(20, N_POINTS, 20)


def run_of_pymoo(problem: PymooProblem) -> tuple[float, np.ndarray]:
    """The seconds of a run of NSGA-II, and the values of all its points in their order."""
    algorithm = NSGA2(pop_size=POPULATION)
    algorithm.setup(problem, termination=("n_eval", EVALUATIONS), seed=1)
    values = []
    start = process_time()
    while algorithm.has_next():
        population = algorithm.ask()
        algorithm.evaluator.eval(problem, population)
        algorithm.tell(infills=population)
        values.append(population.get("F"))
    return process_time() - start, np.concatenate(values)[:EVALUATIONS]


def measure_recording(name: str, **options: int) -> Row:
    problem = get_problem(name, **options)
    pymoo_seconds, values = run_of_pymoo(problem)
    points = [tuple(point) for point in values.tolist()]
    n_objectives = values.shape[1]
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "journal")
        recorder = FrontRecorder(
            Problem(points.__getitem__),
            "evaluations",
            len(points),
            n_objectives,
            journal=journal.add,
        )
        start = process_time()
        for number in range(len(points)):
            recorder.evaluate(number)
        seconds = process_time() - start
        journal.close()
    share = seconds / pymoo_seconds
    return Row(
        f"recording {len(points):,} points, {n_objectives} objectives, {len(recorder.times):,} in "
        "the archive",
        f"{share:.1%} of pymoo's {pymoo_seconds:.1f} s",
        f"at most {MAX_SHARE:.0%}",
        share <= MAX_SHARE,
    )


def drawn_grid(n_instances: int) -> GridValues:
    """Archives of runs whose points come nearer and nearer to a curved front."""
    rng = np.random.default_rng(1)
    shape = (n_instances, N_ALGORITHMS, len(TIMES))
    fronts = np.empty(shape, dtype=object)
    times = np.arange(1.0, N_POINTS + 1)
    for instance in range(n_instances):
        for algorithm in range(N_ALGORITHMS):
            angle = rng.random(N_POINTS) * np.pi / 2
            speed = 100 * (1 + 0.1 * algorithm)
            radius = 1 + rng.random(N_POINTS) / (1 + times / speed)
            points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
            fronts[instance, algorithm] = fronts_at(entered(Improvements(times, points), 2), TIMES)
    names = tuple(f"algorithm {k}" for k in range(N_ALGORITHMS))
    instances = tuple(f"instance {k}" for k in range(n_instances))
    return GridValues(instances, names, TIMES, np.zeros(shape), None, fronts)


def measure_race(grid: GridValues, rule: DuelRule) -> Row:
    start = process_time()
    for n_instances in LOOKS:
        evidence = ranked(
            grid.pick(grid.instances[:n_instances], grid.algorithms),
            np.linspace(0, 1, len(TIMES)),
            duels=DuelSettings(rule),
        )
        evidence.posterior(ModelOptions(), seed=1)
    seconds = process_time() - start
    n_points = round(float(np.mean([len(front) for front in grid.fronts[:, :, -1].ravel()])))
    return Row(
        f"duels and inference by {rule}, fronts of about {n_points} points at the end",
        f"{seconds:.2f} s",
        f"at most {MAX_SECONDS:g} s",
        seconds <= MAX_SECONDS,
    )


def main() -> int:
    rows = [
        measure_recording("zdt1"),
        measure_recording("dtlz2", n_obj=3, n_var=12),
    ]
    grid = drawn_grid(LOOKS[-1])
    rows += [measure_race(grid, rule) for rule in DuelRule]
    return report(rows)


if __name__ == "__main__":
    sys.exit(main())
