"""How far runs must go to settle a pair: where it is about to cross, no further than there.

A pair of which one was shown to be better somewhere is settled as soon as, at any one time, the
other is shown to be better or the two to be equivalent. Of the times at which that is likely, the
next runs go up to the one at which it takes least: so many instances, up to that time. As long as
one of the two may still be better at every time, they go to the end, since that would put the other
out. Pointwise elimination is left as the paper has it.
"""

from __future__ import annotations

import numpy as np

from polarbear.inference import relations
from polarbear.inference.relations import Joint, Pointwise
from polarbear.racing.rules import Rules
from polarbear.racing.state import OPEN, State

LIKELY = 0.85  # how probable a relation must be for runs to go no further than its time
MAY_BE = 0.1  # how probable it is at least that one may still put the other out
CHEAPER = 2.0  # times as cheap must another time be for an aim to change: early runs hang on it
SURE = 1 - 1e-6  # nothing is more certain than this
SOON = 1e-6  # of the longest time: shorter runs are no cheaper


def aims_of(
    state: State, rules: Rules, pointwise: Pointwise, joint: Joint | None
) -> tuple[float | None, ...]:
    """Up to which time the next runs of each pair go; None where that is its last open time."""
    if rules.resolution != "crossing" or rules.elimination != "joint" or state.joining:
        return ()
    assert joint is not None, "joint elimination has seen to that"
    above = relations.dominates(pointwise, rules.alpha)
    alike = relations.equivalent(pointwise, rules.alpha)
    found: list[float | None] = []
    for codes, before, a, b in zip(
        state.settled,
        state.aim_of_each_pair,
        *np.triu_indices(len(state.algorithms), 1),
        strict=True,
    ):
        if max(joint.dominance[a, b], joint.dominance[b, a]) >= MAY_BE:
            found.append(None)
            continue
        lacking = np.zeros(len(state.times))  # how probable is what a crossing lacks
        is_above, is_below = above[:, a, b].any(), above[:, b, a].any()
        if is_below or alike[:, a, b].any():
            lacking = np.maximum(lacking, pointwise.dominance[:, a, b])
        if is_above or alike[:, a, b].any():
            lacking = np.maximum(lacking, pointwise.dominance[:, b, a])
        if is_above or is_below:
            lacking = np.maximum(lacking, pointwise.equivalence[:, a, b])
        lacking[codes != OPEN] = 0
        found.append(_cheapest(lacking, np.array(state.times), before))
    return tuple(found)


def _cheapest(probability: np.ndarray, times: np.ndarray, before: float | None) -> float | None:
    """Of the times at which something is likely, the one at which showing it takes the least.

    How many instances that takes goes by the inverse square of a probability's normal score.
    """
    from scipy.special import ndtri

    likely = probability >= LIKELY
    if not likely.any():
        return None
    score = ndtri(np.clip(probability, 0.5, SURE))
    gain = np.where(likely, score**2 / np.maximum(times, SOON * times[-1]), 0.0)
    best = int(gain.argmax())
    if before is not None:
        kept = int(np.searchsorted(times, before))
        if likely[kept] and gain[best] < CHEAPER * gain[kept]:
            best = kept
    return float(times[best])
