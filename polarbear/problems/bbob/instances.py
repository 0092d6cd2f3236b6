"""Instances of the 24 BBOB functions, and problems made of one or of several of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, inf, pow, sqrt
from typing import Self

import numpy as np

from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Problem
from polarbear.problems.bbob.functions import BOUND, PART, multiply, value
from polarbear.problems.bbob.rng import normal, rotation, scaled_product, uniform, uniform_between

SEED_STEP = 1_000_000  # between the seeds of two random matrices
SEEDED_AS = {4: 3, 18: 17}  # functions that share the random numbers of another
INT_RANGE = 2**32
PENALTIES = {4: 100.0, 17: 10.0, 18: 10.0, 23: 1.0}  # f16's depends on the dimension


@dataclass(frozen=True)
class Function:
    """One instance of one of the 24 functions."""

    id: int
    f_opt: float
    penalty: float  # for each square unit outside of the box
    dimension: int
    arrays: Floats  # x_opt, then the further arguments of the function, one after the other

    @classmethod
    def drawn(cls, draw: "Draw", penalty: float) -> Self:
        arrays = np.concatenate([array.ravel() for array in _arrays(draw)])
        return cls(draw.id, draw.f_opt(), penalty, draw.dimension, arrays)

    @property
    def x_opt(self) -> Floats:
        return self.arrays[: self.dimension]


def bbob_function(id: int, instance: int, dimension: int) -> Function:
    """A function of BBOB: defined outside of the box too, its optimum mostly in [-4, 4]^d."""
    penalty = 10.0 / dimension if id == 16 else PENALTIES.get(id, 0.0)
    return Function.drawn(Draw(id, instance, dimension, 4), penalty)


def sbox_function(id: int, instance: int, dimension: int) -> Function:
    """A function of SBOX-COST: infinite outside of the box, its optimum anywhere in it."""
    return Function.drawn(Draw(id, instance, dimension, 5), inf)


def best_value(id: int, instance: int) -> float:
    """f_opt, which depends neither on the dimension nor on the box."""
    return Draw(id, instance, 2, 4).f_opt()


def function_problem(function: Function) -> Problem:
    """One function on its box."""
    return mixture_problem([function], [0.0], [0.0], np.zeros(function.dimension))


def mixture_problem(
    functions: Sequence[Function],
    weights: Sequence[float],
    scales: Sequence[float],
    centre: Floats,
) -> Problem:
    """Functions mixed on a logarithmic scale, their optima moved to the centre."""
    ends = np.cumsum([len(function.arrays) for function in functions])
    rows = [
        (function.id, end, function.f_opt, function.penalty, scale, weight)
        for function, end, scale, weight in zip(functions, ends, scales, weights, strict=True)
    ]
    arrays = np.concatenate([function.arrays for function in functions])
    parts = np.array(rows, dtype=PART)
    value(centre, centre, parts, arrays)  # compiles before the clock of a run starts
    shape = centre.shape

    def evaluate(x: object) -> float:
        point = np.array(x, dtype=np.float64)
        if point.shape != shape:
            size = point.size if point.ndim == 1 else f"an array of the shape {point.shape}"
            raise ValueError(f"a point of this problem has {len(centre)} numbers, found {size}")
        return float(value(point, centre, parts, arrays))

    return Problem(evaluate, *bbob_box(len(centre)))


def bbob_box(dimension: int) -> tuple[Floats, Floats]:
    return np.full(dimension, -BOUND), np.full(dimension, BOUND)


def as_int(number: int) -> int:
    """A number as an int of C++ holds it: ioh's seeds of large instance ids wrap around."""
    return (number + INT_RANGE // 2) % INT_RANGE - INT_RANGE // 2


@dataclass(frozen=True)
class Draw:
    """The random numbers of an instance."""

    id: int
    instance: int
    dimension: int
    half_width: int  # of the box that contains the optima

    @property
    def seed(self) -> int:
        return SEEDED_AS.get(self.id, self.id) + as_int(10_000 * self.instance)

    def uniform(self, count: int, seed_offset: int = 0) -> Floats:
        return np.asarray(uniform(count, self.seed + seed_offset))

    def x_opt(self) -> Floats:
        """The location of the optimum, as most functions have it."""
        shares = self.uniform(self.dimension, SEED_STEP if self.id == 12 else 0)
        x_opt = 2 * self.half_width * np.floor(1e4 * shares) / 1e4 - self.half_width
        return np.where(x_opt == 0.0, -1e-5, x_opt)

    def f_opt(self) -> float:
        """A ratio of normal numbers, to two digits and at most a thousand."""
        ratio = 100.0 * 100.0 * normal(1, self.seed)[0] / normal(1, self.seed + 1)[0]
        return float(min(1000.0, max(-1000.0, floor(ratio + 0.5) / 100.0)))

    # Matrices are transposed: they are multiplied by row vectors.

    def r(self) -> Floats:
        return np.asarray(rotation(self.dimension, self.seed + SEED_STEP))

    def q(self) -> Floats:
        return np.asarray(rotation(self.dimension, self.seed))

    def r_lambda_q(self, base: float) -> Floats:
        """R Λ Q, where Λ has the powers of the base on its diagonal."""
        return np.asarray(scaled_product(self.q(), self.powers(base), self.r()))

    def powers(self, base: float, exponent: float = 1.0) -> Floats:
        """base^(exponent (i - 1) / (d - 1)) for i from 1 to d."""
        last = self.dimension - 1.0
        return np.array([pow(base, exponent * i / last) for i in range(self.dimension)])


def _arrays(draw: Draw) -> list[Floats]:
    """The location of the optimum, and the further arguments of the function: matrices first."""
    x_opt = draw.x_opt()
    factor = max(1.0, sqrt(draw.dimension) / 8.0)
    match draw.id:
        case 1:
            return [x_opt, np.ones(draw.dimension)]
        case 2:
            return [x_opt, draw.powers(1e6)]
        case 3:
            return [x_opt, draw.powers(10.0, 0.5)]
        case 4:
            x_opt[::2] = np.abs(x_opt[::2])
            return [x_opt, draw.powers(sqrt(10.0))]
        case 5:
            signs = np.where(x_opt < 0.0, -1.0, 1.0)
            return [5.0 * signs, signs * draw.powers(10.0)]
        case 6 | 13:
            return [x_opt, draw.r_lambda_q(sqrt(10.0))]
        case 7:
            scaled = np.sqrt(draw.powers(10.0)) * draw.q()
            return [x_opt, scaled, draw.r(), draw.powers(100.0)]
        case 8:
            return [0.75 * x_opt]
        case 9:
            q = draw.q()
            return [_row_sums(q) / (2.0 * factor), factor * q]
        case 10:
            return [x_opt, draw.r(), draw.powers(1e6)]
        case 11 | 12:
            first, others = (1e6, 1.0) if draw.id == 11 else (1.0, 1e6)
            return [x_opt, draw.r(), np.array([first, *[others] * (draw.dimension - 1)])]
        case 14:
            exponents = 2.0 + 4.0 * (np.arange(draw.dimension) / (draw.dimension - 1.0))
            return [x_opt, draw.r(), exponents]
        case 15:
            return [x_opt, draw.r(), draw.r_lambda_q(sqrt(10.0))]
        case 16:
            return [x_opt, draw.r(), draw.r_lambda_q(0.1)]
        case 17 | 18:
            condition = 10.0 if draw.id == 17 else 1000.0
            return [x_opt, draw.r(), draw.powers(sqrt(condition)) * draw.q()]
        case 19:  # x_opt is ioh's, which above 64 variables is not the optimum of the function
            q = draw.q()
            lower = np.tri(draw.dimension, dtype=bool)
            x_opt = _row_sums(np.where(lower, factor * q, q)) / (2.0 * factor)
            return [x_opt, factor * q]
        case 20:
            signs = np.where(draw.uniform(draw.dimension) < 0.5, -1.0, 1.0)
            return [signs * (0.5 * 4.2096874637), draw.powers(10.0, 0.5)]
        case 21:
            return _gallagher(draw, peaks=101, half_width=5.0, condition=sqrt(1000.0))
        case 22:
            return _gallagher(draw, peaks=21, half_width=4.9, condition=1000.0)
        case 23:
            return [x_opt, draw.r_lambda_q(10.0)]
    x_opt = np.where(normal(draw.dimension, draw.seed) < 0.0, -1.25, 1.25)
    return [x_opt, draw.powers(10.0) * draw.q(), draw.r()]  # f24


def _row_sums(matrix: Floats) -> Floats:
    """The sums of the rows, their numbers added one after another."""
    return np.asarray(np.add.accumulate(matrix, axis=1)[:, -1])


def _gallagher(draw: Draw, peaks: int, half_width: float, condition: float) -> list[Floats]:
    """Peaks at random locations with random conditions; the first is the optimum."""
    d = draw.dimension
    q = draw.q()
    drawn = uniform_between(-half_width, half_width, d * peaks, draw.seed)
    locations = np.asarray(drawn).reshape(peaks, d)
    centres = np.array([multiply(location, q, 0.0) for location in locations])
    locations[0] *= draw.half_width / 5.0
    centres[0] *= draw.half_width / 5.0
    order = np.argsort(draw.uniform(peaks - 1), kind="stable")
    conditions = [condition, *(pow(1000.0, rank / (peaks - 2.0)) for rank in order.tolist())]
    scales = np.empty((peaks, d))
    for peak in range(peaks):
        order = np.argsort(draw.uniform(d, 1000 * peak), kind="stable")
        scales[peak] = [pow(conditions[peak], rank / (d - 1.0) - 0.5) for rank in order.tolist()]
    return [locations[0], q, centres.T, scales.T]
