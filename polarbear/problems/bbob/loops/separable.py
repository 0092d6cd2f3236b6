"""f1 to f5, whose variables can be optimised one by one.

Like the functions of the other groups, each takes a point, the numbers of its instance, and room
for two vectors, and returns how far above its best value it is there.
"""

from __future__ import annotations

import math

from polarbear.numerics.compiling import addressed_as_written, inner_as_written
from polarbear.problems.bbob.loops.sums import plus_product
from polarbear.problems.bbob.loops.transformations import (
    bend,
    oscillate,
    row,
    shift,
    stretch,
    waves,
)


@addressed_as_written
def sphere(x, numbers, z, other):
    """f1."""
    shift(x, row(numbers, 0, len(x)), z)
    total = 0.0
    for i in range(len(z)):
        total = plus_product(total, z[i], z[i])
    return total


@inner_as_written
def ellipsoid_of(z, conditions):
    total = z[0] * z[0]
    for i in range(1, len(z)):
        total = plus_product(total, conditions[i] * z[i], z[i])
    return total


@addressed_as_written
def ellipsoid(x, numbers, z, other):
    """f2."""
    d = len(x)
    shift(x, row(numbers, 0, d), z)
    oscillate(z, other)
    return ellipsoid_of(z, row(numbers, 1, d))


@inner_as_written
def rastrigin_of(z):
    """z is overwritten."""
    squares = 0.0
    for i in range(len(z)):
        squares = plus_product(squares, z[i], z[i])
    if math.isinf(squares):
        return squares
    return plus_product(squares, 10.0, len(z) - waves(z))


@addressed_as_written
def rastrigin(x, numbers, z, other):
    """f3."""
    d = len(x)
    shift(x, row(numbers, 0, d), z)
    oscillate(z, other)
    bend(z, 0.2)
    stretch(row(numbers, 1, d), z)
    return rastrigin_of(z)


@addressed_as_written
def bueche_rastrigin(x, numbers, z, other):
    """f4."""
    d = len(x)
    factors = row(numbers, 1, d)
    shift(x, row(numbers, 0, d), z)
    oscillate(z, other)
    for i in range(d):
        factor = factors[i]
        if z[i] > 0.0 and i % 2 == 0:
            factor *= 10.0
        z[i] = factor * z[i]
    return rastrigin_of(z)


@addressed_as_written
def linear_slope(x, numbers, z, other):
    """f5."""
    d = len(x)
    best, slopes = row(numbers, 0, d), row(numbers, 1, d)
    total = 0.0
    for i in range(d):
        place = x[i] if x[i] * best[i] < 25.0 else best[i]
        total += plus_product(5.0 * abs(slopes[i]), -slopes[i], place)
    return total
