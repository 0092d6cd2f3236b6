"""Which algorithm to run at which budget: spans of time with one recommendation, or several.

The race's table, `report` and the page all use these spans, from P(best at t) by duels.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

import numpy as np

from polarbear.wording import time, timed

LIKELY = 2 / 3  # P(best) from which a single algorithm is recommended
SURE = 0.9  # P(best) that half of the times need for "run" instead of "probably"
NEARLY = 0.75  # of the highest P(best), with which a neighbour takes over a short span
MIN_PROBLEMS = 10  # below which no algorithm is recommended

Label = tuple[int, ...]  # the recommended algorithm, or () where several may be the best


class Grade(StrEnum):
    """How much can be said: which algorithm to run, which one probably, or nothing yet."""

    RUN = "run"
    PROBABLY = "probably"
    EARLY = "too early"


@dataclass(frozen=True)
class Span:
    """Neighbouring times with the same recommendation.

    ``start`` and ``stop`` are its first and last time, ``until`` is the start of the next span and
    None for the last one, ``times`` is their number. ``p_best`` is the range of P(best) of the
    first algorithm.
    """

    algorithms: tuple[str, ...]
    start: float
    stop: float
    until: float | None
    times: int
    is_first: bool
    p_best: tuple[float, float]

    @property
    def is_open(self) -> bool:
        """Whether several algorithms may be the best."""
        return len(self.algorithms) > 1

    def budgets(self, axis: str = "") -> str:
        """The budgets of this span in words; it ends where the next one begins."""

        def said(t: float) -> str:
            return timed(t, axis) if axis else time(t)

        if self.until is None:
            return "at all times" if self.is_first else f"from {said(self.start)} on"
        until = said(self.until)
        return f"up to {until}" if self.is_first else f"from {time(self.start)} to {until}"

    def to_plain(self) -> dict[str, object]:
        return {
            "algorithms": list(self.algorithms),
            "from": self.start,
            "to": self.stop,
            "p_best": list(self.p_best),
        }


@dataclass(frozen=True)
class Advice:
    """Spans that cover all times of the grid, and how much can be said."""

    grade: Grade
    spans: tuple[Span, ...]


def advise(
    names: Sequence[str], times: np.ndarray, p_best: np.ndarray, problems: int | None = None
) -> Advice:
    """Recommendations by P(best)[time, algorithm].

    Where no algorithm reaches LIKELY, the smallest group that reaches it together is named.
    ``problems`` is the number of problems behind it.
    """
    lead = p_best.max(axis=1)
    sure, likely = (lead >= SURE).mean(), (lead >= LIKELY).mean()
    grade = Grade.RUN if sure >= 0.5 else Grade.PROBABLY if likely >= 0.5 else Grade.EARLY
    if (problems is not None and problems < MIN_PROBLEMS) or (lead <= 1 / len(names)).all():
        grade = Grade.EARLY
    groups = [_smallest_group(chances) for chances in p_best]
    return Advice(grade, tuple(_spans(names, times, p_best, groups)))


def leaders(names: Sequence[str], times: np.ndarray, p_best: np.ndarray) -> list[Span]:
    """Spans of the algorithm with the highest P(best)[time, algorithm]."""
    return list(_spans(names, times, p_best, [(int(item),) for item in p_best.argmax(axis=1)]))


def _spans(
    names: Sequence[str], times: np.ndarray, p_best: np.ndarray, groups: Sequence[Label]
) -> Iterator[Span]:
    """Spans of times with one likely best algorithm, or with several of these groups."""
    labels = _without_slivers([group if len(group) == 1 else () for group in groups], p_best)
    for places in _runs(labels):
        together = {item for t in places for item in groups[t]}
        items = labels[places[0]] or sorted(together, key=lambda item: -p_best[places, item].sum())
        of_first, after = p_best[places, items[0]], places[-1] + 1
        yield Span(
            algorithms=tuple(names[item] for item in items),
            start=float(times[places[0]]),
            stop=float(times[places[-1]]),
            until=float(times[after]) if after < len(times) else None,
            times=len(places),
            is_first=places[0] == 0,
            p_best=(float(of_first.min()), float(of_first.max())),
        )


def _smallest_group(chances: np.ndarray) -> Label:
    """The fewest algorithms of which one is the best with probability LIKELY."""
    order = np.argsort(-chances, kind="stable")
    enough = np.cumsum(chances[order]) >= LIKELY - 1e-9  # rounding of sums
    return tuple(order[: int(enough.argmax()) + 1].tolist())


def _runs(labels: Sequence[Label]) -> list[list[int]]:
    """Places of neighbouring times with the same label."""
    return [list(run) for _, run in groupby(range(len(labels)), labels.__getitem__)]


def _without_slivers(labels: list[Label], p_best: np.ndarray) -> list[Label]:
    """Short spans take the label of a neighbour that is nearly as likely there.

    A span is short below a twentieth of the grid, and at least two times on grids of ten or more.
    A span with P(best) of SURE stays.
    """
    shortest = max(2, len(labels) // 20) if len(labels) >= 10 else 1
    labels = list(labels)
    while merged := next(_merges(labels, p_best, shortest), None):
        places, label = merged
        for place in places:
            labels[place] = label
    return labels


def _merges(
    labels: list[Label], p_best: np.ndarray, shortest: int
) -> Iterator[tuple[list[int], Label]]:
    """Short spans, the shortest first, with the likeliest label of a neighbour that fits."""
    runs = _runs(labels)
    for k in sorted(range(len(runs)), key=lambda k: len(runs[k])):
        places = runs[k]
        highest = p_best[places].max(axis=1)
        lead = float(highest.mean())
        if len(places) >= shortest or lead >= SURE:
            continue
        near = [labels[runs[j][0]] for j in (k - 1, k + 1) if 0 <= j < len(runs)]
        # Several that may be the best always fit.
        chances = [p_best[places, label[0]] if label else highest for label in near]
        fitting = [(float(one.mean()), label) for one, label in zip(chances, near, strict=True)]
        likeliest = max(fitting, default=(0.0, ()))
        if likeliest[0] >= NEARLY * lead:
            yield places, likeliest[1]
