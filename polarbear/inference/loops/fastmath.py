"""Logarithm and exponential that compilers turn into vector instructions.

The library's own are a call for each number, and logarithms of set sums are what a Plackett-Luce
likelihood spends its time on. These are a bit cast and a polynomial: the logarithm exact to some
1e-15 for normal positive numbers, the exponential to 1e-13 from -690 to 690.
"""

from __future__ import annotations

import math

import numpy as np

from polarbear.numerics.bits import bits_to_float, float_to_bits
from polarbear.numerics.compiling import inlined

LOG_2 = 0.6931471805599453
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_EXPONENT_BITS = 52
_BIAS = 1023
_MANTISSA = (1 << _EXPONENT_BITS) - 1
_CELL_BITS = 7  # of a mantissa, that say which cell of the table it is in
_MIDDLES = 1 + (np.arange(1 << _CELL_BITS) + 0.5) / (1 << _CELL_BITS)
_CELLS = np.column_stack([1 / _MIDDLES, -np.log(1 / _MIDDLES)])


@inlined
def split_float(x):
    """The exponent, and what is left of a normal positive number, in [sqrt(1/2), sqrt(2))."""
    bits = float_to_bits(x)
    exponent = (bits - _SQRT_HALF_BITS) >> _EXPONENT_BITS
    return exponent, bits_to_float(bits - (exponent << _EXPONENT_BITS))


@inlined
def fast_log(x):
    bits = float_to_bits(x)
    exponent = (bits - _SQRT_HALF_BITS) >> _EXPONENT_BITS
    m = bits_to_float(bits - (exponent << _EXPONENT_BITS))  # in [sqrt(1/2), sqrt(2))
    f = (m - 1.0) / (m + 1.0)
    z = f * f
    series = 1.0 / 17.0 + z * (1.0 / 19.0)
    series = 1.0 / 15.0 + z * series
    series = 1.0 / 13.0 + z * series
    series = 1.0 / 11.0 + z * series
    series = 1.0 / 9.0 + z * series
    series = 1.0 / 7.0 + z * series
    series = 1.0 / 5.0 + z * series
    series = 1.0 / 3.0 + z * series
    return exponent * LOG_2 + 2.0 * f * (1.0 + z * series)


@inlined
def table_log(x):
    """The same without a division, for loops that do nothing else: a table's step, then a series.

    It makes no vector instructions, and is quicker all the same.
    """
    bits = float_to_bits(x)
    cell = np.uint64((bits >> (_EXPONENT_BITS - _CELL_BITS)) & ((1 << _CELL_BITS) - 1))
    m = bits_to_float((bits & _MANTISSA) | (_BIAS << _EXPONENT_BITS))  # in [1, 2)
    r = m * _CELLS[cell, np.uint64(0)] - 1.0  # at most 1/256 from 0
    series = -1.0 / 6.0 + r * (1.0 / 7.0)
    series = 1.0 / 5.0 + r * series
    series = -1.0 / 4.0 + r * series
    series = 1.0 / 3.0 + r * series
    series = -1.0 / 2.0 + r * series
    whole = ((bits >> _EXPONENT_BITS) - _BIAS) * LOG_2 + _CELLS[cell, np.uint64(1)]
    return whole + (r + r * r * series)


@inlined
def fast_exp(x):
    k = math.floor(x / LOG_2 + 0.5)
    r = x - k * LOG_2  # in [-log(2)/2, log(2)/2]
    series = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0)
    series = 1.0 / 39916800.0 + r * series
    series = 1.0 / 3628800.0 + r * series
    series = 1.0 / 362880.0 + r * series
    series = 1.0 / 40320.0 + r * series
    series = 1.0 / 5040.0 + r * series
    series = 1.0 / 720.0 + r * series
    series = 1.0 / 120.0 + r * series
    series = 1.0 / 24.0 + r * series
    series = 1.0 / 6.0 + r * series
    series = 0.5 + r * series
    series = 1.0 + r * series
    series = 1.0 + r * series
    return series * bits_to_float((np.int64(k) + _BIAS) << _EXPONENT_BITS)
