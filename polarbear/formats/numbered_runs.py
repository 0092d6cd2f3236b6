"""Runs on numbered functions and instances, as IOHprofiler and COCO read and write them.

A data file has the points of many runs, with a header line before each.
"""

import posixpath
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path, PurePosixPath

import numpy as np

from polarbear.classical.common_runs import known_optima
from polarbear.errors import ExportFailedError, ImportFailedError
from polarbear.formats import base
from polarbear.numerics.arrays import Floats
from polarbear.problems.specs import DIMENSION, FUNCTION, NUMBER, OPTIMUM
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import StoreOnDisk
from polarbear.wording import noun

Block = list[tuple[float, float]]  # the points (t, y) of a run
# The value that exports write at evaluation 1, which readers need, if nothing was found by then.
# It is not infinity because cocopp does not terminate on that.
NOTHING_FOUND = sys.float_info.max
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
    keys = zip((FUNCTION, DIMENSION, NUMBER), numbers, strict=True)
    facts: base.SpecEntries = {
        key: int(v) if v.isdecimal() and len(v) < 10 else v for key, v in keys
    }
    optimum = {OPTIMUM: 0.0} if has_optimum_zero else {}
    problem = f"f{facts[FUNCTION]}-d{facts[DIMENSION]}-i{facts[NUMBER]}"
    runs.add(algorithm, problem, points, {**facts, **optimum})


def read_blocks(
    path: Path, header: str, columns: tuple[int, int], runs: int, rejected: list[base.Rejection]
) -> list[Block]:
    """The points of each run in a data file, of which the description announces ``runs``.

    ``header`` is the begin of header lines; ``columns`` are those of the evaluations and values.
    """
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
    try:
        t, y = (float(words[column]) for column in columns)
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
    name: str  # of the function
    dimension: int
    instance: int
    t: Floats
    y: Floats
    reached: int

    def points(self, nothing: float) -> Block:
        """The points (t, y) from evaluation 1 to the end, both of which readers need.

        The value is ``nothing`` at evaluation 1 if none was found there.
        """
        points = list(zip(self.t.tolist(), self.y.tolist(), strict=True))
        if self.t[0] > 1:
            points.insert(0, (1.0, nothing))
        if self.reached > self.t[-1]:
            points.append((float(self.reached), points[-1][1]))
        return points


@dataclass(frozen=True)
class NumberedRuns:
    """All runs to export, in the order of the instances, with notes on how they were numbered."""

    runs: tuple[NumberedRun, ...]
    maximise: bool
    are_distances: bool
    notes: tuple[str, ...]

    def by_function(self, algorithm: str) -> Iterable[dict[int, list[NumberedRun]]]:
        """An algorithm's runs: for each function, by dimension."""
        found: dict[int, dict[int, list[NumberedRun]]] = {}
        mine = (run for run in self.runs if run.algorithm == algorithm)
        for run in sorted(mine, key=lambda run: (run.function, run.dimension)):
            found.setdefault(run.function, {}).setdefault(run.dimension, []).append(run)
        return found.values()


def numbered_runs(
    store: StoreOnDisk, algorithms: tuple[str, ...], tool: str, optimum: float | None = None
) -> NumberedRuns:
    """Every run that has a value, as distances to the optimum where all optima are known."""
    axis = store.config["budget"]["axis"]
    if axis != EVALUATIONS:
        raise ExportFailedError(
            f"{tool} counts {EVALUATIONS}, but {store.path} counts {axis}: use another format"
        )
    maximise = store.maximise
    ran = set(store.runs()["instance"])
    instances = [name for name in store.instances()["instance"] if name in ran]
    numbers, are_invented = _numbers(store, instances)
    optima = None if maximise else known_optima(store, instances, optimum)
    best = dict(zip(instances, np.zeros(len(instances)) if optima is None else optima, strict=True))
    trajectories, left_out = base.runs_with_values(store, algorithms)
    runs, notes = [], [*left_out]
    for run, t, y in trajectories:
        instance = run.instance
        if not np.array_equal(t, np.floor(t)) or run.reached != np.floor(run.reached):
            raise ExportFailedError(
                f"{tool} counts whole evaluations, but {run.algorithm} on {instance} in "
                f"{store.path} has fractions"
            )
        values = -y if maximise else y - best[instance]
        reached = max(int(run.reached), int(t[-1]))
        runs.append(NumberedRun(run.algorithm, *numbers[instance], t, values, reached))
    if are_invented:
        notes.append("functions and instances have no numbers; they are numbered in their order")
    if store.weights():
        notes.append("instances have weights, which the format cannot hold: each counts once")
    if optima is not None and np.any(optima != 0):
        notes.append("values are written as distances to the best possible value")
    return NumberedRuns(tuple(runs), maximise, optima is not None, tuple(notes))


def _numbers(
    store: StoreOnDisk, instances: Sequence[str]
) -> tuple[dict[str, tuple[int, str, int, int]], bool]:
    """Number, name and dimension of each instance's function, and the number of the instance.

    The second result says whether these numbers are invented.
    """
    specs, problems = store.specs(), store.problems()
    found: dict[str, tuple[int, str, int, int]] = {}
    keys = (FUNCTION, DIMENSION, NUMBER)
    if all(isinstance(specs[name].get(key), int) for name in instances for key in keys):
        for name in instances:
            f, d, number = (specs[name][key] for key in keys)
            found[name] = f, BBOB_NAMES[f - 1] if 1 <= f <= 24 else f"f{f}", d, number
        return found, False
    functions: dict[str, int] = {}
    seen: dict[tuple[str, int], dict[str, int]] = {}
    for name in instances:
        label = str(specs[name].get(FUNCTION, store.config["instances"]["suite"]))
        known = specs[name].get(DIMENSION)
        dimension = known if isinstance(known, int) else 0
        function = functions.setdefault(label, len(functions) + 1)
        here = seen.setdefault((label, dimension), {})
        number = here.setdefault(problems.get(name, name), len(here) + 1)
        found[name] = function, label, dimension, number
    return found, True
