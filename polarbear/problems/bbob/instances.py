"""The numbers that make one of BBOB's functions an instance: optimum, rotations, conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import floor, inf, pow, sqrt

import numpy as np

from polarbear.numerics.arrays import Floats
from polarbear.problems.bbob.loops.randomness import (
    normal,
    rotation,
    spread,
    stretched_between,
    turned,
    uniform,
)

FUNCTIONS = 24
FURTHER = 1_000_000  # from the seed of one stream of random numbers to that of another
SEEDED_AS = {4: 3, 18: 17}  # functions that share the random numbers of another
INT_RANGE = 2**32


@dataclass(frozen=True)
class Function:
    """One of the 24 functions with all that its loop needs."""

    id: int
    dimension: int
    place: Floats  # of its optimum
    best: float  # its value there
    penalty: float  # for each square unit outside of the box
    numbers: Floats  # rows of as many numbers as there are variables; the first is the place


def bbob_function(id: int, instance: int, dimension: int) -> Function:
    """A function of BBOB: its optimum in [-4, 4]^d, mostly, and defined outside the box as well."""
    return _function(Draw(id, instance, dimension, 4), _penalty(id, dimension))


def sbox_function(id: int, instance: int, dimension: int) -> Function:
    """A function of SBOX-COST: its optimum anywhere in the box, and inf outside of it."""
    return _function(Draw(id, instance, dimension, 5), inf)


def best_value(id: int, instance: int) -> float:
    """The value of a function's optimum, which no dimension and no box changes."""
    return Draw(id, instance, 2, 4).best()


