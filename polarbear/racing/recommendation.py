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

        def with_unit(t: float) -> str:
            return timed(t, axis) if axis else time(t)

        if self.until is None:
            return "at all times" if self.is_first else f"from {with_unit(self.start)} on"
        until = with_unit(self.until)
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
    groups = [_smallest_group(p_best_at_time) for p_best_at_time in p_best]
    spans = tuple(_spans(names, times, p_best, groups))
    return Advice(_grade(p_best, problems), spans)


def _grade(p_best: np.ndarray, problems: int | None) -> Grade:
    """How much P(best)[time, algorithm] of this number of problems can say."""
    highest = p_best.max(axis=1)
    has_too_few_problems = problems is not None and problems < MIN_PROBLEMS
    says_nothing = (highest <= 1 / p_best.shape[1]).all()
    if has_too_few_problems or says_nothing:
        return Grade.EARLY
    if (highest >= SURE).mean() >= 0.5:
        return Grade.RUN
    if (highest >= LIKELY).mean() >= 0.5:
        return Grade.PROBABLY
    return Grade.EARLY


def leaders(names: Sequence[str], times: np.ndarray, p_best: np.ndarray) -> list[Span]:
    """Spans of the algorithm with the highest P(best)[time, algorithm]."""
    return list(_spans(names, times, p_best, [(int(item),) for item in p_best.argmax(axis=1)]))


def _spans(
    names: Sequence[str], times: np.ndarray, p_best: np.ndarray, groups: Sequence[Label]
) -> Iterator[Span]:
    """Spans of times with one likely best algorithm, or with several of these groups."""
    labels = _without_slivers([group if len(group) == 1 else () for group in groups], p_best)
    for run in _runs(labels):
        items: Sequence[int] = labels[run[0]]
        if not items:
            together = {item for t in run for item in groups[t]}
            total = {item: p_best[run, item].sum() for item in together}
            items = sorted(together, key=total.__getitem__, reverse=True)
        p_best_of_first = p_best[run, items[0]]
        after = run[-1] + 1
        yield Span(
            algorithms=tuple(names[item] for item in items),
            start=float(times[run[0]]),
            stop=float(times[run[-1]]),
            until=float(times[after]) if after < len(times) else None,
            times=len(run),
            is_first=run[0] == 0,
            p_best=(float(p_best_of_first.min()), float(p_best_of_first.max())),
        )


def _smallest_group(p_best: np.ndarray) -> Label:
    """The smallest group that contains the best algorithm with probability LIKELY."""
    order = np.argsort(-p_best, kind="stable")
    is_enough = np.cumsum(p_best[order]) >= LIKELY - 1e-9  # rounding of sums
    return tuple(order[: int(is_enough.argmax()) + 1].tolist())


def _runs(labels: Sequence[Label]) -> list[list[int]]:
    """Indices of neighbouring times with the same label."""
    return [list(run) for _, run in groupby(range(len(labels)), labels.__getitem__)]


def _without_slivers(labels: list[Label], p_best: np.ndarray) -> list[Label]:
    """Short spans take the label of a neighbour that is nearly as likely there.

    A span is short below a twentieth of the grid, and at least two times on grids of ten or more.
    A span with P(best) of SURE stays.
    """
    shortest = max(2, len(labels) // 20) if len(labels) >= 10 else 1
    labels = list(labels)
    merge = next(_merges(labels, p_best, shortest), None)
    while merge is not None:
        run, label = merge
        for t in run:
            labels[t] = label
        merge = next(_merges(labels, p_best, shortest), None)
    return labels


def _merges(
    labels: list[Label], p_best: np.ndarray, shortest: int
) -> Iterator[tuple[list[int], Label]]:
    """Short spans, the shortest first, with the likeliest label of a neighbour that fits."""
    runs = _runs(labels)
    for k in sorted(range(len(runs)), key=lambda k: len(runs[k])):
        run = runs[k]
        highest = p_best[run].max(axis=1)
        lead = float(highest.mean())
        if len(run) >= shortest or lead >= SURE:
            continue
        likeliest: tuple[float, Label] = (0.0, ())
        for neighbour in (k - 1, k + 1):
            if 0 <= neighbour < len(runs):
                label = labels[runs[neighbour][0]]
                # A label of several algorithms that may be the best always fits.
                p_label = p_best[run, label[0]] if label else highest
                likeliest = max(likeliest, (float(p_label.mean()), label))
        if likeliest[0] >= NEARLY * lead:
            yield run, likeliest[1]
