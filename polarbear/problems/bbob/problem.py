"""Functions and mixtures as problems: callable at one point, or at many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numba import types

from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Problem
from polarbear.problems.bbob.functions import loop_address
from polarbear.problems.bbob.instances import Function
from polarbear.problems.bbob.loops.evaluation import mixed_value, mixed_values, value, values
from polarbear.problems.bbob.loops.transformations import BOUND

NUMBERS = POINT = types.float64[::1]
POINTS = types.float64[:, ::1]
MOST_ON_THE_STACK = 1000  # variables: a function has room there for a few points of so many
FLOAT, contiguous = np.dtype(np.float64), np.ascontiguousarray  # found faster than in NumPy


def function_problem(function: Function) -> Problem:
    """One function on its box."""
    return _problem(value, values, _packed(Part(function, 1.0, 1.0)), function.dimension)


@dataclass(frozen=True)
class Part:
    """A function's share of a mixture."""

    function: Function
    weight: float
    scale: float


def mixture_problem(parts: Sequence[Part], centre: Floats) -> Problem:
    """Functions mixed on a logarithmic scale, their optima moved to the centre."""
    packed = np.concatenate([[len(parts)], centre, *map(_packed, parts)])
    return _problem(mixed_value, mixed_values, packed, len(centre))


def _packed(part: Part) -> Floats:
    """A part as loops read it (`loops/evaluation.py`)."""
    function = part.function
    address = np.array([loop_address(function.id)]).view(np.float64)
    size = len(function.numbers)
    rest = [size, function.best, function.penalty, part.weight, part.scale]
    return np.concatenate([address, rest, function.numbers])


def _problem(one: Any, many: Any, packed: Floats, dimension: int) -> Problem:
    at_many: Callable[[Floats, Floats], Floats] = _entry(many, POINTS)
    at_one: Callable[[Floats, Floats], float] = (
        _entry(one, POINT)
        if dimension <= MOST_ON_THE_STACK
        else lambda point, packed: float(at_many(point[None], packed)[0])
    )

    def evaluate(x: Any) -> float:
        point = contiguous(x, FLOAT)
        if len(point) != dimension or point.ndim != 1:
            raise _wrong_shape(point, dimension)
        return at_one(point, packed)

    def evaluate_many(points: Any) -> Floats:
        rows = contiguous(points, FLOAT)
        if rows.shape[1:] != (dimension,):
            raise _wrong_shape(rows[0], dimension)
        return at_many(rows, packed)

    lower, upper = bbob_box(dimension)
    return Problem(evaluate, lower, upper, evaluate_many=evaluate_many)


@cache
def _entry(loop: Any, points: Any) -> Any:
    """A loop, without what looks at the kind of each argument: here it is known, and to look takes
    as long as a function does."""
    return loop.compile((points, NUMBERS))


def _wrong_shape(point: Floats, dimension: int) -> ValueError:
    found = point.size if point.ndim == 1 else f"an array of the shape {point.shape}"
    return ValueError(f"a point of this problem has {dimension} numbers, found {found}")


def bbob_box(dimension: int) -> tuple[Floats, Floats]:
    return np.full(dimension, -BOUND), np.full(dimension, BOUND)
