"""Disagreements of the classical view and the posterior, in sentences with numbers.

The posterior uses ranks on all instances with data. AOCC and ECDF use margins, on the chosen scale
and on the instances that all algorithms ran in full. Both can be right.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from polarbear.classical.attainment import LEVEL
from polarbear.classical.common_runs import MIN_PROBLEMS
from polarbear.classical.view import View
from polarbear.numerics.arrays import Floats
from polarbear.selection.criteria import Criteria
from polarbear.selection.criterion_names import Risk
from polarbear.selection.posterior_source import Basis
from polarbear.selection.preference_parsing import read_preference
from polarbear.wording import P_BEST, counted, percent, probability, short, time, timed

MIN_PROBABILITY = 0.95
MAX_SHOWN = 3  # pairs that differ at some times
# The classical counterpart of a preference, and the preference in words.
MEASURES = {
    "uniform": ("AOCC over t", "a uniform preference"),
    "log-uniform": ("AOCC over log t", "a log-uniform preference"),
    "final": ("the ECDF at the end of the grid", "the end of the grid"),
}


@dataclass(frozen=True)
class Disagreement:
    """A pair that the two views order differently; fields are keys of `compare --json`.

    ``about`` is the preference, or "times".
    """

    about: str
    classical_prefers: str
    posterior_prefers: str
    words: str
    why: str


def disagreements(view: View, basis: Basis) -> tuple[list[Disagreement], str | None]:
    """Different first places by each measure, then pairs that differ clearly at some times.

    The second result is a sentence for the case that there are none.
    """
    names = [name for name in view.algorithms if name in basis.algorithms]
    if len(names) < 2:
        return [], "fewer than two of these algorithms are in the posterior: no comparison with it"
    if not basis.posterior.usable:
        return [], "the posterior is not reliable, so the classical view is not compared with it"
    if view.curves.span != (float(basis.times[0]), float(basis.times[-1])):
        return [], (
            "the posterior is of another span of time: `polarbear infer` makes one that can be "
            "compared with this view"
        )
    theta = basis.posterior.theta[:, :, [basis.algorithms.index(name) for name in names]]
    differing: list[Disagreement] = []
    leaders = []
    for preference in MEASURES:
        valuation = read_preference(preference, basis.axis)[0].on(basis.context())
        criteria = Criteria(valuation.values(theta))
        leaders.append(names[criteria.best(Risk.P2BB)])
        assert valuation.weights is not None
        differing += _different_leaders(view, basis, names, preference, criteria, valuation.weights)
    differing += _at_times(view, basis, names)
    if differing:
        return differing, None
    return [], (
        f"the classical view and the posterior agree: {leaders[0]} is first over the whole span, "
        "and no pair clearly has the opposite order at any time"
    )


def _different_leaders(
    view: View,
    basis: Basis,
    names: list[str],
    preference: str,
    criteria: Criteria,
    weights: Floats,
) -> list[Disagreement]:
    """The leaders of both views for one preference, if they differ."""
    scores = _classical_scores(view, preference)[:, [view.index(name) for name in names]]
    means = view.drawn.mean(scores)
    a = int(np.argmax(means))
    b = criteria.best(Risk.P2BB)
    if a == b or means[a] == means[b]:
        return []
    gap = f"mean {means[a]:.3f} against {means[b]:.3f}"
    low, high = view.drawn.interval(scores[:, a] - scores[:, b])
    if not np.isnan(low):
        certainty = "excludes 0" if low > 0 else "may be chance"
        interval = f"{percent(LEVEL)} interval {float(low):.3f} to {float(high):.3f}"
        gap += f"; difference {interval}, which {certainty}"
    measure, preference_words = MEASURES[preference]
    p_best = criteria.p2bb
    words = (
        f"{measure} has {names[a]} first ({gap}); the posterior, for {preference_words}, has "
        f"{names[b]} first ({P_BEST} {probability(p_best[b])}, of {names[a]} "
        f"{probability(p_best[a])})"
    )
    why = _reason(view, basis, (names[a], names[b]), weights)
    return [Disagreement(preference, names[a], names[b], words, why)]


def _classical_scores(view: View, preference: str) -> Floats:
    """The scores[instance, algorithm] by the classical counterpart of a preference."""
    if preference == "final":
        return view.shares[:, :, -1]
    aocc = view.aocc if preference == "uniform" else view.aocc_log
    return aocc.areas


def share_ahead(view: View, a: int, b: int, times: Floats, weights: Floats) -> tuple[float, float]:
    """The share of (instance, time) at which a is ahead of b, and its mean margin there.

    A margin is the difference of the shares of targets reached.
    """
    y = view.curves.on(times, view.curves.y, np.inf)
    shares = view.shares_at(times)
    instance_weights = view.common.weights
    if instance_weights is None:
        instance_weights = np.ones(len(y))
    weight_of_cell = np.outer(instance_weights / instance_weights.sum(), weights / weights.sum())
    weight_where_ahead = weight_of_cell * (y[:, a] < y[:, b])
    ahead = float(weight_where_ahead.sum())
    if not ahead:
        return 0.0, 0.0
    margin = float((weight_where_ahead * (shares[:, a] - shares[:, b])).sum())
    return ahead, margin / ahead


def _reason(view: View, basis: Basis, names: tuple[str, str], weights: Floats) -> str:
    """Why the classical view prefers a and the posterior b, as far as the runs show it."""
    a, b = names
    index_a = view.index(a)
    index_b = view.index(b)
    n_instances = len(view.common.instances)
    a_ahead, a_margin = share_ahead(view, index_a, index_b, basis.times, weights)
    b_ahead, b_margin = share_ahead(view, index_b, index_a, basis.times, weights)
    leads = (
        f"on the {counted(n_instances, 'instance')} compared, {a} is ahead {percent(a_ahead)} of "
        f"the time and {b} {percent(b_ahead)}"
    )
    if b_ahead > a_ahead:
        return (
            f"{leads}, but {a} by more: {a_margin:.3f} of the scale against {b_margin:.3f}; ranks "
            "ignore margins, the classical view rewards them, on the scale chosen"
        )
    if basis.instances > n_instances:
        return (
            f"{leads}; the posterior uses {counted(basis.instances, 'instance')}, including those "
            "that not all algorithms ran in full"
        )
    return f"{leads}: near a tie, where a rank among all and a margin in a pair may differ"


def _at_times(view: View, basis: Basis, names: list[str]) -> list[Disagreement]:
    """Pairs whose ECDFs clearly differ at times where the posterior has the opposite order."""
    shares = view.shares_at(basis.times)[:, [view.index(name) for name in names]]
    if len(shares) < MIN_PROBLEMS:
        return []
    items = [basis.algorithms.index(name) for name in names]
    differing: list[tuple[int, Disagreement]] = []
    for i, j in combinations(range(len(names)), 2):
        is_above, is_below = view.drawn.clearly_apart(shares[:, i] - shares[:, j])
        for a, b, a_is_above in ((i, j, is_above), (j, i, is_below)):
            if not a_is_above.any():
                continue
            p_opposite = basis.posterior.beats(items[b], items[a]).mean(axis=0)
            times = np.flatnonzero(a_is_above & (p_opposite >= MIN_PROBABILITY))
            if len(times):
                disagreement = _disagreement_at(view, basis, (names[a], names[b]), times)
                differing.append((len(times), disagreement))
    differing.sort(key=lambda entry: -entry[0])
    return [disagreement for _, disagreement in differing[:MAX_SHOWN]]


def _disagreement_at(
    view: View, basis: Basis, names: tuple[str, str], times: np.ndarray
) -> Disagreement:
    """The disagreement on a pair at times, which are indices into the posterior's grid."""
    a, b = names
    weights = np.zeros(len(basis.times))
    weights[times] = 1 / len(times)
    last = timed(basis.times[times[-1]], view.axis)
    span = f"at {last}"
    if len(times) > 1:
        span = f"at {len(times)} times from {time(basis.times[times[0]])} to {last}"
    words = (
        f"{span}, the ECDF of {a} is clearly above that of {b}, and the posterior has {b} above "
        f"{a} with probability {short(MIN_PROBABILITY)} or more"
    )
    return Disagreement("times", a, b, words, _reason(view, basis, names, weights))
