"""BBOB's functions, and mixtures of them, as problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Problem
from polarbear.problems.bbob.evaluation import value
from polarbear.problems.bbob.instances import Function
from polarbear.problems.bbob.transformations import BOUND


@dataclass(frozen=True)
class Part:
    """A function's share of a mixture."""

    function: Function
    weight: float = 1.0
    scale: float = 1.0


def function_problem(function: Function) -> Problem:
    """One function on its box."""
    return _problem([Part(function)], function.x_opt, mixes=False)


def mixture_problem(parts: Sequence[Part], centre: Floats) -> Problem:
    """Functions mixed on a logarithmic scale, their optima moved to the centre."""
    return _problem(parts, centre, mixes=True)


def _problem(parts: Sequence[Part], centre: Floats, mixes: bool) -> Problem:
    dimension = len(centre)
    table = np.array([_row(part) for part in parts])
    numbers = np.concatenate([part.function.numbers for part in parts])
    value(centre, table, numbers, centre, mixes)  # compiles before the clock of a run starts

    def evaluate(x: Any) -> float:
        point = np.array(x, dtype=np.float64)
        if point.shape != (dimension,):
            found = point.size if point.ndim == 1 else f"an array of the shape {point.shape}"
            raise ValueError(f"a point of this problem has {dimension} numbers, found {found}")
        return float(value(point, table, numbers, centre, mixes))

    return Problem(evaluate, *bbob_box(dimension))


def _row(part: Part) -> list[float]:
    function = part.function
    size = len(function.numbers)
    return [function.id, size, function.f_opt, function.penalty, part.weight, part.scale]


def bbob_box(dimension: int) -> tuple[Floats, Floats]:
    return np.full(dimension, -BOUND), np.full(dimension, BOUND)
