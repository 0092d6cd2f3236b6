"""Runs of an adapter that keep every point, without the recorder."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from polarbear.algorithms import ADAPTERS, Algorithm, Trial
from polarbear.errors import BudgetExhausted
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Instance, Kind, Setting
from polarbear.settings.grid import EVALUATIONS, Budget

SETTING = Setting(1, Budget.model_validate({"grid": [1, 10]}))


def sphere(share: Floats) -> float:
    return float(((share - 0.3) ** 2).sum())


def rastrigin(share: Floats) -> float:
    z = 10 * (share - 0.3)
    return float((z**2 + 10 - 10 * np.cos(2 * np.pi * z)).sum())


def constant(share: Floats) -> float:
    return 1.0


def infinite(share: Floats) -> float:
    return np.inf


@dataclass(frozen=True)
class Box:
    """Where a problem is posed; objectives see points as shares of it."""

    lower: Floats
    upper: Floats

    @classmethod
    def cube(cls, dimension: int, lower: float = -5.0, upper: float = 5.0) -> Self:
        return cls(np.full(dimension, lower), np.full(dimension, upper))

    def contains(self, points: Floats) -> bool:
        return bool(np.all((points >= self.lower) & (points <= self.upper)))


@dataclass(frozen=True)
class Run:
    """The points and values that an algorithm evaluated before its budget ended."""

    points: Floats
    values: Floats


def algorithm(use: str, **options: Any) -> Algorithm:
    return ADAPTERS[use].model_validate({"name": "it", "use": use, **options})


def run(
    algorithm: Algorithm,
    box: Box,
    objective: Callable[[Floats], float] = sphere,
    budget: int = 3000,
    seed: int = 1,
    kind: Kind = Kind.CONTINUOUS,
) -> Run:
    """Run until the budget ends it, at the call that would be one too many."""
    points: list[Floats] = []
    values: list[float] = []

    def evaluate(x: Floats) -> float:
        if len(values) == budget:
            raise BudgetExhausted
        points.append(np.array(x))
        values.append(objective((x - box.lower) / np.maximum(box.upper - box.lower, 1e-300)))
        return values[-1]

    trial = Trial(
        evaluate,
        lambda t, y: None,
        Instance(0, "a box", {}),
        seed,
        EVALUATIONS,
        budget,
        None,
        box.lower,
        box.upper,
        kind,
    )
    algorithm.prepare(SETTING)
    try:
        algorithm.run(trial, SETTING)
    except BudgetExhausted:
        return Run(np.array(points), np.array(values))
    raise AssertionError(f"it ended by itself after {len(values)} evaluations")
