"""Which algorithm to run at which budget: spans of time with one recommendation, or several.

The race's table, `report`, the page and `select --sweep` all use these spans, from P(best at t).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, groupby

import numpy as np

from polarbear.wording import time, timed

LIKELY = 2 / 3  # P(best) from which a single algorithm is recommended
SURE = 0.9  # P(best) that half of the times need for "run" instead of "probably"
NEARLY = 0.75  # of the highest P(best), with which a neighbour takes over a short span
MIN_PROBLEMS = 10  # below which no algorithm is recommended

SHORT_SHARE = 1 / 20  # of the grid, below which a span with one algorithm is short
SHORT_SHARE_OPEN = 1 / 10  # the same for a span with several, whose groups change more easily

Group = tuple[int, ...]  # the algorithms that lead at a time, in ascending order
# The number of problems on which two algorithms had equal values, on all of them: [time, a, b].
# It is 0 for pairs that differed on some problem, or shared none.
SameValues = np.ndarray


class Grade(StrEnum):
    """How much can be said: which algorithm to run, which one probably, or nothing yet."""

    RUN = "run"
    PROBABLY = "probably"
    EARLY = "too early"


@dataclass(frozen=True)
class Span:
    """Neighbouring times with the same recommendation.

    ``start`` and ``stop`` are its first and last time, ``times`` is the number of its times.
    ``p_best`` is the range of P(best) of the first algorithm. If its algorithms had equal values on
    all problems, ``same_on`` is the number of these, and P(best) is that of all of them together.
    """

    algorithms: tuple[str, ...]
    start: float
    stop: float
    times: int
    is_first: bool
    is_last: bool
    p_best: tuple[float, float]
    same_on: int = 0

    @property
    def is_open(self) -> bool:
        """Whether several algorithms may be the best, and have not always had equal values."""
        return len(self.algorithms) > 1 and not self.same_on

    def budgets(self, axis: str = "") -> str:
        """The budgets of this span in words, by times of the grid."""

        def with_unit(t: float) -> str:
            return timed(t, axis) if axis else time(t)

        if self.is_first and self.is_last:
            return "at all times"
        if self.start == self.stop:
            return f"at {with_unit(self.stop)}"
        if self.is_first:
            return f"up to {with_unit(self.stop)}"
        if self.is_last:
            return f"from {with_unit(self.start)} on"
        return f"from {time(self.start)} to {with_unit(self.stop)}"

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
    names: Sequence[str],
    times: np.ndarray,
    p_best: np.ndarray,
    problems: int | None = None,
    same_values: SameValues | None = None,
) -> Advice:
    """Recommendations by P(best)[time, algorithm].

    Where no algorithm reaches LIKELY, the smallest group that reaches it together is named.
    Algorithms that had the ``same_values`` on all problems are named together, and share their
    P(best). ``problems`` is the number of problems behind it.
    """
    n = len(names)
    if same_values is None:
        same_values = np.zeros((len(times), n, n), dtype=int)
    is_same = (same_values > 0) | np.eye(n, dtype=bool)
    groups = [_smallest_group(*at_time) for at_time in zip(p_best, is_same, strict=True)]
    spans = tuple(_spans(names, times, p_best, groups, same_values))
    p_best_together = np.einsum("ta,tab->tb", p_best, is_same)
    return Advice(_grade(p_best_together, problems), spans)


def _grade(p_best: np.ndarray, problems: int | None) -> Grade:
    """How much P(best)[time, algorithm] of this number of problems can say."""
    highest = p_best.max(axis=1)
    has_too_few_problems = problems is not None and problems < MIN_PROBLEMS
    says_nothing = (highest <= 1 / p_best.shape[1]).all()
    if has_too_few_problems or says_nothing:
        return Grade.EARLY
    if (highest >= SURE).mean() >= 0.5:
        return Grade.RUN
    if (highest >= LIKELY).mean() >= 0.5 or (highest >= SURE).any():
        return Grade.PROBABLY
    return Grade.EARLY


def leaders(names: Sequence[str], times: np.ndarray, p_best: np.ndarray) -> list[Span]:
    """Spans of the algorithm with the highest P(best)[time, algorithm]."""
    return list(_spans(names, times, p_best, [(int(item),) for item in p_best.argmax(axis=1)]))


def _spans(
    names: Sequence[str],
    times: np.ndarray,
    p_best: np.ndarray,
    groups: Sequence[Group],
    same_values: SameValues | None = None,
) -> Iterator[Span]:
    """Spans of neighbouring times with the same leading group, the likeliest algorithm first.

    A span also ends where the values of a group begin or cease to be the same.
    """
    groups = _without_slivers(groups, p_best)
    same_on = [0] * len(groups)
    if same_values is not None:
        same_on = [_same_on(*at_time) for at_time in zip(groups, same_values, strict=True)]
    for run in _runs([(group, n > 0) for group, n in zip(groups, same_on, strict=True)]):
        items = sorted(groups[run[0]], key=lambda item: -p_best[run, item].sum())
        problems = min(same_on[t] for t in run)
        p_best_in_span = p_best[run][:, items if problems else items[:1]].sum(axis=1)
        yield Span(
            algorithms=tuple(names[item] for item in items),
            start=float(times[run[0]]),
            stop=float(times[run[-1]]),
            times=len(run),
            is_first=run[0] == 0,
            is_last=run[-1] == len(times) - 1,
            p_best=(float(p_best_in_span.min()), float(p_best_in_span.max())),
            same_on=problems,
        )


def _same_on(group: Group, same_values: SameValues) -> int:
    """The number of problems on which a group had the same_values[a, b]; 0 for a single one."""
    return int(min((same_values[a, b] for a, b in combinations(group, 2)), default=0))


def _smallest_group(p_best: np.ndarray, is_same: np.ndarray) -> Group:
    """The smallest group that contains the best algorithm with probability LIKELY.

    Algorithms that are the same, bool[a, b], are in it together.
    """
    order = np.argsort(-(is_same @ p_best), kind="stable")
    group: set[int] = set()
    for item in order.tolist():
        group |= {*np.flatnonzero(is_same[item]).tolist()}
        if p_best[sorted(group)].sum() >= LIKELY - 1e-9:  # rounding of sums
            break
    return tuple(sorted(group))


def _runs(groups: Sequence[object]) -> list[list[int]]:
    """Indices of neighbouring times with the same group."""
    return [list(run) for _, run in groupby(range(len(groups)), groups.__getitem__)]


def _without_slivers(groups: Sequence[Group], p_best: np.ndarray) -> list[Group]:
    """Short spans take the group of a neighbour that is nearly as likely there.

    A span with P(best) of SURE stays.
    """
    groups = list(groups)
    merge = next(_merges(groups, p_best), None)
    while merge is not None:
        run, group = merge
        for t in run:
            groups[t] = group
        merge = next(_merges(groups, p_best), None)
    return groups


def _is_short(run: Sequence[int], group: Group, n_times: int) -> bool:
    """Whether a span is short; on grids of ten times or more, one with a single time always is."""
    share = SHORT_SHARE_OPEN if len(group) > 1 else SHORT_SHARE
    return n_times >= 10 and len(run) < max(2, int(n_times * share))


def _merges(groups: Sequence[Group], p_best: np.ndarray) -> Iterator[tuple[list[int], Group]]:
    """Short spans, the shortest first, with the likeliest group of a neighbour that fits."""
    runs = _runs(groups)
    for k in sorted(range(len(runs)), key=lambda k: len(runs[k])):
        run = runs[k]
        group = groups[run[0]]
        is_sure = p_best[run].max(axis=1).mean() >= SURE
        if is_sure or not _is_short(run, group, len(groups)):
            continue
        neighbours = [groups[runs[i][0]] for i in (k - 1, k + 1) if 0 <= i < len(runs)]
        # Of neighbours that are equally likely, the smaller group says more.
        fits = [(_fit(p_best[run], group, other), -len(other), other) for other in neighbours]
        if fits and max(fits)[0] >= NEARLY:
            yield run, max(fits)[2]


def _fit(p_best: np.ndarray, group: Group, other: Group) -> float:
    """How likely another group is to contain the best algorithm, as a share of that of a group.

    ``p_best`` is that of the times in question. A single algorithm is compared with the likeliest
    one at each time: it need not be as likely as several together.
    """
    p_other = p_best[:, list(other)].sum(axis=1).mean()
    if len(other) == 1:
        return float(p_other / p_best.max(axis=1).mean())
    return float(min(1.0, p_other / p_best[:, list(group)].sum(axis=1).mean()))
