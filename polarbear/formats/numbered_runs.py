"""Runs on numbered functions and instances, as IOHprofiler and COCO read and write them.

A data file has the points of many runs, with a header line before each.
"""

import posixpath
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from polarbear.classical.common_runs import known_optima
from polarbear.errors import ExportFailedError, ImportFailedError
from polarbear.execution.outcome import STOPPED
from polarbear.formats import base
from polarbear.numerics.arrays import Floats
from polarbear.numerics.decimal_numbers import decimal_number
from polarbear.problems.specs import DIMENSION, FUNCTION, NUMBER, OPTIMUM
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import StoreOnDisk
from polarbear.store.store import NO_VALUES
from polarbear.wording import counted, noun

Block = list[tuple[float, float]]  # the points (t, y) of a run
MAX_DIGITS = 9  # longer texts are not read as numbers of functions or instances
# The value that exports write at evaluation 1, which readers need, if nothing was found by then.
# It is not infinity because cocopp does not terminate on that.
NOTHING_FOUND = sys.float_info.max
STOPPED_ON_PURPOSE = (
    "were stopped before the last time of the grid, which the format cannot say: readers let them "
    "keep their best value (csv, parquet and the store say it)"
)
# The names of BBOB's functions 1 to 24 in IOHexperimenter.
BBOB_NAMES = (
    *("Sphere", "Ellipsoid", "Rastrigin", "BuecheRastrigin", "LinearSlope", "AttractiveSector"),
    *("StepEllipsoid", "Rosenbrock", "RosenbrockRotated", "EllipsoidRotated", "Discus"),
    *("BentCigar", "SharpRidge", "DifferentPowers", "RastriginRotated", "Weierstrass"),
    *("Schaffers10", "Schaffers1000", "GriewankRosenbrock", "Schwefel", "Gallagher101"),
    *("Gallagher21", "Katsuura", "LunacekBiRastrigin"),
)


def add_run(
    runs: base.RunCollection,
    algorithm: str,
    numbers: tuple[str, str, str],
    points: Block,
    has_optimum_zero: bool,
) -> None:
    """Add a run to an import; ``numbers`` are function, dimension and instance."""
    facts: dict[str, int | float | str] = {}
    for key, text in zip((FUNCTION, DIMENSION, NUMBER), numbers, strict=True):
        is_number = text.isdecimal() and len(text) <= MAX_DIGITS
        facts[key] = int(text) if is_number else text
    problem = f"f{facts[FUNCTION]}-d{facts[DIMENSION]}-i{facts[NUMBER]}"
    if has_optimum_zero:
        facts[OPTIMUM] = 0.0
    runs.add(algorithm, problem, points, facts)


def read_blocks(
    path: Path, header: str, columns: tuple[int, int], runs: int, collection: base.RunCollection
) -> list[Block]:
    """The points of each run in a data file, for which the description announces ``runs`` runs.

    A header line begins with ``header``; ``columns`` are those of the evaluations and values. A
    file is read once, since a description may name it any number of times.
    """
    if path in collection.files_read:
        raise ImportFailedError(f"{collection.source} describes the data file {path} twice")
    collection.files_read.add(path)
    rejected = collection.rejected
    blocks: list[Block] = []
    invalid: list[int] = []
    for number, line in enumerate(base.read_lines(path), 1):
        if line.startswith(header):
            blocks.append([])
        elif line:
            point = _point(line.split(), columns)
            if point is None or not blocks:
                invalid.append(number)
            elif abs(point[1]) != NOTHING_FOUND:
                blocks[-1].append(point)
    if invalid:
        reason = "the row is not a number of evaluations and a value"
        rejected.append(base.Rejection(len(invalid), reason, f"{path}, line {invalid[0]}"))
    if len(blocks) != runs:
        described = f"{runs} {noun(runs, 'run is', 'runs are')} described"
        reason = f"{described} but {len(blocks)} {noun(len(blocks), 'is', 'are')} there"
        rejected.append(base.Rejection(abs(runs - len(blocks)), reason, str(path)))
    return blocks


def _point(words: list[str], columns: tuple[int, int]) -> tuple[float, float] | None:
    column_of_t, column_of_y = columns
    try:
        t = decimal_number(words[column_of_t])
        y = decimal_number(words[column_of_y])
    except (ValueError, IndexError):
        return None
    return (t, y) if isfinite(t) and t >= 0 and isfinite(y) else None


def data_file(description: Path, name: str) -> Path:
    """The data file that a description names, which has to be in its folder or below it."""
    inside = PurePosixPath(posixpath.normpath(name.replace("\\", "/")))
    if inside.is_absolute() or ".." in inside.parts:
        raise ImportFailedError(
            f"{description} names '{name}', which is not in its folder; only files there are read"
        )
    return description.parent / inside


@dataclass(frozen=True)
class NumberedRun:
    """A run to export; its dimension is 0 where it is unknown.

    Values are distances if ``NumberedRuns.are_distances``.
    """

    algorithm: str
    function: int
    name: str  # the function's name
    dimension: int
    instance: int
    t: Floats
    y: Floats
    reached: int

    def points(self, value_before_first: float) -> Block:
        """The points (t, y) from evaluation 1 to the end, both of which readers need.

        The value at evaluation 1 is ``value_before_first`` if the run had not found one by then.
        """
        points = list(zip(self.t.tolist(), self.y.tolist(), strict=True))
        if self.t[0] > 1:
            points.insert(0, (1.0, value_before_first))
        if self.reached > self.t[-1]:
            points.append((float(self.reached), points[-1][1]))
        return points


