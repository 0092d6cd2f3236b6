"""Two algorithms on the same instances: who is ahead how often, and by how much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.classical.view import View
from polarbear.numerics.arrays import Floats


@dataclass(frozen=True)
class HeadToHead:
    """Shares of (instance, time) in which each is ahead, the rest being ties; and mean margins.

    A margin is the difference in the share of targets, over the moments in which one is ahead.
    """

    instances: int
    a_ahead: float
    b_ahead: float
    a_margin: float
    b_margin: float


def head_to_head(view: View, a: int, b: int, times: Floats, weights: Floats) -> HeadToHead:
    """Over the compared instances, with times weighted as a preference values them."""
    y = view.curves.on(times, view.curves.y, np.inf)
    shares = view.curves.on(times, view.scale.share(view.progress), 0.0)
    each = np.ones(len(y)) if view.common.weights is None else view.common.weights
    weight = np.outer(each / each.sum(), weights / weights.sum())
    gap = shares[:, a] - shares[:, b]
    ahead_a, ahead_b = (weight * (y[:, a] < y[:, b])), (weight * (y[:, b] < y[:, a]))
    return HeadToHead(
        len(y),
        float(ahead_a.sum()),
        float(ahead_b.sum()),
        _mean(gap, ahead_a),
        _mean(-gap, ahead_b),
    )


def _mean(gap: Floats, weight: Floats) -> float:
    total = float(weight.sum())
    return float((gap * weight).sum()) / total if total > 0 else 0.0
