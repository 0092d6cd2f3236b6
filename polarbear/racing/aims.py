"""How far runs must go to settle a pair: no further than where that is about to happen.

Under resolution by membership a pair of which one was shown to be better somewhere is settled as
soon as the other is shown, at any one time, to be as good at least. Of the times at which that is
likely, the next runs go up to the one at which it takes least: so many more instances, up to that
time. As long as one of the two is likely to be better at every time they go to the end, since that
would put the other out, and so they do where little would be saved: runs to the end tell of other
pairs, too. The paper's own resolutions, and pointwise elimination, are left as the paper has them.
"""

from __future__ import annotations

import numpy as np

from polarbear.inference import relations
from polarbear.inference.relations import Joint, Pointwise
from polarbear.racing.rules import Rules
from polarbear.racing.scores import SURE, scores
from polarbear.racing.state import OPEN, State

LIKELY = 0.8  # how probable it must be that one is as good, at the time to which runs are to go
MAY_BE = 0.5  # how probable it is at least that one may still put the other out
SAVES = 0.5  # of the last open time: a later one saves too little
TELLING = 0.05  # how probable equivalence must be to tell how much is known at a time
CHEAPER = 2.0  # times as cheap must another time be for an aim to change: early runs hang on it
SOON = 1e-6  # of the longest time: shorter runs are no cheaper


def aims_of(
    state: State, rules: Rules, pointwise: Pointwise, joint: Joint | None
) -> tuple[float | None, ...]:
    """Up to which time the next runs of each pair go; None where that is its last open time."""
    if rules.resolution != "membership" or rules.elimination != "joint" or state.joining:
        return ()
    assert joint is not None, "joint elimination has seen to that"
    assert pointwise.no_worse is not None, "so has resolution by membership"
    above = np.asarray(relations.dominates(pointwise, rules.alpha).any(axis=0))
    times = np.array(state.times)
    found: list[float | None] = []
    for codes, before, a, b in zip(
        state.settled,
        state.aim_of_each_pair,
        *np.triu_indices(len(state.algorithms), 1),
        strict=True,
    ):
        is_open = np.flatnonzero(codes == OPEN)
        if not len(is_open) or max(joint.dominance[a, b], joint.dominance[b, a]) >= MAY_BE:
            found.append(None)
            continue
        as_good = np.zeros(len(times))  # how probable is what would settle it
        for one, two in ((a, b), (b, a)):
            if above[one, two]:
                as_good = np.maximum(as_good, pointwise.no_worse[:, two, one])
        more = _more_instances(as_good, _so_far(pointwise, a, b), rules.alpha)
        cost = more * np.maximum(times, SOON * times[-1])
        cost[(codes != OPEN) | (times > SAVES * times[is_open[-1]])] = np.inf
        found.append(_cheapest(cost, times, before))
    return tuple(found)


def _more_instances(probability: np.ndarray, so_far: np.ndarray, alpha: float) -> np.ndarray:
    """How many more instances than ``so_far`` make something as probable as alpha, if things are as
    they seem to be: infinite where it is not likely."""
    from scipy.special import ndtri

    likely = probability >= LIKELY
    score = ndtri(np.clip(probability, LIKELY, 1 - SURE))
    enough = (ndtri(min(alpha, 1 - SURE)) / score) ** 2  # times as many
    return np.where(likely, so_far * np.maximum(enough - 1, SOON), np.inf)


def _so_far(pointwise: Pointwise, a: np.intp, b: np.intp) -> np.ndarray:
    """How many instances the beliefs at each time rest on, up to a factor.

    The wider what counts as equivalent is, in standard deviations, the more; where equivalence has
    next to no probability, that does not tell, and they are taken to be as many as elsewhere.
    """
    _, (width,) = (score.T for score in scores(pointwise, np.array([a]), np.array([b])))
    tells = pointwise.equivalence[:, a, b] >= TELLING
    return np.where(tells, width**2, np.median(width[tells] ** 2) if tells.any() else 1.0)


def _cheapest(cost: np.ndarray, times: np.ndarray, before: float | None) -> float | None:
    """The time at which it costs least; the one before, unless another is a lot cheaper."""
    best = int(cost.argmin())
    if not np.isfinite(cost[best]):
        return None
    if before is not None:
        kept = int(np.searchsorted(times, before))
        if cost[kept] < CHEAPER * cost[best]:
            best = kept
    return float(times[best])
