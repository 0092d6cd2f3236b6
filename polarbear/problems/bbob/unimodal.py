"""f1 to f14: the separable functions, and those with low or high conditioning.

Each takes a point, the location of the optimum and what else defines its instance
(`instances.py`), and returns by how much the value there exceeds the best.
"""

from __future__ import annotations

import math

import numpy as np

from polarbear.numerics.compiling import fused_inner
from polarbear.problems.bbob.transformations import (
    BOUND,
    make_asymmetric,
    multiply,
    oscillate,
    oscillated,
    squared_excess,
)

CONDITION = 1e6


@fused_inner
def sphere(x, x_opt):
    """f1."""
    total = 0.0
    for i in range(len(x)):
        z = x[i] - x_opt[i]
        total += z * z
    return total


@fused_inner
def weighted_squares(z, weights):
    total = 0.0
    for i in range(len(z)):
        total += weights[i] * z[i] * z[i]
    return total


@fused_inner
def ellipsoid(x, x_opt, weights):
    """f2."""
    z = x - x_opt
    oscillate(z)
    return weighted_squares(z, weights)


@fused_inner
def rastrigin_of(z):
    squares = waves = 0.0
    for i in range(len(z)):
        squares += z[i] * z[i]
        waves += math.cos(2.0 * math.pi * z[i])
    if math.isinf(squares):
        return squares
    return 10.0 * (len(z) - waves) + squares


@fused_inner
def rastrigin(x, x_opt, factors):
    """f3."""
    z = x - x_opt
    oscillate(z)
    make_asymmetric(z, 0.2)
    return rastrigin_of(factors * z)


@fused_inner
def bueche_rastrigin(x, x_opt, factors):
    """f4."""
    z = x - x_opt
    oscillate(z)
    for i in range(len(z)):
        steeper = 10.0 if z[i] > 0.0 and i % 2 == 0 else 1.0
        z[i] = steeper * factors[i] * z[i]
    return rastrigin_of(z)


@fused_inner
def linear_slope(x, x_opt, slopes):
    """f5."""
    heights = 5.0 * np.abs(slopes)
    total = 0.0
    for i in range(len(x)):
        z = x[i] if x[i] * x_opt[i] < 25.0 else x_opt[i]
        total += heights[i] - slopes[i] * z
    return total


@fused_inner
def attractive_sector(x, x_opt, matrix):
    """f6."""
    z = multiply(x - x_opt, matrix, 0.0)
    total = 0.0
    for i in range(len(z)):
        steeper = 1e4 if x_opt[i] * z[i] > 0.0 else 1.0
        total += z[i] * z[i] * steeper
    return math.pow(oscillated(total), 0.9)


@fused_inner
def step_ellipsoid(x, x_opt, weights, first, second):
    """f7.

    By the definition the first coordinate counts before it is rounded. In ioh, and so in published
    data, it counts after.
    """
    z = multiply(x - x_opt, first, 0.0)
    for i in range(len(z)):
        if abs(z[i]) > 0.5:
            z[i] = math.floor(z[i] + 0.5)
        else:
            z[i] = math.floor(10.0 * z[i] + 0.5) / 10.0
    total = weighted_squares(multiply(z, second, 0.0), weights)
    return 0.1 * max(abs(z[0]) * 1e-4, total) + squared_excess(x, BOUND)


@fused_inner
def rosenbrock_of(z):
    squares = z * z  # rounded, as in ioh
    valley = slope = 0.0
    for i in range(len(z) - 1):
        across = squares[i] - z[i + 1]
        valley += across * across
        slope += (z[i] - 1.0) * (z[i] - 1.0)
    return 100.0 * valley + slope


@fused_inner
def rosenbrock(x, x_opt):
    """f8."""
    factor = max(1.0, math.sqrt(len(x)) / 8.0)
    z = factor * (x - x_opt)
    return rosenbrock_of(z + 1.0)


@fused_inner
def rosenbrock_rotated(x, matrix):
    """f9."""
    return rosenbrock_of(multiply(x, matrix, 0.5))


@fused_inner
def ellipsoid_rotated(x, x_opt, weights, matrix):
    """f10."""
    z = multiply(x - x_opt, matrix, 0.0)
    oscillate(z)
    return weighted_squares(z, weights)


@fused_inner
def discus(x, x_opt, matrix):
    """f11."""
    z = multiply(x - x_opt, matrix, 0.0)
    oscillate(z)
    total = CONDITION * z[0] * z[0]
    for i in range(1, len(z)):
        total += z[i] * z[i]
    return total


@fused_inner
def bent_cigar(x, x_opt, matrix):
    """f12."""
    z = multiply(x - x_opt, matrix, 0.0)
    make_asymmetric(z, 0.5)
    z = multiply(z, matrix, 0.0)
    total = z[0] * z[0]
    for i in range(1, len(z)):
        total += CONDITION * z[i] * z[i]
    return total


@fused_inner
def sharp_ridge(x, x_opt, matrix):
    """f13; above 40 variables, one per 40 lies along the ridge."""
    z = multiply(x - x_opt, matrix, 0.0)
    d = len(z)
    along = math.ceil(d / 40.0) if d > 40 else 1
    across = 0.0
    for i in range(along, d):
        across += z[i] * z[i]
    total = 100.0 * math.sqrt(across / along)
    for i in range(along):
        total += z[i] * z[i] / along
    return total


@fused_inner
def different_powers(x, x_opt, exponents, matrix):
    """f14."""
    z = multiply(x - x_opt, matrix, 0.0)
    total = 0.0
    for i in range(len(z)):
        total += math.pow(abs(z[i]), exponents[i])
    return math.sqrt(total)
