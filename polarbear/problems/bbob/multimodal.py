"""f15 to f24: the multimodal functions, with and without a global structure.

Arguments and result are those of f1 to f14 (`unimodal.py`).
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
from polarbear.problems.bbob.unimodal import rastrigin_of

WAVES = 12  # of Weierstrass' function
LOWEST_SUM = -(2.0 - 0.5 ** (WAVES - 1))  # of the waves: each at its lowest
SCHWEFEL_OFFSET = 418.9828872724339
HIGHEST_PEAK, SECOND_PEAK, LOWEST_PEAK = 10.0, 9.1, 1.1
BITS = 32  # of Katsuura's function
MU_0 = 2.5  # of Lunacek's function


@fused_inner
def rastrigin_rotated(x, x_opt, first, second):
    """f15."""
    z = multiply(x - x_opt, first, 0.0)
    oscillate(z)
    make_asymmetric(z, 0.2)
    return rastrigin_of(multiply(z, second, 0.0))


@fused_inner
def weierstrass(x, x_opt, first, second):
    """f16."""
    z = multiply(x - x_opt, first, 0.0)
    oscillate(z)
    z = multiply(z, second, 0.0)
    total = 0.0
    for i in range(len(z)):
        frequency = amplitude = 1.0
        for _ in range(WAVES):
            total += amplitude * math.cos(2.0 * math.pi * (z[i] + 0.5) * frequency)
            amplitude *= 0.5
            frequency *= 3.0
    return 10.0 * math.pow(total / len(z) - LOWEST_SUM, 3.0)


@fused_inner
def schaffers(x, x_opt, first, second):
    """f17, and with another matrix f18."""
    z = multiply(x - x_opt, first, 0.0)
    make_asymmetric(z, 0.5)
    z = multiply(z, second, 0.0)
    squares = z * z
    total = 0.0
    for i in range(len(z) - 1):
        square = squares[i] + z[i + 1] * z[i + 1]
        wave = math.sin(50.0 * math.pow(square, 0.1))
        total += math.sqrt(math.sqrt(square)) * (1.0 + wave * wave)
    mean = total / (len(z) - 1.0)
    return mean * mean


@fused_inner
def griewank_rosenbrock(x, matrix):
    """f19."""
    z = multiply(x, matrix, 0.0) + 0.5
    squares, slopes = z * z, (1.0 - z) * (1.0 - z)
    total = 0.0
    for i in range(len(z) - 1):
        across = squares[i] - z[i + 1]
        height = 100.0 * (across * across) + slopes[i]
        total += height / 4000.0 - math.cos(height)
    return 10.0 + 10.0 * total / (len(z) - 1.0)


@fused_inner
def schwefel(x, x_opt, factors):
    """f20."""
    d, best = len(x), 2.0 * np.abs(x_opt)
    z = 2.0 * np.sign(x_opt) * x
    for i in range(d - 1, 0, -1):
        z[i] += 0.25 * (z[i - 1] - best[i - 1])
    z = factors * (z - best)
    z = 100.0 * (z + best)
    total = multiply(np.sin(np.sqrt(np.abs(z))), z.reshape(d, 1), 0.0)[0]
    return 0.01 * (squared_excess(z, 500.0) + SCHWEFEL_OFFSET - total / d)


@fused_inner
def gallagher(x, matrix, peaks_and_scales):
    """f21 and f22, which differ in the number of peaks."""
    d = len(x)
    both = peaks_and_scales.reshape(2, d, -1)
    centres, scales, peaks = both[0], both[1], both.shape[2]
    z = multiply(x, matrix, 0.0)
    squares = np.zeros(peaks)
    for j in range(d):
        for p in range(peaks):
            away = z[j] - centres[j, p]
            squares[p] += scales[j, p] * (away * away)
    highest = 0.0
    for p in range(peaks):
        peak = HIGHEST_PEAK
        if p > 0:
            peak = (p - 1.0) / (peaks - 2.0) * (SECOND_PEAK - LOWEST_PEAK) + LOWEST_PEAK
        highest = max(highest, peak * math.exp(-0.5 / d * squares[p]))
    height = oscillated(HIGHEST_PEAK - highest)
    return height * height + squared_excess(x, BOUND)


@fused_inner
def katsuura(x, x_opt, matrix):
    """f23."""
    d = len(x)
    z = multiply(x - x_opt, matrix, 0.0)
    sums = np.zeros(d)
    factor = 1.0
    for _ in range(BITS):
        factor *= 2.0
        for i in range(d):
            scaled = factor * z[i]
            sums[i] += abs(scaled - np.floor(scaled + 0.5)) / factor
    product = 1.0
    for i in range(d):
        product *= math.pow(1.0 + (i + 1.0) * sums[i], 10.0 / math.pow(d, 1.2))
    return 10.0 / d / d * (product - 1.0)


@fused_inner
def lunacek_bi_rastrigin(x, x_opt, first, second):
    """f24."""
    d = len(x)
    s = 1.0 - 0.5 / (math.sqrt(d + 20.0) - 4.1)
    mu_1 = -math.sqrt((MU_0 * MU_0 - 1.0) / s)
    near = far = 0.0
    z = np.empty(d)
    for i in range(d):
        doubled = 2.0 * x[i] if x_opt[i] > 0.0 else -2.0 * x[i]
        z[i] = doubled - MU_0
        near += (doubled - MU_0) * (doubled - MU_0)
        far += (doubled - mu_1) * (doubled - mu_1)
    z = multiply(multiply(z, first, 0.0), second, 0.0)
    waves = 0.0
    for i in range(d):
        waves += math.cos(2.0 * math.pi * z[i])
    nearer = min(near, s * far + d)
    return 1e4 * squared_excess(x, BOUND) + (10.0 * (d - waves) + nearer)
