"""Textbook functions, shifted, rotated, in random dimension: no package needed beyond NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from pydantic import Field, field_validator

from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Kind, Problem, Range, Setting, Spec, Suite

BOUND = 5.0
SHIFT = 4.0  # optima lie inside the box, clear of its walls
Values = Any  # a number for one point, an array of them for many, which stand one a row


# To the bit the same for one and for many. Called millions of times: what depends on the dimension
# alone is kept, sums and products are asked for where NumPy makes them, past layers of its own, and
# numbers stand in arrays, into which it would put them at every call.


def sphere(z: Floats) -> Values:
    return _inner(z, z)


def ellipsoid(z: Floats) -> Values:
    return _inner(z * z, _weights(z.shape[-1]))


def cigar(z: Floats) -> Values:
    rest = z[..., 1:]
    return _squared(z.T[0]) + 1e6 * _inner(rest, rest)


def discus(z: Floats) -> Values:
    rest = z[..., 1:]
    return 1e6 * _squared(z.T[0]) + _inner(rest, rest)


def rosenbrock(z: Floats) -> Values:
    z = z + ONE  # the valley's end is at one; moved to the origin like the others
    all_but_last = z[..., :-1]
    valley = _sum((z[..., 1:] - all_but_last**2) ** 2, -1)
    return 100.0 * valley + _sum((all_but_last - ONE) ** 2, -1)


def rastrigin(z: Floats) -> Values:
    return 10.0 * (z.shape[-1] - _sum(np.cos(FULL_TURN * z), -1)) + _inner(z, z)


def ackley(z: Floats) -> Values:
    dimension = z.shape[-1]
    root_mean_square = np.sqrt(_inner(z, z) / dimension)
    waves = _sum(np.cos(FULL_TURN * z), -1) / dimension
    return 20.0 * -np.expm1(-0.2 * root_mean_square) + math.e - np.exp(waves)


def griewank(z: Floats) -> Values:
    z = HUNDRED * z  # its waves are wide: on this box a plain sphere would be left of them
    waves = _product(np.cos(z / _roots(z.shape[-1])), -1)
    return _inner(z, z) / 4000.0 + 1.0 - waves


def levy(z: Floats) -> Values:
    w = ONE + z / FOUR
    off = w - ONE
    turned = HALF_TURN * w
    start = _squared(np.sin(turned.T[0]))
    middle = _sum(off[..., :-1] ** 2 * (ONE + TEN * np.sin(turned[..., :-1] + ONE) ** 2), -1)
    end = _squared(off.T[-1]) * (1.0 + _squared(np.sin(2.0 * np.pi * w.T[-1])))
    return start + middle + end


def different_powers(z: Floats) -> Values:
    return np.sqrt(_sum(np.abs(z) ** _exponents(z.shape[-1]), -1))


_sum, _product = np.add.reduce, np.multiply.reduce
ONE, FOUR, TEN, HUNDRED = np.array(1.0), np.array(4.0), np.array(10.0), np.array(100.0)
HALF_TURN, FULL_TURN = np.array(np.pi), np.array(2.0 * np.pi)


def _inner(left: Floats, right: Floats) -> Values:
    """Products of vectors, summed by the same routine of BLAS for one pair and for many."""
    if left.ndim == 1:
        return left.dot(right)
    return np.matmul(left[:, np.newaxis], right[..., np.newaxis])[:, 0, 0]


def _squared(numbers: Values) -> Values:
    """Each by itself: of a lone number NumPy takes a power, of an array a product, which differ."""
    return np.array([number**2 for number in numbers]) if numbers.ndim else numbers**2


@cache
def _weights(dimension: int) -> Floats:
    """From 1 to a million, evenly spaced in the exponent."""
    return np.power(10.0, 6.0 * np.linspace(0.0, 1.0, dimension))


@cache
def _roots(dimension: int) -> Floats:
    return np.sqrt(np.arange(1, dimension + 1))


@cache
def _exponents(dimension: int) -> Floats:
    return 2.0 + 4.0 * np.linspace(0.0, 1.0, dimension)


Name = Literal[
    "sphere",
    "ellipsoid",
    "cigar",
    "discus",
    "rosenbrock",
    "rastrigin",
    "ackley",
    "griewank",
    "levy",
    "different-powers",
]
FUNCTIONS: dict[str, Callable[[Floats], Values]] = {
    name: globals()[name.replace("-", "_")] for name in get_args(Name)
}


class Classic(Suite):
    """Textbook functions on [-5, 5]^d with the optimum, of value 0, at a random place."""

    functions: tuple[Name, ...] = Field(
        get_args(Name), min_length=1, description="which functions, each equally likely"
    )
    dimensions: Range = Field(
        Range.model_validate({"from": 2, "to": 10}),
        description="numbers of variables, each equally likely: {from, to}",
    )
    rotate: bool = Field(True, description="turn the axes at random, so that variables interact")

    kind: ClassVar[Kind] = Kind.CONTINUOUS

    @field_validator("dimensions")
    @classmethod
    def _variables_interact(cls, dimensions: Range) -> Range:
        if dimensions.start < 2:
            raise ValueError("these functions need at least 2 variables")
        return dimensions

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        function = self.functions[rng.integers(len(self.functions))]
        dimension = self.dimensions.draw(rng)
        spec = {"function": function, "dimension": dimension, "seed": int(rng.integers(2**31))}
        return f"classic-{index}-{function}-d{dimension}", spec

    def build(self, spec: Spec, setting: Setting) -> Problem:
        function, dimension = FUNCTIONS[spec["function"]], int(spec["dimension"])
        rng = np.random.default_rng(spec["seed"])
        shift = rng.uniform(-SHIFT, SHIFT, dimension)
        rotation = random_rotation(dimension, rng) if self.rotate else np.eye(dimension)
        turned = rotation.dot

        def evaluate(x: Any) -> float:
            return float(function(turned(np.asarray(x, dtype=np.float64) - shift)))

        def evaluate_many(points: Any) -> Values:
            moved = np.ascontiguousarray(points, dtype=np.float64) - shift
            return function(np.matmul(rotation, moved[..., np.newaxis])[..., 0])

        lower, upper = np.full(dimension, -BOUND), np.full(dimension, BOUND)
        return Problem(evaluate, lower, upper, evaluate_many=evaluate_many)

    def best_value(self, spec: Spec) -> float:
        return 0.0


def random_rotation(dimension: int, rng: np.random.Generator) -> Floats:
    """An orthogonal matrix, uniformly distributed."""
    q, r = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    return np.asarray(q * np.sign(np.diag(r)))