@dataclass(frozen=True)
class NumberedRuns:
    """All runs to export, in the order of the instances, with notes on what the format lacks.

    ``stopped`` is the note on runs that were stopped on purpose, which the files repeat.
    """

    runs: tuple[NumberedRun, ...]
    maximise: bool
    are_distances: bool
    notes: tuple[str, ...]
    stopped: str

    def by_function(self, algorithm: str) -> Iterable[dict[int, list[NumberedRun]]]:
        """An algorithm's runs: for each function, by dimension."""
        runs_of_algorithm = [run for run in self.runs if run.algorithm == algorithm]
        by_function: dict[int, dict[int, list[NumberedRun]]] = {}
        for run in sorted(runs_of_algorithm, key=lambda run: (run.function, run.dimension)):
            by_dimension = by_function.setdefault(run.function, {})
            by_dimension.setdefault(run.dimension, []).append(run)
        return by_function.values()


def numbered_runs(
    store: StoreOnDisk, algorithms: tuple[str, ...], tool: str, optimum: float | None = None
) -> NumberedRuns:
    """Every run that has a value, as distances to the optimum where all optima are known."""
    if store.n_objectives > 1:
        raise ExportFailedError(f"{tool} has one value for each time, but {NO_VALUES}")
    axis = store.settings.budget.axis
    if axis != EVALUATIONS:
        raise ExportFailedError(
            f"{tool} counts {EVALUATIONS}, but {store.path} counts {axis}: use another format"
        )
    maximise = store.maximise
    ran = set(store.runs()["instance"])
    instances = [name for name in store.instances()["instance"] if name in ran]
    stored_numbers = _stored_numbers(store, instances)
    numbers = stored_numbers or _invented_numbers(store, instances)
    optima = None if maximise else known_optima(store, instances, optimum)
    origins = np.zeros(len(instances)) if optima is None else optima
    origin_of = dict(zip(instances, origins, strict=True))
    runs = []
    n_empty = 0
    n_stopped = 0
    stored_trajectories = base.ordered_runs(store, algorithms)
    for run, improvements in stored_trajectories:
        feasible = improvements.feasible()
        t = feasible.times
        y = feasible.values
        if not len(t):
            n_empty += 1
            continue
        if run.status in STOPPED and run.reached < store.settings.budget.times[-1]:
            n_stopped += 1
        instance = run.instance
        if not np.array_equal(t, np.floor(t)) or run.reached != np.floor(run.reached):
            raise ExportFailedError(
                f"{tool} counts whole evaluations, but {run.algorithm} on {instance} in "
                f"{store.path} has fractions"
            )
        values = -y if maximise else y - origin_of[instance]
        reached = max(int(run.reached), int(t[-1]))
        runs.append(NumberedRun(run.algorithm, *numbers[instance], t, values, reached))
    notes = []
    if n_empty:
        are = noun(n_empty, "is", "are")
        notes.append(f"{counted(n_empty, 'run')} without a value {are} left out")
    stopped = (
        f"{n_stopped} of {counted(len(runs), 'run')} {STOPPED_ON_PURPOSE}" if n_stopped else ""
    )
    if stopped:
        notes.append(stopped)
    if stored_numbers is None:
        notes.append("functions and instances have no numbers; they are numbered in their order")
    if base.has_violations(stored_trajectories):
        notes.append("the format has no violations: only feasible values are written")
    if store.weights():
        notes.append("instances have weights, which the format cannot hold: each counts once")
    if optima is not None and np.any(optima != 0):
        notes.append("values are written as distances to the best possible value")
    return NumberedRuns(tuple(runs), maximise, optima is not None, tuple(notes), stopped)


class Numbers(NamedTuple):
    """Number, name and dimension of an instance's function, and the number of the instance."""

    function: int
    name: str
    dimension: int
    instance: int


def _stored_numbers(store: StoreOnDisk, instances: Sequence[str]) -> dict[str, Numbers] | None:
    """The numbers in the specs of the instances, None unless all are there."""
    specs = store.specs()
    numbers = {}
    for instance in instances:
        spec = specs[instance]
        if not all(isinstance(spec.get(key), int) for key in (FUNCTION, DIMENSION, NUMBER)):
            return None
        function = spec[FUNCTION]
        is_bbob = 1 <= function <= len(BBOB_NAMES)
        name = BBOB_NAMES[function - 1] if is_bbob else f"f{function}"
        numbers[instance] = Numbers(function, name, spec[DIMENSION], spec[NUMBER])
    return numbers


def _invented_numbers(store: StoreOnDisk, instances: Sequence[str]) -> dict[str, Numbers]:
    """Numbers in the order in which functions, and problems of a function, occur first."""
    specs = store.specs()
    problems = store.problems()
    function_numbers: dict[str, int] = {}
    problem_numbers: dict[tuple[str, int], dict[str, int]] = {}
    numbers = {}
    for instance in instances:
        spec = specs[instance]
        function = str(spec.get(FUNCTION, store.settings.instances.suite))
        dimension = spec.get(DIMENSION)
        if not isinstance(dimension, int):
            dimension = 0
        problem = problems.get(instance, instance)
        function_number = function_numbers.setdefault(function, len(function_numbers) + 1)
        of_function = problem_numbers.setdefault((function, dimension), {})
        problem_number = of_function.setdefault(problem, len(of_function) + 1)
        numbers[instance] = Numbers(function_number, function, dimension, problem_number)
    return numbers
