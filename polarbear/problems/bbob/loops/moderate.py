"""f6 to f9, of low or moderate conditioning."""

from __future__ import annotations

import math

from polarbear.numerics.compiling import addressed_as_written, inner_as_written
from polarbear.problems.bbob.loops.sums import plus_product
from polarbear.problems.bbob.loops.transformations import (
    BOUND,
    beyond,
    matrix,
    oscillated,
    row,
    shift,
    turn,
)


@addressed_as_written
def attractive_sector(x, numbers, z, other):
    """f6."""
    d = len(x)
    best = row(numbers, 0, d)
    shift(x, best, other)
    turn(matrix(numbers, 1, d), 0.0, other, z)
    total = 0.0
    for i in range(d):
        steep = 1.0 + 9999.0 * (best[i] * z[i] > 0.0)
        total = plus_product(total, z[i] * z[i], steep)
    return math.pow(oscillated(total), 0.9)


@addressed_as_written
def step_ellipsoid(x, numbers, z, other):
    """f7."""
    d = len(x)
    conditions = row(numbers, 1, d)
    shift(x, row(numbers, 0, d), other)
    turn(matrix(numbers, 2, d), 0.0, other, z)
    for i in range(d):
        if abs(z[i]) > 0.5:
            z[i] = math.floor(z[i] + 0.5)
        else:
            z[i] = math.floor(10.0 * z[i] + 0.5) / 10.0
    turn(matrix(numbers, 2 + d, d), 0.0, z, other)
    total = 0.0
    for i in range(d):
        total = plus_product(total, conditions[i] * other[i], other[i])
    # By the definition the first coordinate counts as it was before it was rounded; in ioh, and so
    # in all data that came of it, as it is after.
    return plus_product(beyond(x, BOUND), 0.1, max(abs(z[0]) * 1e-4, total))


@inner_as_written
def rosenbrock_of(z):
    valley = slope = 0.0
    for i in range(len(z) - 1):
        across = z[i] * z[i] - z[i + 1]
        valley = plus_product(valley, across, across)
        slope = plus_product(slope, z[i] - 1.0, z[i] - 1.0)
    return plus_product(slope, 100.0, valley)


@addressed_as_written
def rosenbrock(x, numbers, z, other):
    """f8."""
    d = len(x)
    shift(x, row(numbers, 0, d), z)
    factor = max(1.0, math.sqrt(d) / 8.0)
    for i in range(d):
        z[i] = factor * z[i]
    for i in range(d):
        z[i] = z[i] + 1.0
    return rosenbrock_of(z)


@addressed_as_written
def rosenbrock_rotated(x, numbers, z, other):
    """f9."""
    turn(matrix(numbers, 1, len(x)), 0.5, x, z)
    return rosenbrock_of(z)
