"""Archives of non-dominated points: the outcomes of runs with several objectives.

A point enters the archive unless it has more violation than a point in it, or is weakly dominated
by one with the same violation; those that it beats leave. So an archive holds feasible points if
there are any, and otherwise the least violating ones. Objectives are minimised.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from math import inf

import numpy as np

from polarbear.numerics.arrays import Floats
from polarbear.rankings.outcomes import Improvements

Point = tuple[float, ...]
MAX_OBJECTIVES = 20
FIRST_CAPACITY = 64  # of the buffer of an archive, which is doubled when it is full


class Archive:
    """The archive of a run, to which points are offered one by one.

    With a ``limit`` on its size a full archive accepts only points that dominate one in it, so that
    it never gets worse, and no distance between points is needed.
    """

    def __init__(self, n_objectives: int, limit: int | None = None) -> None:
        self.violation = inf
        self._n_objectives = n_objectives
        self._limit = inf if limit is None else limit
        self._front: _Front2 | _Front = self._empty()

    def _empty(self) -> "_Front2 | _Front":
        return _Front2() if self._n_objectives == 2 else _Front(self._n_objectives)

    def __len__(self) -> int:
        return len(self._front)

    def add(self, point: Point, violation: float) -> bool:
        """Offer a point with finite values; return whether it has entered."""
        if violation > self.violation:
            return False
        if violation < self.violation:
            self.violation = violation
            self._front = self._empty()
        return self._front.add(point, self._limit)


class _Front2:
    """Points with two objectives, sorted by the first."""

    def __init__(self) -> None:
        self._first: list[float] = []
        self._second: list[float] = []

    def __len__(self) -> int:
        return len(self._first)

    def add(self, point: Point, limit: float) -> bool:
        """Add a point unless it is weakly dominated, or there are too many."""
        first, second = point
        n_not_above = bisect_right(self._first, first)
        if n_not_above and self._second[n_not_above - 1] <= second:
            return False
        start = bisect_left(self._first, first, 0, n_not_above)
        stop = start
        n_points = len(self._first)
        while stop < n_points and self._second[stop] >= second:
            stop += 1
        if stop == start and n_points >= limit:
            return False
        self._first[start:stop] = [first]
        self._second[start:stop] = [second]
        return True


class _Front:
    """Points with any number of objectives: a row of the buffer for each objective."""

    def __init__(self, n_objectives: int) -> None:
        self._buffer = np.empty((n_objectives, FIRST_CAPACITY))
        self._n_points = 0
        self._last_dominating: Point | None = None

    def __len__(self) -> int:
        return self._n_points

    def add(self, point: Point, limit: float) -> bool:
        """Add a point unless it is weakly dominated, or there are too many."""
        # A point that dominated the last rejected one often dominates the next one, too.
        last = self._last_dominating
        if last is not None and all(map(float.__le__, last, point)):
            return False
        points = self._buffer[:, : self._n_points]
        is_dominating = points[0] <= point[0]
        is_dominated = points[0] >= point[0]
        for values, value in zip(points[1:], point[1:], strict=True):
            is_dominating &= values <= value
            is_dominated &= values >= value
        if is_dominating.any():
            self._last_dominating = tuple(points[:, is_dominating.argmax()].tolist())
            return False
        if is_dominated.any():
            kept = points[:, ~is_dominated]
            self._n_points = kept.shape[1]
            self._buffer[:, : self._n_points] = kept
        elif self._n_points >= limit:
            return False
        if self._n_points == self._buffer.shape[1]:
            self._buffer = np.concatenate([self._buffer, np.empty_like(self._buffer)], axis=1)
        self._buffer[:, self._n_points] = point
        self._n_points += 1
        return True


def entered(
    improvements: Improvements, n_objectives: int, limit: int | None = None
) -> Improvements:
    """Those of a sequence of points that enter the archive, in the order of the sequence."""
    archive = Archive(n_objectives, limit)
    violations = improvements.all_violations()
    points = zip(improvements.values.tolist(), violations.tolist(), strict=True)
    enters = np.array([archive.add(tuple(point), violation) for point, violation in points], bool)
    return Improvements(
        improvements.times[enters],
        improvements.values[enters],
        None if improvements.violations is None else violations[enters],
    )


def non_dominated(points: Floats) -> Floats:
    """The points that no other one dominates; of equal points one."""
    if len(points) < 2:
        return points
    import moocore  # Runs with one objective do not load it.

    is_kept: np.ndarray = moocore.is_nondominated(points)
    return np.asarray(points[is_kept])


def fronts_at(improvements: Improvements, times: Floats) -> list[Floats]:
    """The archive at each time, in ascending order: points that have entered by then, and stay.

    The archive at a time is the same object as that before if no point has entered.
    """
    ends = np.searchsorted(improvements.times, times, side="right").tolist()
    violations = improvements.all_violations()
    front = improvements.values[:0]
    least = inf
    n_before = 0
    fronts = []
    for end in ends:
        if end > n_before:
            new = improvements.values[n_before:end]
            new_violations = violations[n_before:end]
            least_new = float(new_violations.min())
            if least_new < least:
                front = front[:0]
                least = least_new
            new = new[new_violations == least]
            front = non_dominated(np.concatenate([front, new]))
            n_before = end
        fronts.append(front)
    return fronts


def front_array(fronts: Sequence[Floats], values: Floats) -> np.ndarray:
    """Fronts as an array of objects, empty where a value is not finite: nothing was found."""
    array = np.empty(len(fronts), dtype=object)
    for k, front in enumerate(fronts):
        array[k] = front if np.isfinite(values[k]) else front[:0]
    return array


def with_fronts(
    values: Floats, fronts_by_cell: Mapping[tuple[int, int], np.ndarray], n_objectives: int
) -> np.ndarray:
    """The fronts of values[instance, algorithm, time], known in some cells and empty in others."""
    fronts = np.empty(values.shape, dtype=object)
    fronts.fill(np.empty((0, n_objectives)))
    for cell, fronts_of_cell in fronts_by_cell.items():
        fronts[cell] = fronts_of_cell
    return fronts


def union(fronts: Sequence[Floats]) -> Floats:
    """The non-dominated points of several fronts together."""
    return non_dominated(np.concatenate(fronts))
