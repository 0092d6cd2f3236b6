"""Logarithm, exponential, sine and cosine that compilers turn into vector instructions.

The library's own are a call for each number and branch by its size; a function of BBOB calls them
for every variable. These are exact to some 1e-16, of normal numbers, and of angles up to 1e7.
"""

from __future__ import annotations

import math

import numpy as np

from polarbear.numerics.bits import bits_to_float, float_to_bits
from polarbear.numerics.compiling import inner_fused

LOG_2 = (0.6931471803691238, 1.9082149292705877e-10)  # so that multiples of the first are exact
SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
EXPONENT_BITS, BIAS = 52, 1023
LARGEST, SMALLEST = 709.78, -708.0  # whose exponentials are normal numbers
# π in parts of 29 binary digits, so that a multiple of one is exact.
PI_PARTS = (3.141592651605606, 1.9841871548575973e-09, 4.503483548312435e-18)


@inner_fused
def logarithm(x):
    """Of what is positive."""
    bits = float_to_bits(x)
    exponent = (bits - SQRT_HALF_BITS) >> EXPONENT_BITS
    m = bits_to_float(bits - (exponent << EXPONENT_BITS))  # in [sqrt(1/2), sqrt(2))
    f = (m - 1.0) / (m + 1.0)
    z = f * f
    series = 1.0 / 19.0 + z * (1.0 / 21.0)
    series = 1.0 / 17.0 + z * series
    series = 1.0 / 15.0 + z * series
    series = 1.0 / 13.0 + z * series
    series = 1.0 / 11.0 + z * series
    series = 1.0 / 9.0 + z * series
    series = 1.0 / 7.0 + z * series
    series = 1.0 / 5.0 + z * series
    series = 1.0 / 3.0 + z * series
    return exponent * LOG_2[0] + (2.0 * f + (2.0 * f * z * series + exponent * LOG_2[1]))


@inner_fused
def exponential(x):
    """0 where that is less than 1e-307, and infinity where it is more than 1.7e308."""
    k = np.floor(x * 1.4426950408889634 + 0.5)
    r = (x - k * LOG_2[0]) - k * LOG_2[1]  # in [-log(2)/2, log(2)/2]
    series = 1.0 / 6227020800.0 + r * (1.0 / 87178291200.0)
    series = 1.0 / 479001600.0 + r * series
    series = 1.0 / 39916800.0 + r * series
    series = 1.0 / 3628800.0 + r * series
    series = 1.0 / 362880.0 + r * series
    series = 1.0 / 40320.0 + r * series
    series = 1.0 / 5040.0 + r * series
    series = 1.0 / 720.0 + r * series
    series = 1.0 / 120.0 + r * series
    series = 1.0 / 24.0 + r * series
    series = 1.0 / 6.0 + r * series
    series = 1.0 + (r + r * r * (0.5 + r * series))
    # twice, since the largest has an exponent that only its half can be written with
    found = 2.0 * series * bits_to_float((np.int64(k) - 1 + BIAS) << EXPONENT_BITS)
    found = 0.0 if x < SMALLEST else found
    return math.inf if x > LARGEST else found


@inner_fused
def negative_if_odd(x, count):
    half = 0.5 * count
    return x - 4.0 * (half - np.floor(half)) * x


@inner_fused
def sine(angle):
    half_turns = np.floor(angle * (1.0 / math.pi) + 0.5)
    rest = angle - half_turns * PI_PARTS[0]
    rest = (rest - half_turns * PI_PARTS[1]) - half_turns * PI_PARTS[2]
    square = rest * rest
    series = -1.0 / 121645100408832000.0 + square * (1.0 / 51090942171709440000.0)
    series = 1.0 / 355687428096000.0 + square * series
    series = -1.0 / 1307674368000.0 + square * series
    series = 1.0 / 6227020800.0 + square * series
    series = -1.0 / 39916800.0 + square * series
    series = 1.0 / 362880.0 + square * series
    series = -1.0 / 5040.0 + square * series
    series = 1.0 / 120.0 + square * series
    series = -1.0 / 6.0 + square * series
    found = rest + rest * square * series
    return negative_if_odd(found, half_turns)


@inner_fused
def cosine(angle):
    half_turns = np.floor(angle * (1.0 / math.pi) + 0.5)
    rest = angle - half_turns * PI_PARTS[0]
    rest = (rest - half_turns * PI_PARTS[1]) - half_turns * PI_PARTS[2]
    square = rest * rest
    series = 1.0 / 2432902008176640000.0 - square * (1.0 / 1124000727777607680000.0)
    series = -1.0 / 6402373705728000.0 + square * series
    series = 1.0 / 20922789888000.0 + square * series
    series = -1.0 / 87178291200.0 + square * series
    series = 1.0 / 479001600.0 + square * series
    series = -1.0 / 3628800.0 + square * series
    series = 1.0 / 40320.0 + square * series
    series = -1.0 / 720.0 + square * series
    series = 1.0 / 24.0 + square * series
    half = 0.5 * square
    near = 1.0 - half
    found = near + (((1.0 - near) - half) + square * square * series)
    return negative_if_odd(found, half_turns)
