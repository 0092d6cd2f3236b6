"""The 24 functions of BBOB, and the transformations they are made of.

Each function takes a point x, or z = x - x_opt, which it may overwrite, and the further arrays of
its instance (`instances.py`). It returns by how much the value at the point exceeds the best.
Points are row vectors. Sums are in the order in which ioh has them, so that values agree to the
last digits.

Python calls only `value`, once for each point, because a call of compiled code with several arrays
takes as long as most functions. There is one entry, as a second one would take as long to compile.
"""

import math

import numpy as np
from numba import njit

from polarbear.numerics.compiling import CONTRACTED, compiled

# Numba compiles again when this file changes, so that the settings of its loops are written here.
SETTINGS = {
    "nogil": True,
    "error_model": "numpy",  # Python's check for a division by zero would prevent vectorisation
    "no_cfunc_wrapper": True,  # loops are not called from C, and a wrapper takes time to compile
}
fused = compiled(**SETTINGS, fastmath=CONTRACTED)
fused_inner = compiled(**SETTINGS, fastmath=CONTRACTED, no_cpython_wrapper=True)
rounded = compiled(**SETTINGS)  # a product is rounded before it is added to something
copied = njit(inline="always")  # into the loop that calls it, and compiled only with it

BOUND = 5.0  # the box is [-5, 5]^d
WEIERSTRASS_WAVES = 12
# The sum of Weierstrass' waves where each is lowest.
LOWEST_WEIERSTRASS_SUM = -(2.0 - 0.5 ** (WEIERSTRASS_WAVES - 1))
SCHWEFEL_OFFSET = 418.9828872724339
# Heights of the peaks of Gallagher's functions.
HIGHEST_PEAK = 10.0
SECOND_PEAK = 9.1
LOWEST_PEAK = 1.1
KATSUURA_BITS = 32
LUNACEK_MU_0 = 2.5
# Heights above the best value are clipped to this interval in a mixture.
SMALLEST_HEIGHT = 1e-12
LARGEST_HEIGHT = 1e20
# The row of one function of a mixture, whose arrays end at ``end``.
NUMBERS = ("f_opt", "penalty", "scale", "weight")
PART = np.dtype([("id", int), ("end", int), *((name, float) for name in NUMBERS)])


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
def oscillation(value):
    """Ten times the logarithm of |T_osz|, for any value but zero."""
    log = math.log(abs(value)) / 0.1
    if value > 0.0:
        return log + 0.49 * (math.sin(log) + math.sin(0.79 * log))
    return log + 0.49 * (math.sin(0.55 * log) + math.sin(0.31 * log))


@fused_inner
def oscillated(value):
    """T_osz of one number."""
    if value == 0.0:
        return value
    return math.copysign(math.exp(0.1 * oscillation(value)), value)


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


@fused_inner
def weighted_squares(z, weights):
    """f1, with weights of one."""
    total = 0.0
    for i in range(len(z)):
        total += weights[i] * z[i] * z[i]
    return total


@fused_inner
def ellipsoid(z, weights):
    """f2, and f10 and f11 with z rotated."""
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
def rastrigin(z, factors):
    """f3."""
    oscillate(z)
    make_asymmetric(z, 0.2)
    return rastrigin_of(factors * z)


@fused_inner
def bueche_rastrigin(z, factors):
    """f4."""
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
def attractive_sector(z, x_opt, matrix):
    """f6."""
    z = multiply(z, matrix, 0.0)
    total = 0.0
    for i in range(len(z)):
        steeper = 1e4 if x_opt[i] * z[i] > 0.0 else 1.0
        total += z[i] * z[i] * steeper
    return math.pow(oscillated(total), 0.9)


@fused_inner
def step_ellipsoid(x, z, first, second, weights):
    """f7.

    By the definition the first coordinate counts before it is rounded. In ioh, and so in published
    data, it counts after.
    """
    z = multiply(z, first, 0.0)
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
def rosenbrock(z):
    """f8."""
    factor = max(1.0, math.sqrt(len(z)) / 8.0)
    return rosenbrock_of(factor * z + 1.0)


