"""f15 to f19, of many optima with a structure that leads to the best."""

from __future__ import annotations

import math

import numpy as np

from polarbear.numerics.compiling import addressed_as_written
from polarbear.problems.bbob.loops.elementary import cosine, exponential, logarithm, sine
from polarbear.problems.bbob.loops.separable import rastrigin_of
from polarbear.problems.bbob.loops.sums import plus_product
from polarbear.problems.bbob.loops.transformations import (
    bend,
    exactly_oscillated,
    matrix,
    oscillate,
    row,
    shift,
    turn,
)

WAVES = 12
LOWEST = -(2.0 - 0.5 ** (WAVES - 1))  # of the waves' sum: each at its lowest


@addressed_as_written
def rastrigin_rotated(x, numbers, z, other):
    """f15."""
    d = len(x)
    shift(x, row(numbers, 0, d), other)
    turn(matrix(numbers, 1, d), 0.0, other, z)
    oscillate(z, other)
    bend(z, 0.2)
    turn(matrix(numbers, 1 + d, d), 0.0, z, other)
    return rastrigin_of(other)


@addressed_as_written
def weierstrass(x, numbers, z, other):
    """f16."""
    d = len(x)
    shift(x, row(numbers, 0, d), other)
    turn(matrix(numbers, 1, d), 0.0, other, z)
    for i in range(d):
        z[i] = exactly_oscillated(z[i])  # waves of 1e6 times as many turns follow
    turn(matrix(numbers, 1 + d, d), 0.0, z, other)
    waves = np.empty((d, WAVES))
    for i in range(d):
        angle = 2.0 * math.pi * (other[i] + 0.5)
        frequency = 1.0
        for k in range(WAVES):
            waves[i, k] = angle * frequency
            frequency *= 3.0
    heights = waves.reshape(-1)
    for k in range(len(heights)):
        heights[k] = cosine(heights[k])
    total = 0.0
    for i in range(d):
        amplitude = 1.0
        for k in range(WAVES):
            total = plus_product(total, waves[i, k], amplitude)
            amplitude *= 0.5
    return 10.0 * math.pow(total / d - LOWEST, 3.0)


@addressed_as_written
def schaffers(x, numbers, z, other):
    """f17, and with another matrix f18."""
    d = len(x)
    shift(x, row(numbers, 0, d), other)
    turn(matrix(numbers, 1, d), 0.0, other, z)
    bend(z, 0.5)
    turn(matrix(numbers, 1 + d, d), 0.0, z, other)
    # step by step, as points are oscillated
    for i in range(d - 1):
        z[i] = plus_product(other[i] * other[i], other[i + 1], other[i + 1])
    for i in range(d - 1):
        other[i] = logarithm(z[i])  # of 0, some number: what comes of it is multiplied by 0
    for i in range(d - 1):
        other[i] = exponential(0.1 * other[i])
    for i in range(d - 1):
        other[i] = sine(50.0 * other[i])
    total = 0.0
    for i in range(d - 1):
        total += math.sqrt(math.sqrt(z[i])) * plus_product(1.0, other[i], other[i])
    mean = total / (d - 1.0)
    return mean * mean


@addressed_as_written
def griewank_rosenbrock(x, numbers, z, other):
    """f19."""
    d = len(x)
    turn(matrix(numbers, 1, d), 0.0, x, z)
    for i in range(d):
        z[i] = z[i] + 0.5
    total = 0.0
    for i in range(d - 1):
        across = z[i] * z[i] - z[i + 1]
        slope = 1.0 - z[i]
        height = plus_product(slope * slope, 100.0, across * across)
        total += height / 4000.0 - math.cos(height)
    return 10.0 + 10.0 * total / (d - 1.0)
