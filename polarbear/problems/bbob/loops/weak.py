"""f20 to f24, of many optima without a structure that leads to the best."""

from __future__ import annotations

import math

import numpy as np

from polarbear.numerics.compiling import addressed_as_written
from polarbear.problems.bbob.loops.elementary import exponential
from polarbear.problems.bbob.loops.sums import plus_product
from polarbear.problems.bbob.loops.transformations import (
    BOUND,
    beyond,
    matrix,
    oscillated,
    raise_to,
    row,
    shift,
    stretch,
    turn,
    waves,
)

SCHWEFEL = 418.9828872724339
HIGHEST, LOWEST_PEAK, SECOND_PEAK = 10.0, 1.1, 9.1
BITS = 32
HILL = 2.5  # μ0 of f24


@addressed_as_written
def schwefel(x, numbers, z, other):
    """f20."""
    d = len(x)
    best, signs = row(numbers, 0, d), row(numbers, 2, d)
    for i in range(d):
        other[i] = 2.0 * (signs[i] * x[i])
    z[0] = other[0]
    for i in range(1, d):
        z[i] = plus_product(other[i], 0.25, other[i - 1] - 2.0 * abs(best[i - 1]))
    for i in range(d):
        z[i] = z[i] - 2.0 * abs(best[i])
    stretch(row(numbers, 1, d), z)
    for i in range(d):
        z[i] = z[i] + 2.0 * abs(best[i])
    for i in range(d):
        z[i] = 100.0 * z[i]
    total = 0.0
    for i in range(d):
        total = plus_product(total, z[i], math.sin(math.sqrt(abs(z[i]))))
    return 0.01 * (beyond(z, 500.0) + SCHWEFEL - total / d)


@addressed_as_written
def gallagher(x, numbers, z, other):
    """f21 and f22, which differ in the number of peaks."""
    d = len(x)
    peaks = (len(numbers) // d - 1 - d) // 2
    first = (1 + d) * d
    centres = numbers[first : first + peaks * d].reshape(d, peaks)
    scales = numbers[first + peaks * d :].reshape(d, peaks)
    turn(matrix(numbers, 1, d), 0.0, x, z)
    squares = np.zeros(peaks)
    whole = d - d % 4
    for j in range(0, whole, 4):  # four at once, so that sums are read and written less often
        a, b, c, e = z[j], z[j + 1], z[j + 2], z[j + 3]
        for p in range(peaks):
            one, two = a - centres[j, p], b - centres[j + 1, p]
            three, four = c - centres[j + 2, p], e - centres[j + 3, p]
            total = plus_product(squares[p], scales[j, p], one * one)
            total = plus_product(total, scales[j + 1, p], two * two)
            total = plus_product(total, scales[j + 2, p], three * three)
            squares[p] = plus_product(total, scales[j + 3, p], four * four)
    for j in range(whole, d):
        for p in range(peaks):
            away = z[j] - centres[j, p]
            squares[p] = plus_product(squares[p], scales[j, p], away * away)
    factor = -0.5 / d
    heights = np.empty(peaks)
    for p in range(peaks):
        share = (p - 1.0) / (peaks - 2.0)
        value = plus_product(LOWEST_PEAK, share, SECOND_PEAK - LOWEST_PEAK)
        heights[p] = (value if p > 0 else HIGHEST) * exponential(factor * squares[p])
    top = 0
    for p in range(1, peaks):
        if heights[p] > heights[top]:
            top = p
    # near the optimum all digits hang on the last of this one
    value = plus_product(LOWEST_PEAK, (top - 1.0) / (peaks - 2.0), SECOND_PEAK - LOWEST_PEAK)
    highest = (value if top > 0 else HIGHEST) * math.exp(factor * squares[top])
    height = oscillated(HIGHEST - highest)
    return plus_product(beyond(x, BOUND), height, height)


@addressed_as_written
def katsuura(x, numbers, z, other):
    """f23."""
    d = len(x)
    shift(x, row(numbers, 0, d), other)
    turn(matrix(numbers, 1, d), 0.0, other, z)
    for i in range(d):
        other[i] = 0.0
    power = 1.0
    for _ in range(0, BITS, 4):  # four at once, so that sums are read and written less often
        for i in range(d):
            total, factor = other[i], power
            for _ in range(4):
                factor *= 2.0
                away = abs(factor * z[i] - np.floor(factor * z[i] + 0.5))
                total = plus_product(total, away, 1.0 / factor)
            other[i] = total
        power *= 16.0
    exponent = 10.0 / math.pow(d, 1.2)
    for i in range(d):
        z[i], other[i] = plus_product(1.0, i + 1.0, other[i]), exponent
    raise_to(z, other)
    product = 1.0
    for i in range(d):
        product *= z[i]
    return 10.0 / d / d * (-1.0 + product)


@addressed_as_written
def lunacek_bi_rastrigin(x, numbers, z, other):
    """f24."""
    d = len(x)
    best = row(numbers, 0, d)
    depth = 1.0 - 0.5 / (math.sqrt(d + 20.0) - 4.1)
    second_hill = -math.sqrt((HILL * HILL - 1.0) / depth)
    near = far = 0.0
    for i in range(d):
        place = 2.0 * x[i] if best[i] > 0.0 else -2.0 * x[i]
        near = plus_product(near, place - HILL, place - HILL)
        far = plus_product(far, place - second_hill, place - second_hill)
        other[i] = place - HILL
    turn(matrix(numbers, 1, d), 0.0, other, z)
    turn(matrix(numbers, 1 + d, d), 0.0, z, other)
    nearer = min(near, plus_product(1.0 * d, depth, far))
    return plus_product(plus_product(nearer, 10.0, d - waves(other)), 1e4, beyond(x, BOUND))