@fused_inner
def bent_cigar(z, matrix, weights):
    """f12."""
    z = multiply(z, matrix, 0.0)
    make_asymmetric(z, 0.5)
    return weighted_squares(multiply(z, matrix, 0.0), weights)


@fused_inner
def sharp_ridge(z, matrix):
    """f13; above 40 variables, one per 40 lies along the ridge."""
    z = multiply(z, matrix, 0.0)
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
def different_powers(z, matrix, exponents):
    """f14."""
    z = multiply(z, matrix, 0.0)
    total = 0.0
    for i in range(len(z)):
        total += math.pow(abs(z[i]), exponents[i])
    return math.sqrt(total)


@fused_inner
def rastrigin_rotated(z, first, second):
    """f15."""
    z = multiply(z, first, 0.0)
    oscillate(z)
    make_asymmetric(z, 0.2)
    return rastrigin_of(multiply(z, second, 0.0))


@fused_inner
def weierstrass(z, first, second):
    """f16, which oscillates z with ioh's rounding: its waves magnify an error by up to 3^11."""
    z = multiply(z, first, 0.0)
    for i in range(len(z)):
        if z[i] != 0.0:
            z[i] = math.copysign(math.pow(math.exp(oscillation(z[i])), 0.1), z[i])
    z = multiply(z, second, 0.0)
    total = 0.0
    for i in range(len(z)):
        frequency = amplitude = 1.0
        for _ in range(WEIERSTRASS_WAVES):
            total += amplitude * math.cos(2.0 * math.pi * (z[i] + 0.5) * frequency)
            amplitude *= 0.5
            frequency *= 3.0
    return 10.0 * math.pow(total / len(z) - LOWEST_WEIERSTRASS_SUM, 3.0)


@fused_inner
def schaffers(z, first, second):
    """f17, and with another matrix f18."""
    z = multiply(z, first, 0.0)
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
    squares = z * z
    slopes = (1.0 - z) * (1.0 - z)
    total = 0.0
    for i in range(len(z) - 1):
        across = squares[i] - z[i + 1]
        height = 100.0 * (across * across) + slopes[i]
        total += height / 4000.0 - math.cos(height)
    return 10.0 + 10.0 * total / (len(z) - 1.0)


@fused_inner
def schwefel(x, x_opt, factors):
    """f20."""
    d = len(x)
    best = 2.0 * np.abs(x_opt)
    z = 2.0 * np.sign(x_opt) * x
    for i in range(d - 1, 0, -1):
        z[i] += 0.25 * (z[i - 1] - best[i - 1])
    z = factors * (z - best)
    z = 100.0 * (z + best)
    total = multiply(np.sin(np.sqrt(np.abs(z))), z.reshape(d, 1), 0.0)[0]
    return 0.01 * (squared_excess(z, 500.0) + SCHWEFEL_OFFSET - total / d)


@fused_inner
def gallagher(x, matrix, centres, scales):
    """f21 and f22, which differ in the number of peaks."""
    d, peaks = centres.shape
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
def katsuura(z, matrix):
    """f23."""
    d = len(z)
    z = multiply(z, matrix, 0.0)
    sums = np.zeros(d)
    power = 1.0
    for _ in range(KATSUURA_BITS):
        power *= 2.0
        inverse = 1.0 / power
        for i in range(d):
            scaled = power * z[i]
            sums[i] += abs(scaled - np.floor(scaled + 0.5)) * inverse
    product = 1.0
    for i in range(d):
        product *= math.pow(1.0 + (i + 1.0) * sums[i], 10.0 / math.pow(d, 1.2))
    return 10.0 / d / d * (product - 1.0)


