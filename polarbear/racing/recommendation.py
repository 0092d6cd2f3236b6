"""Which algorithm to run at which budget: spans of time with one recommendation, or several.

The race's table, `report` and the page all use these spans, from P(best at t) by duels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any

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
    None for the last one, ``times`` is the number of its times. ``p_best`` is the range of P(best)
    of the first algorithm.
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

    def to_plain(self) -> dict[str, Any]:
        return {
            "algorithms": list(self.algorithms),
            "from": self.start,
            "to": self.stop,
            "p_best": list(self.p_best),
        }


@dataclass(frozen=True)
class Advice:
    """Spans that cover all times of the grid; ``sure`` is the share of times above SURE."""

    grade: Grade
    spans: tuple[Span, ...]
    sure: float


def advise(
    names: Sequence[str], times: np.ndarray, p_best: np.ndarray, problems: int | None = None
) -> Advice:
    """Recommendations by P(best)[time, algorithm].

    Where no algorithm reaches LIKELY, the smallest group that reaches it together is named.
    ``problems`` is the number of problems behind it.
    """
    lead = p_best.max(axis=1)
    sure, alone = float((lead >= SURE).mean()), float((lead >= LIKELY).mean())
    grade = Grade.RUN if sure >= 0.5 else Grade.PROBABLY if alone >= 0.5 else Grade.EARLY
    prior = 1 / len(names)
    if (problems is not None and problems < MIN_PROBLEMS) or (lead <= prior).all():
        grade = Grade.EARLY
    groups = [_smallest_group(chances) for chances in p_best]
    labels = _without_slivers([group if len(group) == 1 else () for group in groups], p_best)

    def algorithms(places: list[int]) -> Sequence[int]:
        together = {item for t in places for item in groups[t]}
        likeliest_first = sorted(together, key=lambda item: -p_best[places, item].sum())
        return labels[places[0]] or likeliest_first

    return Advice(grade, tuple(_spans(names, times, p_best, labels, algorithms)), sure)


def leaders(names: Sequence[str], times: np.ndarray, p_best: np.ndarray) -> list[Span]:
    """Spans of the algorithm with the highest P(best)[time, algorithm]."""
    labels: list[Label] = [(int(item),) for item in p_best.argmax(axis=1)]
    merged = _without_slivers(labels, p_best)
    return list(_spans(names, times, p_best, merged, lambda places: merged[places[0]]))


def _spans(
    names: Sequence[str],
    times: np.ndarray,
    p_best: np.ndarray,
    labels: Sequence[Label],
    algorithms: Callable[[list[int]], Sequence[int]],
) -> Iterator[Span]:
    for places in _runs(labels):
        items, after = algorithms(places), places[-1] + 1
        of_first = p_best[places, items[0]]
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
    while True:
        merged = next(_merges(labels, p_best, shortest), None)
        if merged is None:
            return labels
        places, label = merged
        for place in places:
            labels[place] = label


def _merges(
    labels: list[Label], p_best: np.ndarray, shortest: int
) -> Iterator[tuple[list[int], Label]]:
    """Short spans, the shortest first, with the likeliest label of a neighbour that fits."""
    runs = _runs(labels)
    for k in sorted(range(len(runs)), key=lambda k: len(runs[k])):
        places = runs[k]
        lead = float(p_best[places].max(axis=1).mean())
        if len(places) >= shortest or lead >= SURE:
            continue
        near = [labels[runs[j][0]] for j in (k - 1, k + 1) if 0 <= j < len(runs)]
        fitting = [(_support(label, p_best[places]), label) for label in near]
        likeliest = max(fitting, default=(0.0, ()))
        if likeliest[0] >= NEARLY * lead:
            yield places, likeliest[1]


def _support(label: Label, p_best: np.ndarray) -> float:
    """The mean P(best) of the label at some times; several that may be the best always fit."""
    return float(p_best[:, label[0]].mean()) if label else float(p_best.max(axis=1).mean())
