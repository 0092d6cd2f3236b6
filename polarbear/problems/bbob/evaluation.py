"""The value of a function, or of a mixture of functions, at a point."""

from __future__ import annotations

import math

from numba import njit

from polarbear.numerics.compiling import as_written
from polarbear.problems.bbob import multimodal, unimodal
from polarbear.problems.bbob.transformations import BOUND, squared_excess

SMALLEST_HEIGHT, LARGEST_HEIGHT = 1e-12, 1e20  # above the best value, in a mixture
ID, SIZE, F_OPT, PENALTY, WEIGHT, SCALE = range(6)  # columns of a table of functions


@njit(inline="always")
def height(id, x, numbers):
    """By how much function number ``id`` exceeds its best value at x."""
    d = len(x)
    x_opt, v = numbers[:d], numbers[d : 2 * d]
    a = numbers[2 * d : (2 + d) * d].reshape(-1, d)
    b = numbers[(2 + d) * d :].reshape(-1, d)
    if id == 1:
        return unimodal.sphere(x, x_opt)
    if id == 2:
        return unimodal.ellipsoid(x, x_opt, v)
    if id == 3:
        return unimodal.rastrigin(x, x_opt, v)
    if id == 4:
        return unimodal.bueche_rastrigin(x, x_opt, v)
    if id == 5:
        return unimodal.linear_slope(x, x_opt, v)
    if id == 6:
        return unimodal.attractive_sector(x, x_opt, a)
    if id == 7:
        return unimodal.step_ellipsoid(x, x_opt, v, a, b)
    if id == 8:
        return unimodal.rosenbrock(x, x_opt)
    if id == 9:
        return unimodal.rosenbrock_rotated(x, a)
    if id == 10:
        return unimodal.ellipsoid_rotated(x, x_opt, v, a)
    if id == 11:
        return unimodal.discus(x, x_opt, a)
    if id == 12:
        return unimodal.bent_cigar(x, x_opt, a)
    if id == 13:
        return unimodal.sharp_ridge(x, x_opt, a)
    if id == 14:
        return unimodal.different_powers(x, x_opt, v, a)
    if id == 15:
        return multimodal.rastrigin_rotated(x, x_opt, a, b)
    if id == 16:
        return multimodal.weierstrass(x, x_opt, a, b)
    if id in (17, 18):
        return multimodal.schaffers(x, x_opt, a, b)
    if id == 19:
        return multimodal.griewank_rosenbrock(x, a)
    if id == 20:
        return multimodal.schwefel(x, x_opt, v)
    if id in (21, 22):
        return multimodal.gallagher(x, a, b)
    if id == 23:
        return multimodal.katsuura(x, x_opt, a)
    return multimodal.lunacek_bi_rastrigin(x, x_opt, a, b)


@as_written
def value(x, functions, numbers, centre, mixes):
    """The value at a point of one function, or of several mixed on a logarithmic scale.

    ``functions`` has one row per function, and ``numbers`` the arrays of their instances, one after
    another. In a mixture, the optima of all functions are moved to the centre.
    """
    d = len(x)
    for i in range(d):
        if not math.isfinite(x[i]):
            return math.nan
    point = x.copy()
    total = found = 0.0
    start = 0
    for row in functions:
        arrays = numbers[start : start + int(row[SIZE])]
        start += int(row[SIZE])
        if mixes:  # in the order in which ManyAffine adds: near the optimum all digits depend on it
            for i in range(d):
                point[i] = x[i] + arrays[i] - centre[i]
        found = height(int(row[ID]), point, arrays) + row[F_OPT]
        if row[PENALTY] > 0.0:
            outside = squared_excess(point, BOUND)
            if outside > 0.0:
                found += row[PENALTY] * outside
        if mixes:
            above = found - row[F_OPT]
            if math.isnan(above):
                return above
            above = min(max(above, SMALLEST_HEIGHT), LARGEST_HEIGHT)
            total += (math.log10(above) + 8.0) / row[SCALE] * row[WEIGHT]
    return math.pow(10.0, 10.0 * total - 8.0) if mixes else found
