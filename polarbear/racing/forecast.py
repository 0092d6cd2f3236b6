"""How far it still is: a guess at the instances that settle everything."""

from __future__ import annotations

import numpy as np

from polarbear.inference.relations import Pointwise
from polarbear.racing.rules import Rules
from polarbear.racing.state import OPEN, State


def instances_to_go(state: State, rules: Rules, pointwise: Pointwise) -> int:
    """A rough guess at how many more instances settle everything, if beliefs stay as they are.

    Each pair-time is taken as a normal posterior whose spread falls with the square root of the
    number of instances; it is settled by dominance or by equivalence, whichever comes first.
    """
    from scipy.special import ndtr, ndtri

    is_open = (state.settled == OPEN).any(axis=1)
    if not is_open.any():
        return 0
    a, b = (index[is_open] for index in np.triu_indices(len(state.algorithms), 1))
    above = np.clip(pointwise.dominance[:, a, b], 1e-6, 1 - 1e-6)
    alike = np.clip(pointwise.equivalence[:, a, b], 1e-6, 1 - 1e-6)
    threshold = float(ndtri(min(rules.alpha, 1 - 1e-6)))
    shift = np.abs(ndtri(above))
    low, high = np.zeros_like(shift), np.full_like(shift, 1e3)
    for _ in range(60):  # the ROPE's half-width in standard deviations that gives P(equivalent)
        middle = (low + high) / 2
        more = ndtr(middle - shift) - ndtr(-middle - shift) < alike
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    by_dominance = (threshold / np.maximum(shift, 1e-2)) ** 2
    by_equivalence = (threshold / np.maximum(high - shift, 1e-2)) ** 2
    factor = np.minimum(by_dominance, by_equivalence)
    factor[(state.settled != OPEN).T[:, is_open]] = 1.0
    needed = factor.max(axis=0)
    if rules.resolution == "crossing":
        ever_above = np.where(above > 0.5, by_dominance, np.inf).min(axis=0)
        ever_below = np.where(above < 0.5, by_dominance, np.inf).min(axis=0)
        other = np.minimum(by_equivalence.min(axis=0), np.maximum(ever_above, ever_below))
        needed = np.minimum(needed, np.maximum(np.minimum(ever_above, ever_below), other))
    seen = state.caught_up if state.joining else state.instances
    return max(1, int(np.ceil((needed.max() - 1) * seen)))
