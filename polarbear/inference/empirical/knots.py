"""Win probabilities of many pairs at many times: looked at on some of them, drawn through between.

Of forty algorithms at two thousand times no memory holds a thousand draws of all pairs, and the
work of smoothing a curve grows with the cube of its times. Who beats whom hardly changes from one
of two thousand times to the next, so some two hundred tell the same.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

MOST_NUMBERS = 3 * 2**26  # of draws, copies included: 0.75 GiB
FEWEST_DRAWS = 400
_ENOUGH_DRAWS = 1000
_MOST_KNOTS, _FEWEST_KNOTS = 200, 10  # that are smoothed
_SMOOTHING = 2**24  # pairs times the square of knots


def most_draws(n: int, n_times: int, knots: int) -> int:
    """As many as memory holds of win probabilities of all pairs and of shares of first places, both
    twice while they are being stored."""
    return MOST_NUMBERS // (n * (n - 1) * knots + 2 * n * n_times)


def knots_for(n: int, n_times: int, smooth: bool) -> np.ndarray:
    """The times to look at, the first and the last among them: all of them where that can be."""
    pairs = max(n * (n - 1) // 2, 1)
    most = MOST_NUMBERS // (2 * pairs * _ENOUGH_DRAWS)
    if smooth:
        most = min(most, _MOST_KNOTS, isqrt(_SMOOTHING // pairs))
    count = min(n_times, max(most, _FEWEST_KNOTS))
    return np.linspace(0, n_times - 1, count).round().astype(int)
