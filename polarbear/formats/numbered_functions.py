"""Runs on numbered functions and instances, as IOHprofiler and COCO identify them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.classical.common_runs import known_optima
from polarbear.errors import ExportFailedError
from polarbear.numerics.arrays import Floats
from polarbear.problems.specs import DIMENSION, FUNCTION, NUMBER
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import Store
from polarbear.wording import counted, noun

# The names of BBOB's functions 1 to 24 in IOHexperimenter.
BBOB_NAMES = (
    *("Sphere", "Ellipsoid", "Rastrigin", "BuecheRastrigin", "LinearSlope", "AttractiveSector"),
    *("StepEllipsoid", "Rosenbrock", "RosenbrockRotated", "EllipsoidRotated", "Discus"),
    *("BentCigar", "SharpRidge", "DifferentPowers", "RastriginRotated", "Weierstrass"),
    *("Schaffers10", "Schaffers1000", "GriewankRosenbrock", "Schwefel", "Gallagher101"),
    *("Gallagher21", "Katsuura", "LunacekBiRastrigin"),
)


@dataclass(frozen=True)
class Function:
    """A function in a dimension, which is 0 where it is unknown."""

    number: int
    name: str
    dimension: int


@dataclass(frozen=True)
class NumberedRun:
    """A run with numbers; values are distances if ``NumberedRuns.are_distances``."""

    algorithm: str
    function: Function
    instance: int
    t: Floats
    y: Floats
    reached: int

    def points(self, nothing: float) -> list[tuple[float, float]]:
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
    """All runs, in the order of the instances, with notes on how they were numbered."""

    runs: tuple[NumberedRun, ...]
    maximise: bool
    are_distances: bool
    notes: tuple[str, ...]

    def by_function(self, algorithm: str) -> Iterator[dict[Function, list[NumberedRun]]]:
        """An algorithm's runs: for each function number, by dimension."""
        mine = [run for run in self.runs if run.algorithm == algorithm]
        functions = sorted({run.function for run in mine}, key=lambda f: (f.number, f.dimension))
        for number in dict.fromkeys(function.number for function in functions):
            yield {
                function: [run for run in mine if run.function == function]
                for function in functions
                if function.number == number
            }


def numbered_runs(
    store: Store, algorithms: tuple[str, ...], tool: str, optimum: float | None = None
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
    functions, are_invented = _functions(store, instances)
    optima = None if maximise else known_optima(store, instances, optimum)
    best = dict(zip(instances, np.zeros(len(instances)) if optima is None else optima, strict=True))
    found: dict[str, list[NumberedRun]] = {name: [] for name in instances}
    empty = 0
    for run, t, y in store.trajectories(algorithms):
        if not len(t):
            empty += 1
            continue
        instance = run.instance
        if not np.array_equal(t, np.floor(t)) or run.reached != np.floor(run.reached):
            raise ExportFailedError(
                f"{tool} counts whole evaluations, but {run.algorithm} on {instance} in "
                f"{store.path} has fractions"
            )
        values = -y if maximise else y - best[instance]
        reached = max(int(run.reached), int(t[-1]))
        numbered = NumberedRun(run.algorithm, *functions[instance], t, values, reached)
        found[instance].append(numbered)
    runs = tuple(run for here in found.values() for run in here)
    if not runs:
        raise ExportFailedError(f"{store.path} has no run that found a value")
    notes = []
    if empty:
        notes.append(f"{counted(empty, 'run')} without a value {noun(empty, 'is', 'are')} left out")
    if are_invented:
        notes.append("functions and instances have no numbers; they are numbered in their order")
    if store.weights():
        notes.append("instances have weights, which the format cannot hold: each counts once")
    if optima is not None and np.any(optima != 0):
        notes.append("values are written as distances to the best possible value")
    return NumberedRuns(runs, maximise, optima is not None, tuple(notes))


def _functions(
    store: Store, instances: Sequence[str]
) -> tuple[dict[str, tuple[Function, int]], bool]:
    """The function of each instance and its number there; whether the numbers are invented."""
    specs = store.specs()
    keys = (FUNCTION, DIMENSION, NUMBER)
    if all(isinstance(specs[name].get(key), int) for name in instances for key in keys):
        numbers = {name: tuple(specs[name][key] for key in keys) for name in instances}
        return {
            name: (Function(f, BBOB_NAMES[f - 1] if 1 <= f <= 24 else f"f{f}", d), number)
            for name, (f, d, number) in numbers.items()
        }, False
    suite = store.config["instances"]["suite"]
    labels = {name: str(specs[name].get(FUNCTION, suite)) for name in instances}
    order = list(dict.fromkeys(labels.values()))
    problems = store.problems()
    seen: dict[Function, list[str]] = {}
    found = {}
    for name, label in labels.items():
        dimension = specs[name].get(DIMENSION)
        known = dimension if isinstance(dimension, int) else 0
        function = Function(order.index(label) + 1, label, known)
        here, problem = seen.setdefault(function, []), problems.get(name, name)
        if problem not in here:
            here.append(problem)
        found[name] = (function, here.index(problem) + 1)
    return found, True
