"""What BBOB does to a point before a function sees it; z is changed in its place.

A function's numbers lie behind one another in a single array; ``row`` and ``matrix`` find them in
it, counted in rows of as many numbers as there are variables. Matrices are kept transposed, so that
a variable's share in one coordinate stands beside its share in the next.
"""

from __future__ import annotations

import math

from polarbear.numerics.compiling import inner_as_written, inner_fused
from polarbear.problems.bbob.loops.elementary import cosine, exponential, logarithm, sine
from polarbear.problems.bbob.loops.products import NARROW, WIDE, narrow_columns, wide_columns
from polarbear.problems.bbob.loops.sums import plus_product

BOUND = 5.0
TOO_FAR = 709.78  # no exponential of more is a number
FAR = 1e6  # whole turns; of more, `cosine` knows not all digits


@inner_as_written
def row(numbers, k, d):
    return numbers[k * d : (k + 1) * d]


@inner_as_written
def matrix(numbers, k, d):
    return numbers[k * d : (k + d) * d]


@inner_as_written
def shift(x, origin, z):
    for i in range(len(z)):
        z[i] = x[i] - origin[i]


@inner_as_written
def turn(transposed, base, x, z):
    """Let z be the matrix times x, plus the base in every coordinate."""
    d = len(x)
    if d >= WIDE:
        for first in range(0, d - WIDE, WIDE):
            wide_columns(transposed, first, base, x, z)
        wide_columns(transposed, d - WIDE, base, x, z)  # of which some are the same again
    elif d >= NARROW:
        for first in range(0, d - NARROW, NARROW):
            narrow_columns(transposed, first, base, x, z)
        narrow_columns(transposed, d - NARROW, base, x, z)
    else:
        for i in range(d):
            total = base
            for j in range(d):
                total = plus_product(total, x[j], transposed[j * d + i])
            z[i] = total


@inner_fused
def scaled_logarithm(value):
    """The first of T_osz's three steps."""
    return 10.0 * logarithm(abs(value) if value != 0.0 else 1.0)


@inner_fused
def waved(value, scaled):
    """The second, of a number and what the first made of it."""
    is_positive = value > 0.0
    first = scaled if is_positive else 0.55 * scaled
    second = 0.79 * scaled if is_positive else 0.31 * scaled
    return plus_product(scaled, 0.49, sine(first) + sine(second))


@inner_fused
def unscaled(value, exponent):
    """The third, of a number and what the second made of it."""
    # ioh takes a power of the exponential, which is not there of all numbers
    size = exponential(0.1 * exponent)
    size = size if exponent > -TOO_FAR else 0.0
    size = size if exponent < TOO_FAR else math.inf
    size = size if value > 0.0 else -size
    return size if value != 0.0 else value


@inner_fused
def oscillated(value):
    """T_osz of one number: not quite regular, but monotonous."""
    return unscaled(value, waved(value, scaled_logarithm(value)))


@inner_as_written
def exactly_oscillated(value):
    """The same to the last digit as ioh has it."""
    if value == 0.0:
        return value
    logarithm = math.log(abs(value)) / 0.1
    if value > 0:
        waves = math.sin(logarithm) + math.sin(0.79 * logarithm)
        return math.pow(math.exp(plus_product(logarithm, 0.49, waves)), 0.1)
    waves = math.sin(0.55 * logarithm) + math.sin(0.31 * logarithm)
    return -math.pow(math.exp(plus_product(logarithm, 0.49, waves)), 0.1)


@inner_as_written
def oscillate(z, room):
    """T_osz, each step for all: of short ones a processor does several at a time."""
    for i in range(len(z)):
        room[i] = scaled_logarithm(z[i])
    for i in range(len(z)):
        room[i] = waved(z[i], room[i])
    for i in range(len(z)):
        z[i] = unscaled(z[i], room[i])


@inner_as_written
def bend(z, strength):
    """T_asy: what is positive grows by a power, more so in later coordinates."""
    last = len(z) - 1.0
    for i in range(len(z)):
        if z[i] > 0.0:
            share = strength * i / last
            z[i] = math.pow(z[i], plus_product(1.0, share, math.sqrt(z[i])))


@inner_as_written
def raise_to(z, exponents):
    """Each of z, which are not negative, to a power."""
    for i in range(len(z)):
        found = exponents[i] * logarithm(z[i])
        z[i] = found if z[i] >= 0.0 else math.nan
    for i in range(len(z)):
        z[i] = exponential(z[i])


@inner_as_written
def waves(z):
    """The sum of cos(2 π z); z is overwritten."""
    near = True
    for i in range(len(z)):
        near &= abs(z[i]) < FAR
    if near:
        for i in range(len(z)):
            z[i] = cosine(2.0 * math.pi * z[i])
    else:
        for i in range(len(z)):
            z[i] = math.cos(2.0 * math.pi * z[i])
    total = 0.0
    for i in range(len(z)):
        total += z[i]
    return total


@inner_as_written
def stretch(factors, z):
    """Λ: each coordinate by a factor of its own."""
    for i in range(len(z)):
        z[i] = factors[i] * z[i]


@inner_as_written
def beyond(x, bound):
    """The square of the distance by which x lies outside of the box; f_pen."""
    total = 0.0
    for i in range(len(x)):
        excess = abs(x[i]) - bound
        excess = excess if excess > 0.0 else 0.0
        total = plus_product(total, excess, excess)
    return total
