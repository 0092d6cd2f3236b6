"""f10 to f14, of one optimum and high conditioning."""

from __future__ import annotations

import math

from polarbear.numerics.compiling import addressed_as_written
from polarbear.problems.bbob.loops.separable import ellipsoid_of
from polarbear.problems.bbob.loops.sums import plus_product
from polarbear.problems.bbob.loops.transformations import (
    bend,
    matrix,
    oscillate,
    raise_to,
    row,
    shift,
    turn,
)

CONDITION = 1e6


@addressed_as_written
def ellipsoid_rotated(x, numbers, z, other):
    """f10."""
    d = len(x)
    shift(x, row(numbers, 0, d), other)
    turn(matrix(numbers, 2, d), 0.0, other, z)
    oscillate(z, other)
    return ellipsoid_of(z, row(numbers, 1, d))


@addressed_as_written
def discus(x, numbers, z, other):
    """f11."""
    d = len(x)
    shift(x, row(numbers, 0, d), other)
    turn(matrix(numbers, 1, d), 0.0, other, z)
    oscillate(z, other)
    total = CONDITION * z[0] * z[0]
    for i in range(1, d):
        total = plus_product(total, z[i], z[i])
    return total


@addressed_as_written
def bent_cigar(x, numbers, z, other):
    """f12."""
    d = len(x)
    shift(x, row(numbers, 0, d), other)
    turn(matrix(numbers, 1, d), 0.0, other, z)
    bend(z, 0.5)
    turn(matrix(numbers, 1, d), 0.0, z, other)
    total = other[0] * other[0]
    for i in range(1, d):
        total = plus_product(total, CONDITION * other[i], other[i])
    return total


@addressed_as_written
def sharp_ridge(x, numbers, z, other):
    """f13; from 41 variables on, every 40 begun have one along the ridge."""
    d = len(x)
    shift(x, row(numbers, 0, d), other)
    turn(matrix(numbers, 1, d), 0.0, other, z)
    along = math.ceil(d / 40.0) if d > 40 else 1
    across = 0.0
    for i in range(along, d):
        across = plus_product(across, z[i], z[i])
    total = 100.0 * math.sqrt(across / along)
    for i in range(along):
        total += z[i] * z[i] / along
    return total


@addressed_as_written
def different_powers(x, numbers, z, other):
    """f14."""
    d = len(x)
    exponents = row(numbers, 1, d)
    shift(x, row(numbers, 0, d), other)
    turn(matrix(numbers, 2, d), 0.0, other, z)
    for i in range(d):
        z[i], other[i] = abs(z[i]), exponents[i]
    raise_to(z, other)
    total = 0.0
    for i in range(d):
        total += z[i]
    return math.sqrt(total)
