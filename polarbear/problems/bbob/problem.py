"""Functions and mixtures as problems: callable at one point, or at many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Problem
from polarbear.problems.bbob.functions import loop_address
from polarbear.problems.bbob.instances import Function
from polarbear.problems.bbob.loops.evaluation import mixed_value, mixed_values, value, values
from polarbear.problems.bbob.loops.transformations import BOUND

Evaluate = Callable[[Any], float]


def function_problem(function: Function) -> Problem:
    """One function on its box."""
    rest = (loop_address(function.id), function.numbers, function.best, function.penalty)
    return _problem(value, values, rest, function.dimension)


@dataclass(frozen=True)
class Part:
    """A function's share of a mixture."""

    function: Function
    weight: float
    scale: float


def mixture_problem(parts: Sequence[Part], centre: Floats) -> Problem:
    """Functions mixed on a logarithmic scale, their optima moved to the centre."""
    # In one array, since each that is handed to compiled code takes time at every point.
    blocks = [centre]
    whole = []
    for part in parts:
        function = part.function
        blocks.append(np.array([function.best, function.penalty, part.weight, part.scale]))
        start = sum(map(len, blocks))
        blocks.append(function.numbers)
        whole.append((loop_address(function.id), start, start + len(function.numbers)))
    rest = (np.array(whole, dtype=np.int64), np.concatenate(blocks))
    return _problem(mixed_value, mixed_values, rest, len(centre))


def _problem(
    at_one: Callable[..., float], at_many: Callable[..., Floats], rest: Any, dimension: int
) -> Problem:
    def evaluate(x: Any) -> float:
        point = np.ascontiguousarray(x, dtype=np.float64)
        if point.shape != (dimension,):
            raise _wrong_shape(point, dimension)
        return at_one(point, *rest)

    def evaluate_many(points: Any) -> Floats:
        rows = np.ascontiguousarray(points, dtype=np.float64)
        if rows.shape[1:] != (dimension,):
            raise _wrong_shape(rows[0], dimension)
        return at_many(rows, *rest)

    lower, upper = bbob_box(dimension)
    return Problem(evaluate, lower, upper, evaluate_many=evaluate_many)


def _wrong_shape(point: Floats, dimension: int) -> ValueError:
    found = point.size if point.ndim == 1 else f"an array of the shape {point.shape}"
    return ValueError(f"a point of this problem has {dimension} numbers, found {found}")


def bbob_box(dimension: int) -> tuple[Floats, Floats]:
    return np.full(dimension, -BOUND), np.full(dimension, BOUND)
