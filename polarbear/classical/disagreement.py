"""Where the classical view and the posterior disagree, in sentences with numbers.

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
from polarbear.selection.posterior_source import Basis
from polarbear.selection.preference_parsing import read_preference
from polarbear.wording import P_BEST, counted, percent, probability, short, time, timed

MIN_PROBABILITY = 0.95
MAX_SHOWN = 3  # pairs that differ at some times
MEASURES = {  # of preferences that have a classical counterpart
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
    found, first = [], ""
    for preference in MEASURES:
        valuation = read_preference(preference, basis.axis)[0].on(basis.context())
        judged = Criteria(valuation.values(theta))
        first = first or names[judged.best("p2bb")]
        assert valuation.weights is not None
        found += _different_leaders(view, basis, names, preference, judged, valuation.weights)
    found += _at_times(view, basis, names)
    if found:
        return found, None
    return [], (
        f"the classical view and the posterior agree: {first} is first over the whole span, and "
        "no pair clearly has the opposite order at any time"
    )


def _different_leaders(
    view: View, basis: Basis, names: list[str], preference: str, judged: Criteria, weights: Floats
) -> list[Disagreement]:
    """The first of both views under one preference, if they differ."""
    at = [view.index(name) for name in names]
    if preference == "final":
        scores = view.shares[:, at, -1]
    else:
        scores = (view.aocc if preference == "uniform" else view.aocc_log).areas[:, at]
    means = view.drawn.mean(scores)
    a, b, p_best = int(np.argmax(means)), judged.best("p2bb"), judged.p2bb
    if a == b or means[a] == means[b]:
        return []
    measure, words = MEASURES[preference]
    gap = f"mean {means[a]:.3f} against {means[b]:.3f}"
    low, high = view.drawn.interval(scores[:, a] - scores[:, b])
    if not np.isnan(low):
        sure = "excludes 0" if low > 0 else "may be chance"
        interval = f"{percent(LEVEL)} interval {float(low):.3f} to {float(high):.3f}"
        gap += f"; difference {interval}, which {sure}"
    words = (
        f"{measure} has {names[a]} first ({gap}); the posterior, for {words}, has {names[b]} "
        f"first ({P_BEST} {probability(p_best[b])}, of {names[a]} {probability(p_best[a])})"
    )
    why = _reason(view, basis, (names[a], names[b]), weights)
    return [Disagreement(preference, names[a], names[b], words, why)]


def share_ahead(view: View, a: int, b: int, times: Floats, weights: Floats) -> tuple[float, float]:
    """The share of (instance, time) at which a is ahead of b, and its mean margin there.

    A margin is the difference of the shares of targets reached.
    """
    y, shares = view.curves.on(times, view.curves.y, np.inf), view.shares_at(times)
    each = np.ones(len(y)) if view.common.weights is None else view.common.weights
    weight = np.outer(each / each.sum(), weights / weights.sum()) * (y[:, a] < y[:, b])
    ahead = float(weight.sum())
    margin = float((weight * (shares[:, a] - shares[:, b])).sum())
    return ahead, margin / ahead if ahead else 0.0


def _reason(view: View, basis: Basis, names: tuple[str, str], weights: Floats) -> str:
    """Why the classical view prefers a and the posterior b, as far as the runs show it."""
    a, b = names
    one, two, compared = view.index(a), view.index(b), len(view.common.instances)
    a_ahead, a_margin = share_ahead(view, one, two, basis.times, weights)
    b_ahead, b_margin = share_ahead(view, two, one, basis.times, weights)
    leads = (
        f"on the {counted(compared, 'instance')} compared, {a} is ahead {percent(a_ahead)} of the "
        f"time and {b} {percent(b_ahead)}"
    )
    if b_ahead > a_ahead:
        return (
            f"{leads}, but {a} by more: {a_margin:.3f} of the scale against {b_margin:.3f}; ranks "
            "ignore margins, the classical view rewards them, on the scale chosen"
        )
    if basis.instances > compared:
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
    found: list[tuple[int, Disagreement]] = []
    for one, other in combinations(range(len(names)), 2):
        above, below = view.drawn.clearly_apart(shares[:, one] - shares[:, other])
        for a, b, is_clear in ((one, other, above), (other, one, below)):
            if not is_clear.any():
                continue
            p = basis.posterior.beats(items[b], items[a]).mean(axis=0)
            opposite = np.flatnonzero(is_clear & (p >= MIN_PROBABILITY))
            if not len(opposite):
                continue
            weights = np.zeros(len(basis.times))
            weights[opposite] = 1 / len(opposite)
            why = _reason(view, basis, (names[a], names[b]), weights)
            first, last = basis.times[opposite[0]], basis.times[opposite[-1]]
            span = f"at {timed(last, view.axis)}"
            if len(opposite) > 1:
                span = f"at {len(opposite)} times from {time(first)} to {timed(last, view.axis)}"
            words = (
                f"{span}, the ECDF of {names[a]} is clearly above that of {names[b]}, and the "
                f"posterior has {names[b]} above {names[a]} with probability "
                f"{short(MIN_PROBABILITY)} or more"
            )
            found.append((len(opposite), Disagreement("times", names[a], names[b], words, why)))
    found.sort(key=lambda entry: -entry[0])
    return [one for _, one in found[:MAX_SHOWN]]