def as_int(number: int) -> int:
    """A number as an int of C++ holds it: ioh's seeds of large instance ids wrap around."""
    return (number + INT_RANGE // 2) % INT_RANGE - INT_RANGE // 2


def _penalty(id: int, dimension: int) -> float:
    return {4: 100.0, 16: 10.0 / dimension, 17: 10.0, 18: 10.0, 23: 1.0}.get(id, 0.0)


def _function(draw: Draw, penalty: float) -> Function:
    place = draw.place()
    rows = RECIPES[draw.id](draw, place)
    numbers = np.concatenate([place, *(row.ravel() for row in rows)])
    return Function(draw.id, draw.dimension, place, draw.best(), penalty, numbers)


@dataclass(frozen=True)
class Draw:
    """What an instance is drawn from."""

    id: int
    instance: int
    dimension: int
    half_width: int  # of the box in which optima lie

    @property
    def seed(self) -> int:
        """Where its random numbers begin."""
        return SEEDED_AS.get(self.id, self.id) + as_int(10_000 * self.instance)

    def uniform(self, count: int, further: int = 0) -> Floats:
        drawn: Floats = uniform(count, self.seed + further)
        return drawn

    def place(self) -> Floats:
        """x_opt, as most functions have it."""
        shares = self.uniform(self.dimension, FURTHER if self.id == 12 else 0)
        place = 2 * self.half_width * np.floor(1e4 * shares) / 1e4 - self.half_width
        place[place == 0.0] = -1e-5
        return place

    def best(self) -> float:
        """f_opt: a ratio of normal numbers, to two digits and at most a thousand."""
        ratio = 100.0 * 100.0 * normal(1, self.seed)[0] / normal(1, self.seed + 1)[0]
        return float(min(1000.0, max(-1000.0, floor(ratio + 0.5) / 100.0)))

    # Matrices are transposed, as loops want them.

    def r(self) -> Floats:
        drawn: Floats = rotation(self.dimension, self.seed + FURTHER)
        return drawn

    def q(self) -> Floats:
        drawn: Floats = rotation(self.dimension, self.seed)
        return drawn

    def r_stretched_q(self, base: float) -> Floats:
        """R Λ Q, the elements of Λ being powers of the base from 0 to 1."""
        product: Floats = stretched_between(self.r(), self.powers(base), self.q())
        return product

    def powers(self, base: float) -> Floats:
        """base^((i - 1) / (d - 1)) for i from 1 to d."""
        return np.array([pow(base, i / (self.dimension - 1.0)) for i in range(self.dimension)])

    def half_powers(self, base: float) -> Floats:
        steps = range(self.dimension)
        return np.array([pow(base, 0.5 * i / (self.dimension - 1.0)) for i in steps])

    def rosenbrock_factor(self) -> float:
        return max(1.0, sqrt(self.dimension) / 8.0)


Rows = list[Floats]  # what follows the place among a function's numbers


def _only_the_place(draw: Draw, place: Floats) -> Rows:
    return []


def _ellipsoid(draw: Draw, place: Floats) -> Rows:
    return [draw.powers(1e6)]


def _rastrigin(draw: Draw, place: Floats) -> Rows:
    return [draw.half_powers(10.0)]


def _bueche_rastrigin(draw: Draw, place: Floats) -> Rows:
    place[::2] = np.abs(place[::2])
    return [draw.powers(sqrt(10.0))]


def _linear_slope(draw: Draw, place: Floats) -> Rows:
    signs = np.where(place < 0.0, -1.0, 1.0)
    place[:] = 5.0 * signs
    return [signs * draw.powers(10.0)]


def _r_stretched_q(draw: Draw, place: Floats, base: float) -> Rows:
    return [draw.r_stretched_q(base)]


def _step_ellipsoid(draw: Draw, place: Floats) -> Rows:
    stretched = np.sqrt(draw.powers(10.0)) * draw.q()
    return [draw.powers(100.0), stretched, draw.r()]


def _rosenbrock(draw: Draw, place: Floats) -> Rows:
    place *= 0.75
    return []


def _rosenbrock_rotated(draw: Draw, place: Floats) -> Rows:
    factor, q = draw.rosenbrock_factor(), draw.q()
    place[:] = _sums(q) / (2.0 * factor)
    return [factor * q]


def _griewank_rosenbrock(draw: Draw, place: Floats) -> Rows:
    # Where ioh has the optimum, which above 64 variables is not where the function has it.
    factor, q = draw.rosenbrock_factor(), draw.q()
    place[:] = _sums(np.where(np.tri(draw.dimension, dtype=bool), factor * q, q)) / (2.0 * factor)
    return [factor * q]


def _sums(rows: Floats) -> Floats:
    """The sum of each row, its numbers added one after another."""
    return np.asarray(np.add.accumulate(rows, axis=1)[:, -1])


def _ellipsoid_rotated(draw: Draw, place: Floats) -> Rows:
    return [draw.powers(1e6), draw.r()]


def _r(draw: Draw, place: Floats) -> Rows:
    return [draw.r()]


def _different_powers(draw: Draw, place: Floats) -> Rows:
    return [2.0 + 4.0 * (np.arange(draw.dimension) / (draw.dimension - 1.0)), draw.r()]


def _r_and_r_stretched_q(draw: Draw, place: Floats, base: float) -> Rows:
    return [draw.r(), draw.r_stretched_q(base)]


def _schaffers(draw: Draw, place: Floats, condition: float) -> Rows:
    return [draw.r(), draw.powers(sqrt(condition)) * draw.q()]


def _schwefel(draw: Draw, place: Floats) -> Rows:
    signs = np.where(draw.uniform(draw.dimension) < 0.5, -1.0, 1.0)
    place[:] = signs * (0.5 * 4.2096874637)
    return [draw.half_powers(10.0), signs]


def _gallagher(draw: Draw, place: Floats, peaks: int, half_width: float, condition: float) -> Rows:
    """Peaks with places and conditions of their own; the first is the optimum."""
    d, q = draw.dimension, draw.q()
    places = spread(draw.uniform(d * peaks), 2.0 * half_width, half_width).reshape(peaks, d)
    centres: Floats = turned(q, places)
    nearer = draw.half_width / 5.0
    place[:] = nearer * places[0]
    centres[0] *= nearer
    steps = np.argsort(draw.uniform(peaks - 1), kind="stable")
    conditions = [condition, *(pow(1000.0, step / (peaks - 2.0)) for step in steps)]
    scales = [_scales(draw, 1000 * peak, conditions[peak]) for peak in range(peaks)]
    return [q, centres.T, np.array(scales).T]


def _scales(draw: Draw, further: int, condition: float) -> list[float]:
    steps = np.argsort(draw.uniform(draw.dimension, further), kind="stable").tolist()
    return [pow(condition, step / (draw.dimension - 1.0) - 0.5) for step in steps]


def _lunacek(draw: Draw, place: Floats) -> Rows:
    place[:] = np.where(normal(draw.dimension, draw.seed) < 0.0, -1.25, 1.25)
    return [draw.powers(10.0) * draw.q(), draw.r()]


RECIPES: Mapping[int, Callable[[Draw, Floats], Rows]] = {
    1: _only_the_place,
    2: _ellipsoid,
    3: _rastrigin,
    4: _bueche_rastrigin,
    5: _linear_slope,
    6: partial(_r_stretched_q, base=sqrt(10.0)),
    7: _step_ellipsoid,
    8: _rosenbrock,
    9: _rosenbrock_rotated,
    10: _ellipsoid_rotated,
    11: _r,
    12: _r,
    13: partial(_r_stretched_q, base=sqrt(10.0)),
    14: _different_powers,
    15: partial(_r_and_r_stretched_q, base=sqrt(10.0)),
    16: partial(_r_and_r_stretched_q, base=0.1),
    17: partial(_schaffers, condition=10.0),
    18: partial(_schaffers, condition=1000.0),
    19: _griewank_rosenbrock,
    20: _schwefel,
    21: partial(_gallagher, peaks=101, half_width=5.0, condition=sqrt(1000.0)),
    22: partial(_gallagher, peaks=21, half_width=4.9, condition=1000.0),
    23: partial(_r_stretched_q, base=10.0),
    24: _lunacek,
}
