"""Textbook functions, shifted and rotated at random, in random dimension."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar, Literal, get_args

import numpy as np
from pydantic import Field, field_validator

from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Kind, Problem, Range, Setting, Spec, Suite

BOUND = 5.0
LARGEST_SHIFT = 4.0  # of the optimum, which keeps it away from the bounds


def in_order_sum(rows: Floats) -> Floats:
    """The sum of numbers, or of rows, from the first to the last.

    Products by BLAS and LAPACK have other last bits on another processor or in another version, and
    optimisers amplify them: these problems use neither.
    """
    total: Floats = np.add.accumulate(rows)[-1]
    return total


def sum_of_squares(z: Floats) -> float:
    return float(in_order_sum(z * z))


def orthonormal(matrix: Floats) -> Floats:
    """The columns of a matrix, made orthonormal from the first to the last (Gram-Schmidt)."""
    columns = matrix.copy()
    for _ in range(2):  # one pass loses digits where columns are nearly dependent
        for j in range(columns.shape[1]):
            column = columns[:, j]
            column /= math.sqrt(sum_of_squares(column))
            later = columns[:, j + 1 :]
            later -= np.outer(column, in_order_sum(column[:, np.newaxis] * later))
    return columns


def sphere(z: Floats) -> float:
    return sum_of_squares(z)


def ellipsoid(z: Floats) -> float:
    return float(in_order_sum(z * z * np.power(10.0, 6.0 * np.linspace(0.0, 1.0, len(z)))))


def cigar(z: Floats) -> float:
    return float(z[0] ** 2 + 1e6 * sum_of_squares(z[1:]))


def discus(z: Floats) -> float:
    return float(1e6 * z[0] ** 2 + sum_of_squares(z[1:]))


def rosenbrock(z: Floats) -> float:
    z = z + 1.0  # the optimum is at one; moved to the origin like the others
    valley = np.sum((z[1:] - z[:-1] ** 2) ** 2)
    return float(100.0 * valley + np.sum((z[:-1] - 1.0) ** 2))


def rastrigin(z: Floats) -> float:
    return float(10.0 * (len(z) - np.sum(np.cos(2.0 * np.pi * z))) + sum_of_squares(z))


def ackley(z: Floats) -> float:
    root_mean_square = np.sqrt(sum_of_squares(z) / len(z))
    waves = np.sum(np.cos(2.0 * np.pi * z)) / len(z)
    return float(20.0 * -np.expm1(-0.2 * root_mean_square) + math.e - np.exp(waves))


def griewank(z: Floats) -> float:
    z = 100.0 * z  # on this box a part of its wide waves would look like a sphere
    waves = np.prod(np.cos(z / np.sqrt(np.arange(1, len(z) + 1))))
    return float(sum_of_squares(z) / 4000.0 + 1.0 - waves)


def levy(z: Floats) -> float:
    w = 1.0 + z / 4.0
    start = np.sin(np.pi * w[0]) ** 2
    waves = 1.0 + 10.0 * np.sin(np.pi * w[:-1] + 1.0) ** 2
    middle = np.sum((w[:-1] - 1.0) ** 2 * waves)
    end = (w[-1] - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * w[-1]) ** 2)
    return float(start + middle + end)


def different_powers(z: Floats) -> float:
    exponents = 2.0 + 4.0 * np.linspace(0.0, 1.0, len(z))
    return float(np.sqrt(np.sum(np.abs(z) ** exponents)))


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
FUNCTIONS: dict[str, Callable[[Floats], float]] = {
    name: globals()[name.replace("-", "_")] for name in get_args(Name)
}


class Classic(Suite):
    """Textbook functions on [-5, 5]^d with the optimum, of value 0, at a random point."""

    functions: tuple[Name, ...] = Field(
        get_args(Name), min_length=1, description="which functions, each equally likely"
    )
    dimensions: Range = Field(
        Range.model_validate({"from": 2, "to": 10}),
        description="numbers of variables, each equally likely: {from, to}",
    )
    rotate: bool = Field(True, description="rotate the axes at random, so that variables interact")

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
        function = FUNCTIONS[spec["function"]]
        dimension = int(spec["dimension"])
        rng = np.random.default_rng(spec["seed"])
        shift = rng.uniform(-LARGEST_SHIFT, LARGEST_SHIFT, dimension)
        columns = None
        if self.rotate:  # uniformly distributed
            columns = orthonormal(rng.standard_normal((dimension, dimension))).T.copy()

        def evaluate(x: object) -> float:
            z = np.asarray(x, dtype=np.float64) - shift
            if columns is not None:
                z = in_order_sum(z[:, np.newaxis] * columns)
            return function(z)

        return Problem(evaluate, np.full(dimension, -BOUND), np.full(dimension, BOUND))

    def best_value(self, spec: Spec) -> float:
        return 0.0
