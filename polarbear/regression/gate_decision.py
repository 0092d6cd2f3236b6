"""The verdict on one pair of versions after a look, by a sequential test of win rates.

The score of a problem at a time is 1 if the candidate wins its duel, 0 if it loses, and 1/2 for a
draw. If the two versions are interchangeable, scores less 1/2 are as likely with either sign, all
times of a problem at once. Random signs of problems therefore give the distribution of any
statistic, whatever the correlation of times (the maximum over windows of times included).

A test looks at the data several times. The error that it may have used by a look is proportional to
the number of instances (Lan and DeMets 1983). Each pattern of random signs gives a path of the
statistic over the same looks. A pattern that crosses the bound of a look uses up error; so the
bound of each look is the lowest one for which the share of patterns that crossed it, or an earlier
one, does not exceed the error that the test may have used by then.

Whether the win rate exceeds a rate below one half is tested by the excess over that rate, with the
same random signs of scores less 1/2. The signs then vary by at least as much as the scores.

A tolerance in time needs no such rate: the candidate after time t is compared with the baseline
after t / (1 + tolerance). If the candidate takes just so much longer, the two are interchangeable.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np

SIGN_PATTERNS = 2000
# Random signs are exact at a win rate of one half. At 0.45 the maximum over windows crossed bounds
# for an error of 5 % in 5.7 % of 2,000 trials. Bounds for this share of the error were crossed in
# 4.8 % of 1,200 other trials.
SHARE_AT_THE_EDGE = 0.75
# With a tolerance in time, "worse" and "better" have half of the error each.
SHARE_OF_ONE_SIDE = 0.5
FAILURE_SHARE = 0.05  # of instances, where the tolerance is one in time
ROUNDING = 1e-6  # rounding error of statistics in single precision


class GateVerdict(StrEnum):
    """The verdict on a candidate, as in JSON, in the order of severity."""

    IDENTICAL = "identical"
    BETTER = "better"
    NO_WORSE = "no worse"
    UNDECIDED = "undecided"
    WORSE = "worse"

    @property
    def is_shown(self) -> bool:
        """Whether the data suffice for this verdict."""
        return self is not GateVerdict.UNDECIDED

    @property
    def words(self) -> str:
        """The verdict on screen; undecided means that no regression was shown."""
        return self.value if self.is_shown else "no regression shown"


@dataclass(frozen=True)
class Level:
    """The tolerance of win rates, and the permitted errors of the whole sequence of looks.

    ``error`` is that of a pass, ``alarm`` that of "worse" and of "better": the same, divided by the
    number of pairs. Random signs depend on ``seed``. ``longer`` is the share of time by which a
    candidate may be slower; ``tolerance`` is then zero.
    """

    tolerance: float
    error: float
    alarm: float
    seed: int
    longer: float | None = None

    @property
    def error_of_worse(self) -> float:
        """The error that the verdict "worse" may use."""
        share = SHARE_AT_THE_EDGE if self.longer is None else SHARE_OF_ONE_SIDE
        return share * self.alarm

    @property
    def error_of_better(self) -> float:
        """The error that the verdict "better" may use."""
        return self.alarm if self.longer is None else SHARE_OF_ONE_SIDE * self.alarm


@dataclass(frozen=True)
class Looks:
    """The looks so far: numbers of problems, and shares of the limit of instances."""

    problems: tuple[int, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class GateDecision:
    """The verdict after a look.

    ``span`` has the first and the last index of the times at which the candidate is worse, or
    better; ``open_times`` is the number of times at which "no worse" is not shown.
    """

    verdict: GateVerdict
    span: tuple[int, int] | None
    open_times: int


def instances_for_failures(level: Level) -> int:
    """Instances after which a share of failures as large as the tolerance would have shown up."""
    share = max(level.tolerance, 0.01) if level.longer is None else FAILURE_SHARE
    return int(np.ceil(np.log(level.error) / np.log1p(-share)))


def decide(
    scores: np.ndarray,
    looks: Looks,
    level: Level,
    may_pass: bool,
    identical: bool = False,
    equal_times: np.ndarray | None = None,
) -> GateDecision:
    """The verdict that scores[problem, time] show by the last look.

    With a tolerance in time, ``scores`` are those of the candidate with its longer times, and
    ``equal_times`` has those of equal times, which show that it is better.

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
    worse = _span(1 - means, 0.5 + level.tolerance, spans, looks, level.seed, level.error_of_worse)
    if worse:
        return GateDecision(GateVerdict.WORSE, worse, open_times)
    if not may_pass or (open_times and not identical):
        return GateDecision(GateVerdict.UNDECIDED, None, open_times)
    if identical:
        return GateDecision(GateVerdict.IDENTICAL, None, open_times)
    if equal_times is not None:
        means = window_means(equal_times, spans)
    better = _span(means, 0.5, spans, looks, level.seed, level.error_of_better)
    if better:
        return GateDecision(GateVerdict.BETTER, better, 0)
    promising = looks.shares[-1] < 1 and np.nanmean(means[:, -1]) > 0.5 + level.tolerance
    return GateDecision(GateVerdict.UNDECIDED if promising else GateVerdict.NO_WORSE, None, 0)


