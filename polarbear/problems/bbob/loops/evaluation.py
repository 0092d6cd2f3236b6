"""The value of a function, or of a mixture of functions, at a point or at many."""

from __future__ import annotations

import math

import numpy as np

from polarbear.numerics.compiling import inner_as_written, kernel_as_written
from polarbear.problems.bbob.loops.by_address import height_at
from polarbear.problems.bbob.loops.sums import plus_product
from polarbear.problems.bbob.loops.transformations import BOUND, beyond

SMALLEST, LARGEST = 1e-12, 1e20  # heights that count in a mixture
PART = 4  # numbers of a mixture's part, before those of its function


@inner_as_written
def one_value(x, address, numbers, best, penalty, z, other):
    for i in range(len(x)):
        if not math.isfinite(x[i]):
            return math.nan
    value = height_at(address, x, numbers, z, other) + best
    if penalty > 0.0:
        outside = beyond(x, BOUND)
        if outside > 0.0:
            value = value + penalty * outside
    return value


@kernel_as_written
def value(x, address, numbers, best, penalty):
    """The value of one function at one point."""
    room = np.empty((2, len(x)))
    return one_value(x, address, numbers, best, penalty, room[0], room[1])


@kernel_as_written
def values(points, address, numbers, best, penalty):
    """The values of one function at many points."""
    room = np.empty((2, points.shape[1]))
    found = np.empty(len(points))
    for p in range(len(points)):
        found[p] = one_value(points[p], address, numbers, best, penalty, room[0], room[1])
    return found


@inner_as_written
def one_mixed_value(x, whole, numbers, room):
    """``whole`` has each part's address, and where its numbers begin and end; before them stand its
    best value, penalty, weight and scale, and before all the centre.
    """
    d = len(x)
    place = room[2]
    total = 0.0
    for k in range(len(whole)):
        address, start, stop = whole[k]
        own = numbers[start:stop]
        best, penalty, weight, scale = numbers[start - PART : start]
        # In the order in which ManyAffine adds: near the optimum all digits hang on it.
        for i in range(d):
            place[i] = x[i] + own[i] - numbers[i]
        height = one_value(place, address, own, best, penalty, room[0], room[1]) - best
        if math.isnan(height):
            return height
        height = min(max(height, SMALLEST), LARGEST)
        total = plus_product(total, (math.log10(height) + 8.0) / scale, weight)
    return math.pow(10.0, plus_product(-8.0, 10.0, total))


@kernel_as_written
def mixed_value(x, whole, numbers):
    """The value of a mixture at one point."""
    return one_mixed_value(x, whole, numbers, np.empty((3, len(x))))


@kernel_as_written
def mixed_values(points, whole, numbers):
    """The values of a mixture at many points."""
    room = np.empty((3, points.shape[1]))
    found = np.empty(len(points))
    for p in range(len(points)):
        found[p] = one_mixed_value(points[p], whole, numbers, room)
    return found
