"""Counts draws of curves on either side of one half, at times between their knots."""

from __future__ import annotations

import numpy as np

from polarbear.numerics.compiling import kernel

HALF = np.float32(0.5)


@kernel
def count_sides(at_knots, before, share, epsilon, found):
    """Fill found[4, time]: draws above, below, at most epsilon away, and no more than that below;
    at_knots[knot, draw].

    ``before[time]`` is the knot that a time follows, ``share[time]`` how far it is on the way to
    the next.
    """
    draws = at_knots.shape[1]
    for t in range(len(before)):
        low, high, on = at_knots[before[t]], at_knots[before[t] + 1], share[t]
        above = below = near = as_good = 0
        for k in range(draws):
            off = low[k] + on * (high[k] - low[k]) - HALF
            above += off > 0
            below += off < 0
            near += abs(off) <= epsilon
            as_good += off >= -epsilon
        found[0, t], found[1, t], found[2, t], found[3, t] = above, below, near, as_good
