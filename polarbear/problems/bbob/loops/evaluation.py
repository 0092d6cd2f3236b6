"""The value of a function, or of a mixture of functions, at a point or at many.

All that makes a problem is in one array, since each that is handed to compiled code takes time at
every point. Of a mixture it is the number of its parts, its centre, and the parts; of a function a
part. That is the bits of its loop's address, how many numbers it has, its best value and penalty,
its weight and scale in a mixture, and those numbers.
"""

from __future__ import annotations

import math

import numpy as np
from numba import carray  # type: ignore[attr-defined]

from polarbear.numerics.bits import float_to_bits
from polarbear.numerics.compiling import brief_as_written, inner_as_written, kernel_as_written
from polarbear.problems.bbob.loops.by_address import height_at, on_the_stack, uncounted
from polarbear.problems.bbob.loops.sums import plus_product
from polarbear.problems.bbob.loops.transformations import BOUND, beyond

SMALLEST, LARGEST = 1e-12, 1e20  # heights that count in a mixture
PART = 6  # numbers of a part before those of its function


@inner_as_written
def all_finite(x):
    found = True
    for i in range(len(x)):
        found &= math.isfinite(x[i])
    return found


@inner_as_written
def part_value(x, part, numbers, z, other):
    best, penalty = part[2], part[3]
    value = height_at(float_to_bits(part[0]), x, numbers, z, other) + best
    if penalty > 0.0:
        outside = beyond(x, BOUND)
        if outside > 0.0:
            value = value + penalty * outside
    return value


@inner_as_written
def one_value(x, problem, room):
    if not all_finite(x):
        return math.nan
    x, problem, room = uncounted(x), uncounted(problem), uncounted(room)
    return part_value(x, problem[:PART], problem[PART:], room[0], room[1])


@brief_as_written
def value(x, problem):
    """The value of one function at one point, which takes its room from the stack."""
    return one_value(x, problem, carray(on_the_stack(2 * len(x)), (2, len(x))))


@kernel_as_written
def values(points, problem):
    """The values of one function at many points."""
    room = np.empty((2, points.shape[1]))
    found = np.empty(len(points))
    for p in range(len(points)):
        found[p] = one_value(points[p], problem, room)
    return found


@inner_as_written
def one_mixed_value(x, problem, room):
    if not all_finite(x):
        return math.nan
    x, problem, room = uncounted(x), uncounted(problem), uncounted(room)
    d = len(x)
    centre, place = problem[1 : 1 + d], room[2]
    total, stop = 0.0, 1 + d
    for _ in range(int(problem[0])):
        start = stop + PART
        part = problem[stop:start]
        stop = start + int(part[1])
        numbers = problem[start:stop]
        best, weight, scale = part[2], part[4], part[5]
        # In the order in which ManyAffine adds: near the optimum all digits hang on it.
        for i in range(d):
            place[i] = x[i] + numbers[i] - centre[i]
        found = part_value(place, part, numbers, room[0], room[1])
        height = found - best
        if math.isnan(height):
            return height
        height = min(max(height, SMALLEST), LARGEST)
        total = plus_product(total, (math.log10(height) + 8.0) / scale, weight)
    return math.pow(10.0, plus_product(-8.0, 10.0, total))


@brief_as_written
def mixed_value(x, problem):
    """The value of a mixture at one point, which takes its room from the stack."""
    return one_mixed_value(x, problem, carray(on_the_stack(3 * len(x)), (3, len(x))))


@kernel_as_written
def mixed_values(points, problem):
    """The values of a mixture at many points."""
    room = np.empty((3, points.shape[1]))
    found = np.empty(len(points))
    for p in range(len(points)):
        found[p] = one_mixed_value(points[p], problem, room)
    return found
