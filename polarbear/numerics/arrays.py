"""Kinds of arrays, and places in them."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def spread(length: int, most: int) -> NDArray[np.int64]:
    """At most this number of evenly spaced places in a sequence, including both ends."""
    return np.linspace(0, length - 1, min(length, most)).round().astype(int)