@fused_inner
def lunacek_bi_rastrigin(x, x_opt, first, second):
    """f24."""
    d = len(x)
    s = 1.0 - 0.5 / (math.sqrt(d + 20.0) - 4.1)
    mu_1 = -math.sqrt((LUNACEK_MU_0 * LUNACEK_MU_0 - 1.0) / s)
    near = far = 0.0
    z = np.empty(d)
    for i in range(d):
        doubled = 2.0 * x[i] if x_opt[i] > 0.0 else -2.0 * x[i]
        z[i] = doubled - LUNACEK_MU_0
        near += (doubled - LUNACEK_MU_0) * (doubled - LUNACEK_MU_0)
        far += (doubled - mu_1) * (doubled - mu_1)
    z = multiply(multiply(z, first, 0.0), second, 0.0)
    waves = 0.0
    for i in range(d):
        waves += math.cos(2.0 * math.pi * z[i])
    nearer = min(near, s * far + d)
    return 1e4 * squared_excess(x, BOUND) + (10.0 * (d - waves) + nearer)


@copied
def height(id, x, arrays):
    """By how much a function exceeds its best value; its arrays follow each other in one."""
    d = len(x)
    x_opt = arrays[:d]
    rest = arrays[d:]
    z = x - x_opt
    if id == 1:
        return weighted_squares(z, rest)
    if id == 2:
        return ellipsoid(z, rest)
    if id == 3:
        return rastrigin(z, rest)
    if id == 4:
        return bueche_rastrigin(z, rest)
    if id == 5:
        return linear_slope(x, x_opt, rest)
    if id == 8:
        return rosenbrock(z)
    if id == 20:
        return schwefel(x, x_opt, rest)
    first = rest[: d * d].reshape(d, d)
    rest = rest[d * d :]
    if id == 6:
        return attractive_sector(z, x_opt, first)
    if id == 9:
        return rosenbrock_of(multiply(x, first, 0.5))
    if id == 10 or id == 11:
        return ellipsoid(multiply(z, first, 0.0), rest)
    if id == 12:
        return bent_cigar(z, first, rest)
    if id == 13:
        return sharp_ridge(z, first)
    if id == 14:
        return different_powers(z, first, rest)
    if id == 19:
        return griewank_rosenbrock(x, first)
    if id == 21 or id == 22:
        centres = rest[: len(rest) // 2]
        scales = rest[len(rest) // 2 :]
        return gallagher(x, first, centres.reshape(d, -1), scales.reshape(d, -1))
    if id == 23:
        return katsuura(z, first)
    second = rest[: d * d].reshape(d, d)
    rest = rest[d * d :]
    if id == 7:
        return step_ellipsoid(x, z, first, second, rest)
    if id == 15:
        return rastrigin_rotated(z, first, second)
    if id == 16:
        return weierstrass(z, first, second)
    if id == 24:
        return lunacek_bi_rastrigin(x, x_opt, first, second)
    return schaffers(z, first, second)  # f17 and f18


@rounded
def value(x, centre, parts, arrays):
    """The value of a function, or of a mixture, at any point.

    The arrays of the functions follow each other in one. A function whose weight is zero is alone;
    those of a mixture are evaluated at x + x_opt - centre. Sums are in the order in which ioh's
    ManyAffine adds: near the optimum all digits depend on it.
    """
    for coordinate in x:
        if not math.isfinite(coordinate):
            return math.nan
    total = 0.0
    start = 0
    for k in range(len(parts)):
        part = parts[k]
        moved = x if part.weight == 0.0 else x + arrays[start : start + len(x)] - centre
        part_value = height(part.id, moved, arrays[start : part.end]) + part.f_opt
        if part.penalty > 0.0:
            outside = squared_excess(moved, BOUND)
            if outside > 0.0:
                part_value += part.penalty * outside
        if part.weight == 0.0 or math.isnan(part_value):
            return part_value
        above = min(max(part_value - part.f_opt, SMALLEST_HEIGHT), LARGEST_HEIGHT)
        total += (math.log10(above) + 8.0) / part.scale * part.weight
        start = part.end
    return math.pow(10.0, 10.0 * total - 8.0)
