"""Where the classical view and the posterior disagree, in sentences with their numbers.

The posterior goes by ranks: who is ahead, on every instance that tells something. AOCC and ECDF go
by margins: how far ahead, on the scale chosen, on the instances all ran in full. Both can be right.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from polarbear.classical.bootstrap import LEVEL
from polarbear.classical.common_runs import FEW
from polarbear.classical.head_to_head import HeadToHead, head_to_head
from polarbear.classical.rated import Rated, rated
from polarbear.classical.view import View
from polarbear.numerics.arrays import Floats
from polarbear.select import Basis
from polarbear.wording import P_BEST, counted, percent, probability, short, unit

SURE = 0.95
SHOWN = 3  # notes of one kind; more are counted
WHAT = {
    "uniform": ("AOCC, every moment counting the same,", "a uniform preference"),
    "log-uniform": (
        "AOCC over log t, every factor of ten counting the same,",
        "a log-uniform preference",
    ),
    "final": ("the ECDF at the end of the grid", "the end of the grid"),
}


@dataclass(frozen=True)
class Note:
    """One disagreement: the classical view has ``a`` ahead of ``b``, the posterior b ahead of a.

    ``why`` is empty where chance is all there is to say.
    """

    about: str
    a: str
    b: str
    words: str
    why: str


def disagreements(view: View, basis: Basis) -> list[Note]:
    """All that is worth a sentence, the most general first."""
    names = [name for name in view.algorithms if name in basis.algorithms]
    if len(names) < 2 or not _same_span(view, basis) or not basis.posterior.usable:
        return []
    judged = [_Judged(view, basis, names, one) for one in rated(basis, names)]
    made = [note for one in judged for note in one.leaders()]
    named = {frozenset((note.a, note.b)) for note in made}
    by_chance: dict[frozenset[str], str] = {}
    clear: list[Note] = []
    for one in judged[:2]:
        for note, is_clear in one.reversals():
            pair = frozenset((note.a, note.b))
            if pair in named:
                continue
            if is_clear:
                named.add(pair)
                clear.append(note)
            else:
                by_chance.setdefault(pair, f"{note.a} above {note.b}")
    made += clear[:SHOWN] + _opposite_at_times(view, basis, names)
    rest = [words for pair, words in by_chance.items() if pair not in named]
    return made + ([_within_chance(rest, view)] if rest else [])


def _within_chance(pairs: list[str], view: View) -> Note:
    a, _, b = pairs[0].partition(" above ")
    few = len(view.common.instances)
    more = f" and {len(pairs) - 2 * SHOWN} more" if len(pairs) > 2 * SHOWN else ""
    order = f"{', '.join(pairs[: 2 * SHOWN])}{more}"
    return Note(
        "chance",
        a,
        b,
        f"on {counted(few, 'instance')} the means of AOCC have {order}, which may be chance; the "
        f"posterior is sure of the other order (probability {short(SURE)} or more)",
        "",
    )


def agreement(view: View, basis: Basis) -> str:
    """One sentence for the case that there is nothing to note."""
    names = [name for name in view.algorithms if name in basis.algorithms]
    if len(names) < 2:
        return "fewer than two of these algorithms are in the posterior: nothing to hold together"
    if not basis.posterior.usable:
        return "the posterior is not to be trusted, so the two views are not held together"
    if not _same_span(view, basis):
        return (
            "the posterior was inferred on another span of time: `polarbear infer` makes one to "
            "hold beside this view"
        )
    first = names[rated(basis, names)[0].order()[0]]
    return (
        f"the classical view and the posterior agree: {first} comes first over the whole span, and "
        f"no pair is ordered the other way with probability {short(SURE)} or more"
    )


def _same_span(view: View, basis: Basis) -> bool:
    return view.curves.span == (float(basis.times[0]), float(basis.times[-1]))


class _Judged:
    """Both views under one way to value time."""

    def __init__(self, view: View, basis: Basis, names: list[str], posterior: Rated) -> None:
        self.view, self.basis, self.names, self.posterior = view, basis, names, posterior
        at = [view.index(name) for name in names]
        self.at = at
        self.scores: Floats
        if posterior.preference == "final":
            self.scores = view.shares[:, at, -1]
        else:
            area = view.aocc if posterior.preference == "uniform" else view.aocc_log
            self.scores = area.areas[:, at]
        self.means = view.drawn.mean(self.scores)

    def leaders(self) -> list[Note]:
        """A note where the two views put different algorithms first."""
        a = int(np.argmax(self.means))
        b = self.posterior.order()[0]
        if a == b or self.means[a] == self.means[b]:
            return []
        p = self.posterior.p_best
        words = (
            f"{WHAT[self.posterior.preference][0]} puts {self.names[a]} first "
            f"({self._gap(a, b)}); the posterior, for {WHAT[self.posterior.preference][1]}, puts "
            f"{self.names[b]} first ({P_BEST} {probability(p[b])}, of {self.names[a]} "
            f"{probability(p[a])})"
        )
        return [self._note(a, b, words)]

    def reversals(self) -> list[tuple[Note, bool]]:
        """Pairs that the posterior is sure about and the means have the other way round.

        With each, whether the means are further apart than chance would have them; only then is
        the reason looked for.
        """
        found = []
        for one, other in combinations(range(len(self.names)), 2):
            for a, b in ((one, other), (other, one)):
                p = self.posterior.p_better(b, a)
                if p >= SURE and self.means[a] > self.means[b]:
                    found.append((self.means[a] - self.means[b], a, b, p))
        found.sort(reverse=True)
        made = []
        for _, a, b, p in found:
            words = (
                f"{WHAT[self.posterior.preference][0]} has {self.names[a]} above {self.names[b]} "
                f"({self._gap(a, b)}); the posterior, for {WHAT[self.posterior.preference][1]}, "
                f"has {self.names[b]} above {self.names[a]} with probability {probability(p)}"
            )
            low, _ = self.view.drawn.interval(self.scores[:, a] - self.scores[:, b])
            is_clear = bool(low > 0)
            made.append((self._note(a, b, words, is_clear), is_clear))
        return made

    def _gap(self, a: int, b: int) -> str:
        """Both means, and whether their difference is more than chance."""
        text = f"mean {self.means[a]:.3f} against {self.means[b]:.3f}"
        low, high = self.view.drawn.interval(self.scores[:, a] - self.scores[:, b])
        if np.isnan(low):
            return f"{text}, on one instance"
        sure = "clear of 0" if low > 0 else "which may be chance"
        span = f"{float(low):.3f} to {float(high):.3f}"
        return f"{text}; difference {percent(LEVEL)} interval {span}, {sure}"

    def _note(self, a: int, b: int, words: str, with_reason: bool = True) -> Note:
        why = ""
        if with_reason:
            met = head_to_head(
                self.view, self.at[a], self.at[b], self.basis.times, self.posterior.weights
            )
            why = reason(met, self.names[a], self.names[b], self.basis.instances)
        return Note(self.posterior.preference, self.names[a], self.names[b], words, why)


def reason(met: HeadToHead, a: str, b: str, known: int | None) -> str:
    """Why the classical view prefers a and the posterior b, as far as the runs show it."""
    on = f"on the {counted(met.instances, 'instance')} compared"
    if met.b_ahead > met.a_ahead:
        return (
            f"{on}, {b} is ahead {percent(met.b_ahead)} of the time and {a} "
            f"{percent(met.a_ahead)}, but {a} by more: {met.a_margin:.3f} of the scale against "
            f"{met.b_margin:.3f}; ranks ignore margins, the classical view rewards them, on the "
            "scale chosen"
        )
    if known is not None and known > met.instances:
        return (
            f"{on}, {a} is ahead {percent(met.a_ahead)} of the time and {b} "
            f"{percent(met.b_ahead)}; the posterior goes by {counted(known, 'instance')}, among "
            "them those that not all ran in full"
        )
    return (
        f"{on}, {a} is ahead {percent(met.a_ahead)} of the time and {b} {percent(met.b_ahead)}: "
        "near a tie, where a rank against the whole field and a margin against one other may differ"
    )


def _opposite_at_times(view: View, basis: Basis, names: list[str]) -> list[Note]:
    """Pairs whose means are clearly apart at times where the posterior has them the other way."""
    at = [view.index(name) for name in names]
    shares = view.curves.on(basis.times, view.scale.share(view.progress), 0.0)[:, at]
    if len(shares) < FEW:
        return []
    known = [basis.algorithms.index(name) for name in names]
    found: list[tuple[int, Note]] = []
    for one, other in combinations(range(len(names)), 2):
        above, below = view.drawn.clearly_apart(shares[:, one] - shares[:, other])
        for a, b, sure in ((one, other, above), (other, one, below)):
            if not sure.any():
                continue
            better = basis.posterior.beats(known[b], known[a]).mean(axis=0)
            opposite = np.flatnonzero(sure & (better >= SURE))
            if len(opposite):
                note = _at_times(view, basis, (names[a], names[b]), (at[a], at[b]), opposite)
                found.append((len(opposite), note))
    found.sort(key=lambda entry: -entry[0])
    return [note for _, note in found[:SHOWN]]


def _at_times(
    view: View, basis: Basis, names: tuple[str, str], at: tuple[int, int], times: np.ndarray
) -> Note:
    a, b = names
    weights = np.zeros(len(basis.times))
    weights[times] = 1 / len(times)
    met = head_to_head(view, *at, basis.times, weights)
    first, last = basis.times[times[0]], basis.times[times[-1]]
    span = f"at {short(first)}"
    if len(times) > 1:
        span = f"at {len(times)} times from {short(first)} to {short(last)}"
    words = (
        f"{span} {unit(short(last), view.axis)}, the ECDF of {a} is clearly above that of {b}, and "
        f"the posterior has {b} above {a} with probability {short(SURE)} or more"
    )
    return Note("times", a, b, words, reason(met, a, b, basis.instances))
