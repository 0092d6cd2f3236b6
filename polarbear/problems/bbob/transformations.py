"""BBOB's transformations of a point, and its boundary penalty.

All take row vectors. Sums are in the order in which ioh has them, so that values agree to the last
digits.
"""

from __future__ import annotations

import math

import numpy as np

from polarbear.numerics.compiling import fused, fused_inner

BOUND = 5.0  # the box is [-5, 5]^d


@fused
def multiply(x, matrix, start):
    """start + x @ matrix.

    The innermost loop goes over columns: LLVM rounds products of a sum that it vectorises.
    """
    z = np.full(matrix.shape[1], start)
    for j in range(len(x)):
        for i in range(len(z)):
            z[i] += x[j] * matrix[j, i]
    return z


@fused_inner
def oscillated(value):
    """T_osz of one number."""
    if value == 0.0:
        return value
    log = math.log(abs(value)) / 0.1
    if value > 0.0:
        waves = math.sin(log) + math.sin(0.79 * log)
    else:
        waves = math.sin(0.55 * log) + math.sin(0.31 * log)
    return math.copysign(math.pow(math.exp(log + 0.49 * waves), 0.1), value)


@fused_inner
def oscillate(z):
    """T_osz in place."""
    for i in range(len(z)):
        z[i] = oscillated(z[i])


@fused_inner
def make_asymmetric(z, beta):
    """T_asy in place: positive coordinates grow by a power that increases with their index."""
    last = len(z) - 1.0
    for i in range(len(z)):
        if z[i] > 0.0:
            z[i] = math.pow(z[i], 1.0 + beta * i / last * math.sqrt(z[i]))


@fused_inner
def squared_excess(x, bound):
    """f_pen: the squared distance of x from the box."""
    total = 0.0
    for i in range(len(x)):
        excess = max(abs(x[i]) - bound, 0.0)
        total += excess * excess
    return total