def _span(
    means: np.ndarray, rate: float, spans: np.ndarray, looks: Looks, seed: int, error: float
) -> tuple[int, int] | None:
    """The first and the last time of neighbouring windows that are shown to exceed the rate.

    They contain the window with the greatest statistic; None where no window is shown to exceed it.
    """
    by_window = statistics(means, rate, looks.problems, seed)
    crossing = first_crossing(by_window.max(axis=2), looks.shares, error)
    if crossing is None:
        return None
    look, bound = crossing
    of_data = by_window[0, look]
    is_inside = np.zeros(spans.max() + 1, dtype=bool)
    for start, stop in spans[of_data > bound]:
        is_inside[start:stop] = True
    first, last = spans[of_data.argmax()]
    while first > 0 and is_inside[first - 1]:
        first -= 1
    while is_inside[last]:
        last += 1
    return int(first), int(last) - 1


def look_sizes(limit: int, first: int = 8, share: float = 0.25) -> list[int]:
    """The numbers of instances at which a test looks; the last is ``limit``."""
    sizes = [min(first, limit)]
    while sizes[-1] < limit:
        sizes.append(min(limit, sizes[-1] + max(first, int(share * sizes[-1]))))
    return sizes


def windows(times: int) -> np.ndarray:
    """Windows of 1, 2, 4, ... times, overlapping by half, and all times: [window, (start, stop)].

    If the mean of win rates in a window is below a bound, so is one of them.
    """
    spans = []
    length = 1
    while length < times:
        starts = [*range(0, times - length, max(1, length // 2)), times - length]
        spans += [(start, start + length) for start in starts]
        length *= 2
    return np.array([*spans, (0, times)])


def window_means(scores: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """Means over windows of times: [problem, window]; NaN where a problem has no score."""
    has_score = ~np.isnan(scores)
    zero = np.zeros((len(scores), 1))
    total = np.hstack([zero, np.where(has_score, scores, 0).cumsum(axis=1)])
    count = np.hstack([zero, has_score.cumsum(axis=1)])
    start, stop = spans.T
    with np.errstate(invalid="ignore"):
        return np.asarray((total[:, stop] - total[:, start]) / (count[:, stop] - count[:, start]))


def statistics(scores: np.ndarray, rate: float, sizes: Sequence[int], seed: int) -> np.ndarray:
    """The standardised excess of mean scores over a rate: [1 + pattern, look, column].

    Row 0 belongs to the data, the other rows to patterns of random signs.
    """
    signs = np.random.default_rng(seed).integers(0, 2, (SIGN_PATTERNS, max(sizes)))
    signs = (2 * signs - 1).astype(np.float32)
    has_score = ~np.isnan(scores)
    excess = np.where(has_score, scores - rate, 0)
    centred = np.where(has_score, scores - 0.5, 0).astype(np.float32)
    sums = np.zeros((1 + SIGN_PATTERNS, scores.shape[1]), dtype=np.float32)
    squares = np.zeros(scores.shape[1])
    by_look = []
    for first, last in pairwise([0, *sizes]):
        sums[0] += excess[first:last].sum(axis=0)
        sums[1:] += signs[:, first:last] @ centred[first:last]
        squares += np.square(centred[first:last]).sum(axis=0)
        by_look.append(sums / np.sqrt(np.maximum(squares, 1e-6)))
    return np.stack(by_look, axis=1)


def first_crossing(
    path: np.ndarray, shares: Sequence[float], error: float
) -> tuple[int, float] | None:
    """The first look at which the data cross the bound, and the bound: path[1 + pattern, look].

    ``shares`` are the shares of the error that may be used by each look.
    """
    bounds = look_bounds(path[1:], shares, error)
    crossed = np.flatnonzero(path[0] > bounds)
    if len(crossed) == 0:
        return None
    look = int(crossed[0])
    return look, float(bounds[look])


def look_bounds(of_patterns: np.ndarray, shares: Sequence[float], error: float) -> np.ndarray:
    """The bound of each look, by of_patterns[pattern, look]; infinite where none is allowed."""
    is_inside = np.ones(len(of_patterns), dtype=bool)  # patterns that have not crossed a bound
    n_crossed = 0
    bounds = np.full(len(shares), np.inf)
    for look, share in enumerate(shares):
        allowed = int(error * share * (len(of_patterns) + 1)) - n_crossed
        if allowed < 1:
            continue
        at_look = of_patterns[:, look]
        descending = np.sort(at_look[is_inside])[::-1]
        largest_inside = descending[min(allowed, len(descending) - 1)] + ROUNDING
        crosses = is_inside & (at_look > largest_inside)
        # Statistics of few problems have few values: the data have to reach one that crosses.
        bounds[look] = at_look[crosses].min() - ROUNDING if crosses.any() else largest_inside
        n_crossed += int(crosses.sum())
        is_inside &= ~crosses
    return bounds
