"""The verdict on one pair of versions after a look, from the scores of the candidate."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from polarbear.regression.sequential import first_crossing, statistics, window_means, windows


class Verdict(StrEnum):
    """Values as in JSON; the order is that of severity."""

    IDENTICAL = "identical"
    BETTER = "better"
    NO_WORSE = "no worse"
    UNDECIDED = "undecided"
    WORSE = "worse"

    @property
    def passes(self) -> bool:
        return self in (Verdict.IDENTICAL, Verdict.BETTER, Verdict.NO_WORSE)


@dataclass(frozen=True)
class Level:
    """What has to be shown: the tolerance of win rates, and errors for the whole sequence of looks.

    ``error`` is that of a pass, ``alarm`` that of "worse" and of "better": the same, divided by the
    number of pairs. Random signs depend on ``seed``.
    """

    tolerance: float
    error: float
    alarm: float
    seed: int


@dataclass(frozen=True)
class Looks:
    """The looks so far: numbers of problems, and shares of the limit of instances."""

    problems: tuple[int, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Decision:
    """The verdict after a look.

    ``span`` is the first and the last index of times at which the candidate is worse, or better;
    ``open_times`` the number of times at which "no worse" is not shown.
    """

    verdict: Verdict
    span: tuple[int, int] | None
    open_times: int


def instances_for_failures(level: Level) -> int:
    """Instances after which a share of failures as large as the tolerance would have shown up."""
    share = max(level.tolerance, 0.01)
    return int(np.ceil(np.log(level.error) / np.log1p(-share)))


def decide(
    scores: np.ndarray, looks: Looks, level: Level, may_pass: bool, identical: bool = False
) -> Decision:
    """The verdict that scores[problem, time] show by the last look.

    Without ``may_pass`` it is "worse" or "undecided"; ``identical`` versions are no worse. Where
    the candidate wins clearly more than half, further instances may show that it is better.
    """
    spans = windows(scores.shape[1])
    means = window_means(scores, spans)
    at_times = statistics(scores, 0.5 - level.tolerance, looks.problems, level.seed)
    crossings = [
        first_crossing(at_time, looks.shares, level.error)
        for at_time in np.moveaxis(at_times, 2, 0)
    ]
    open_times = crossings.count(None)
    worse = _span(1 - means, 0.5 + level.tolerance, spans, looks, level)
    if worse:
        return Decision(Verdict.WORSE, worse, open_times)
    if not may_pass or (open_times and not identical):
        return Decision(Verdict.UNDECIDED, None, open_times)
    if identical:
        return Decision(Verdict.IDENTICAL, None, open_times)
    better = _span(means, 0.5, spans, looks, level)
    if better:
        return Decision(Verdict.BETTER, better, 0)
    promising = looks.shares[-1] < 1 and np.nanmean(scores) > 0.5 + level.tolerance
    return Decision(Verdict.UNDECIDED if promising else Verdict.NO_WORSE, None, 0)


def _span(
    means: np.ndarray, rate: float, spans: np.ndarray, looks: Looks, level: Level
) -> tuple[int, int] | None:
    """Neighbouring times of windows that are each shown to exceed the rate, the clearest within."""
    found = statistics(means, rate, looks.problems, level.seed)
    crossing = first_crossing(found.max(axis=2), looks.shares, level.alarm)
    if crossing is None:
        return None
    look, bound = crossing
    inside = np.zeros(spans.max() + 1, dtype=bool)
    for start, stop in spans[found[0, look] > bound]:
        inside[start:stop] = True
    first, last = spans[found[0, look].argmax()]
    while first > 0 and inside[first - 1]:
        first -= 1
    while inside[last]:
        last += 1
    return int(first), int(last) - 1
