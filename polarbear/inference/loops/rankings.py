"""Logarithms of all that rankings of everybody without ties leave over.

Each of a ranking's sets is the one just before and one more, so that nothing of it need be kept but
the last sum and the product of all; and of four rankings at a time no sum waits for another.
"""

from __future__ import annotations

import numpy as np

from polarbear.inference.loops.fastmath import LOG_2, fast_log, split_float
from polarbear.numerics.compiling import inlined

FOUR, SIXTEEN = np.uint64(4), np.uint64(16)
SAFE = 1e-18  # ratings, sixteen sums of which have a product that does not vanish


@inlined
def rankings_logs(sums, left, right, first, begin, end, length):
    """The sets begin .. end of a time, whose own begin at ``first``; ``length`` are a ranking's.

    Ratings stand in ``sums`` already, and none is below what is SAFE.
    """
    exponents = 0
    one = two = three = four = 1.0
    by_four = end - (end - begin) % (FOUR * length)
    for here in range(first + begin, first + by_four, FOUR * length):
        a, b, c, d = here, here + length, here + length + length, here + length + length + length
        sum_a, sum_b, sum_c, sum_d = sums[left[a]], sums[left[b]], sums[left[c]], sums[left[d]]
        for some in range(np.uint64(0), length, SIXTEEN):
            for k in range(some, min(some + SIXTEEN, length)):
                sum_a += sums[right[a + k]]
                sum_b += sums[right[b + k]]
                sum_c += sums[right[c + k]]
                sum_d += sums[right[d + k]]
                one *= sum_a
                two *= sum_b
                three *= sum_c
                four *= sum_d
            exponent, one = split_float(one)
            exponents += exponent
            exponent, two = split_float(two)
            exponents += exponent
            exponent, three = split_float(three)
            exponents += exponent
            exponent, four = split_float(four)
            exponents += exponent
    for here in range(first + by_four, first + end, length):
        last = sums[left[here]]
        for some in range(np.uint64(0), length, SIXTEEN):
            for k in range(some, min(some + SIXTEEN, length)):
                last += sums[right[here + k]]
                one *= last
            exponent, one = split_float(one)
            exponents += exponent
    return fast_log(one * two * three * four) + exponents * LOG_2
