"""Instances as functions with numbers: what IOHprofiler and COCO know them by, and their runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polarbear.attainment.optima import known_optima
from polarbear.errors import ExportFailedError
from polarbear.formats.bbob import BBOB_NAMES
from polarbear.numerics.arrays import Floats
from polarbear.problems.specs import DIMENSION, FUNCTION, NUMBER
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import Store
from polarbear.wording import counted, noun


@dataclass(frozen=True)
class Function:
    """A function in a dimension, 0 where that is not known."""

    number: int
    name: str
    dimension: int


@dataclass(frozen=True)
class NumberedRun:
    """A run as others number it; values are distances where ``Numbered.distances`` says so."""

    algorithm: str
    function: Function
    instance: int
    t: Floats
    y: Floats
    reached: int


@dataclass(frozen=True)
class Numbered:
    """All runs, in the order of the instances, and how they were numbered."""

    runs: tuple[NumberedRun, ...]
    maximise: bool
    distances: bool
    notes: tuple[str, ...]

    def grouped(self, algorithm: str) -> Iterator[tuple[int, dict[Function, list[NumberedRun]]]]:
        """An algorithm's runs by function, then by dimension."""
        mine = [run for run in self.runs if run.algorithm == algorithm]
        for number in sorted({run.function.number for run in mine}):
            here = [run for run in mine if run.function.number == number]
            dimensions = sorted({run.function for run in here}, key=lambda one: one.dimension)
            yield number, {one: [run for run in here if run.function == one] for one in dimensions}


def numbered_runs(
    store: Store, algorithms: tuple[str, ...], what: str, optimum: float | None = None
) -> Numbered:
    """Every run that has a value, with distances to the optimum where all optima are known."""
    axis = store.config["budget"]["axis"]
    if axis != EVALUATIONS:
        raise ExportFailedError(
            f"{what} counts {EVALUATIONS}, and {store.path} counts {axis}: use another format"
        )
    maximise = bool(store.config["instances"].get("maximise"))
    order = [name for name, *_ in store.instances().select("instance").iter_rows()]
    ran = set(store.runs()["instance"])
    instances = [name for name in order if name in ran]
    functions, invented = _functions(store, instances)
    optima = None if maximise else known_optima(store, instances, optimum)
    best = dict(zip(instances, optima if optima is not None else [0.0] * len(order), strict=False))
    place = {name: i for i, name in enumerate(instances)}
    found, empty = [], 0
    for run, t, y in store.trajectories(algorithms):
        if not len(t):
            empty += 1
            continue
        function, number = functions[run["instance"]]
        values = -y if maximise else y - best[run["instance"]]
        if not np.array_equal(t, np.floor(t)) or run["reached"] != np.floor(run["reached"]):
            raise ExportFailedError(
                f"{what} counts whole evaluations; {run['algorithm']} on {run['instance']} in "
                f"{store.path} has others"
            )
        reached = max(int(run["reached"]), int(t[-1]))
        made = NumberedRun(run["algorithm"], function, number, t, values, reached)
        found.append((place[run["instance"]], made))
    if not found:
        raise ExportFailedError(f"{store.path} holds no run that has found a value")
    runs = tuple(run for _, run in sorted(found, key=lambda pair: pair[0]))
    notes = []
    if empty:
        notes.append(
            f"{counted(empty, 'run')} found no value, and {noun(empty, 'is', 'are')} left out"
        )
    if invented:
        notes.append("functions and instances have no numbers here; they are numbered as they came")
    if store.weights():
        notes.append("instances have weights, which the format has no place for: each counts once")
    if optima is not None and np.any(optima != 0):
        notes.append("values are written as distances to the best possible value")
    return Numbered(runs, maximise, optima is not None, tuple(notes))


def _functions(
    store: Store, instances: Sequence[str]
) -> tuple[dict[str, tuple[Function, int]], bool]:
    """The function of each instance and its number there; whether numbers had to be made up."""
    rows = store.instances().select("instance", "spec").iter_rows()
    specs: dict[str, dict[str, Any]] = {name: json.loads(spec) for name, spec in rows}
    keys = (FUNCTION, DIMENSION, NUMBER)
    if all(isinstance(specs[name].get(key), int) for name in instances for key in keys):
        return {
            name: (
                Function(spec[FUNCTION], _name(spec[FUNCTION]), spec[DIMENSION]),
                int(spec[NUMBER]),
            )
            for name, spec in specs.items()
        }, False
    problems = store.problems()
    names = list(dict.fromkeys(_label(store, specs[name]) for name in instances))
    counts: dict[Function, list[str]] = {}
    found = {}
    for name in instances:
        label, dimension = _label(store, specs[name]), specs[name].get(DIMENSION)
        known = dimension if isinstance(dimension, int) else 0
        function = Function(names.index(label) + 1, label, known)
        seen = counts.setdefault(function, [])
        problem = problems.get(name, name)
        if problem not in seen:
            seen.append(problem)
        found[name] = (function, seen.index(problem) + 1)
    return found, True


def _label(store: Store, spec: dict[str, Any]) -> str:
    return str(spec.get(FUNCTION, store.config["instances"]["suite"]))


def _name(number: int) -> str:
    return BBOB_NAMES[number - 1] if 1 <= number <= len(BBOB_NAMES) else f"f{number}"
