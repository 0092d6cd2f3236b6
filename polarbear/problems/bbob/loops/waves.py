"""A cosine that compilers turn into vector instructions.

The library's own branches by its argument, which costs most where arguments are all over the place,
as in f16. This one is exact to some 1e-16 for arguments up to 1e7.
"""

from __future__ import annotations

import math

from polarbear.numerics.compiling import inner_as_written

# π in parts of 29 binary digits, so that a multiple of one is exact.
PI_PARTS = (3.141592651605606, 1.9841871548575973e-09, 4.503483548312435e-18)


@inner_as_written
def cosines(angles, found):
    """The cosine of every angle."""
    for i in range(len(angles)):
        half_turns = math.floor(angles[i] / math.pi + 0.5) * 1.0
        rest = angles[i] - half_turns * PI_PARTS[0]
        rest = (rest - half_turns * PI_PARTS[1]) - half_turns * PI_PARTS[2]
        square = rest * rest
        series = 1.0 / 51090942171709440000.0 / 22.0 - square / 620448401733239439360000.0
        series = -1.0 / 2432902008176640000.0 + square * series
        series = 1.0 / 6402373705728000.0 + square * series
        series = -1.0 / 20922789888000.0 + square * series
        series = 1.0 / 87178291200.0 + square * series
        series = -1.0 / 479001600.0 + square * series
        series = 1.0 / 3628800.0 + square * series
        series = -1.0 / 40320.0 + square * series
        series = 1.0 / 720.0 + square * series
        series = -1.0 / 24.0 + square * series
        half = 0.5 * square
        near = 1.0 - half
        cosine = near + (((1.0 - near) - half) - square * square * series)
        odd = half_turns - 2.0 * math.floor(0.5 * half_turns)
        found[i] = cosine - 2.0 * odd * cosine
