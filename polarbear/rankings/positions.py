"""The compiled loop that puts values in order; `rankings` is its front."""

from __future__ import annotations

import numpy as np

from polarbear.numerics.compiling import kernel
from polarbear.rankings.counting import ABSENT


@kernel
def rank_values(values, present, tolerance, positions):
    """Fill positions[instance, algorithm, time]; a value ties with the best of its block."""
    n_instances, n, n_times = values.shape
    order = np.empty(n, np.int64)
    for p in range(n_instances):
        for t in range(n_times):
            m = 0
            for a in range(n):
                if not present[p, a, t]:
                    positions[p, a, t] = ABSENT
                    continue
                k = m
                while k > 0 and values[p, order[k - 1], t] > values[p, a, t]:
                    order[k] = order[k - 1]
                    k -= 1
                order[k] = a
                m += 1
            position = -1
            first = 0.0
            for k in range(m):
                value = values[p, order[k], t]
                # the first comparison also holds for two infinities, whose difference is NaN
                if k == 0 or not (value == first or value - first <= tolerance):
                    position += 1
                    first = value
                positions[p, order[k], t] = position
