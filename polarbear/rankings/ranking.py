"""Rankings with ties from outcomes on a grid; `outcomes` defines which of two is better.

Data shapes:

- ``values[instance, algorithm, time]``: best so far, smaller is better; +inf, the last place, where
  an algorithm has found nothing yet.
- ``violations``, of the same shape, or None if all values are feasible.
- ``present``, of the same shape: whether an algorithm is in the ranking.
- ``positions``, of the same shape: 0 for the best, equal where tied, no gaps; ABSENT where absent,
  BELOW where a ranking recorded only those above.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from polarbear.errors import RankingError
from polarbear.numerics.arrays import Floats
from polarbear.rankings import outcomes
from polarbear.rankings.front_duels import DuelSettings, FrontsOfRun, results_of

ABSENT = -1
BELOW = 2**15 - 2  # below all algorithms that have a position; the order among these is unknown
MAX_ALGORITHMS = 200
NO_TOTAL_ORDER = "with several objectives outcomes have no total order, only duels"
UNRECORDED = sys.float_info.max  # a value below all that an imported ranking has recorded


@dataclass(frozen=True)
class GridValues:
    """Best-so-far outcomes on a grid: values[instance, algorithm, time] and their violations.

    +inf where a run has found nothing yet, UNRECORDED where an imported ranking has only those
    above it, NaN where an algorithm is absent: it was not run on that instance, or was stopped on
    purpose before that time. The violations are None where every value is feasible.

    With several objectives fronts[instance, algorithm, time] are arrays of non-dominated points,
    [point, objective] each, and a value is 0 where the front has points.
    """

    instances: tuple[str, ...]
    algorithms: tuple[str, ...]
    times: Floats
    values: Floats
    violations: Floats | None = None
    fronts: np.ndarray | None = None

    @property
    def present(self) -> np.ndarray:
        """Whether an algorithm is in the ranking: bool[instance, algorithm, time]."""
        return ~np.isnan(self.values)

    def feasible_values(self) -> Floats:
        """The values, infinite where a run has found nothing feasible yet."""
        if self.violations is None:
            return self.values
        return np.where(self.violations > 0, np.inf, self.values)

    def positions(self, tie_tolerance: float = 0.0) -> np.ndarray:
        """The positions of the algorithms on each instance at each time."""
        if self.fronts is not None:
            raise RankingError(f"there are no positions: {NO_TOTAL_ORDER}")
        return rank(self.values, self.present, tie_tolerance, self.violations)

    def duel_results(self, settings: DuelSettings) -> np.ndarray | None:
        """The results of all duels of fronts: [instance, pair, time]; None with one objective."""
        if self.fronts is None:
            return None
        return results_of([self.runs_on(i) for i in range(len(self.instances))], settings)

    def runs_on(self, instance: int) -> list[FrontsOfRun]:
        """The fronts of each algorithm on an instance, given by its index."""
        assert self.fronts is not None, "there are several objectives"
        return [
            FrontsOfRun(
                self.fronts[instance, a],
                self.present[instance, a],
                None if self.violations is None else self.violations[instance, a],
            )
            for a in range(len(self.algorithms))
        ]

    def with_outcomes_at(self, index: np.ndarray) -> GridValues:
        """The grid whose outcomes at each time are those at another one, given by its index."""
        violations = None if self.violations is None else self.violations[:, :, index]
        fronts = None if self.fronts is None else self.fronts[:, :, index]
        return replace(self, values=self.values[:, :, index], violations=violations, fronts=fronts)

    def pick(self, instances: Sequence[str], algorithms: Sequence[str]) -> GridValues:
        """The same outcomes of some algorithms on some of the instances, in this order."""
        row = {name: position for position, name in enumerate(self.instances)}
        rows = [row[name] for name in instances]
        columns = [self.algorithms.index(name) for name in algorithms]
        chosen = np.ix_(rows, columns)
        violations = None if self.violations is None else self.violations[chosen]
        return replace(
            self,
            instances=tuple(instances),
            algorithms=tuple(algorithms),
            values=self.values[chosen],
            violations=violations,
            fronts=None if self.fronts is None else self.fronts[chosen],
        )


def side_by_side(first: GridValues, second: GridValues, algorithms: tuple[str, ...]) -> GridValues:
    """Outcomes of two grids on the same instances as one, with new names for the algorithms."""
    violations = None
    if first.violations is not None or second.violations is not None:
        parts = [
            outcomes.violations_of(grid.values) if grid.violations is None else grid.violations
            for grid in (first, second)
        ]
        violations = np.concatenate(parts, axis=1)
    fronts = None
    if first.fronts is not None and second.fronts is not None:
        fronts = np.concatenate([first.fronts, second.fronts], axis=1)
    values = np.concatenate([first.values, second.values], axis=1)
    return GridValues(first.instances, algorithms, first.times, values, violations, fronts)


@dataclass(frozen=True)
class Coverage:
    """The algorithms that rankings compare.

    ``rankings[T]`` is the number of rankings of two or more algorithms, ``met[n, n]`` says which
    pairs occur in one ranking.
    """

    rankings: np.ndarray
    met: np.ndarray

    @classmethod
    def of(cls, positions: np.ndarray) -> Coverage:
        present = positions != ABSENT
        met = np.eye(present.shape[1], dtype=bool)
        for instance in present:
            ran = instance.astype(np.float32)
            met |= ran @ ran.T > 0
        return cls((present.sum(axis=1) > 1).sum(axis=0), met)

    def pick(self, times: np.ndarray) -> Coverage:
        """The coverage at some timepoints, given by their indices."""
        return replace(self, rankings=self.rankings[times])


def rank(
    values: np.ndarray,
    present: np.ndarray | None = None,
    tie_tolerance: float = 0.0,
    violations: np.ndarray | None = None,
) -> np.ndarray:
    """Positions of the algorithms on each instance at each time.

    A value ties with the best of its block when it is at most ``tie_tolerance`` worse; the default
    asks for equality. A block is measured from its best, so it never spans more than the tolerance.
    Outcomes with different violations never tie.
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 3 or values.shape[1] == 0:
        raise RankingError(
            f"expected values[instance, algorithm, time], found an array of shape {values.shape}"
        )
    n = values.shape[1]
    if n > MAX_ALGORITHMS:
        raise RankingError(f"{n} algorithms in one ranking; at most {MAX_ALGORITHMS} can be ranked")
    if not tie_tolerance >= 0:
        raise RankingError(f"a tie tolerance is zero or more, found {tie_tolerance!r}")
    if present is None:
        present = np.ones(values.shape, dtype=bool)
    undefined = np.isnan(values) & present
    if undefined.any():
        instance, algorithm, time = np.argwhere(undefined)[0]
        raise RankingError(
            f"the value of algorithm {algorithm} on instance {instance} at timepoint {time} is not "
            "a number: mark the algorithm absent there, or give +inf where it has found nothing"
        )
    if violations is not None:
        violations = np.where(present, violations, np.nan)
    positions = _positions(np.where(present, values, np.nan), violations, float(tie_tolerance))
    positions[~present] = ABSENT
    positions[present & (values == UNRECORDED)] = BELOW
    return positions


def _positions(values: np.ndarray, violations: np.ndarray | None, tolerance: float) -> np.ndarray:
    """The positions of all instances and times at once, place after place; NaN comes last."""
    order = outcomes.order(values, violations, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    placed = np.zeros(values.shape, dtype=np.int16)
    first = ordered[:, 0].copy()  # the best of the block
    ordered_violations = None
    if violations is not None:
        ordered_violations = np.take_along_axis(violations, order, axis=1)
    for k in range(1, values.shape[1]):
        value = ordered[:, k]
        with np.errstate(invalid="ignore"):  # equality holds for two infinities, too
            behind = ~((value == first) | (value - first <= tolerance))
        if ordered_violations is not None:
            behind |= ordered_violations[:, k] != ordered_violations[:, k - 1]
        placed[:, k] = placed[:, k - 1] + behind
        first[behind] = value[behind]
    positions = np.empty_like(placed)
    np.put_along_axis(positions, order, placed, axis=1)
    return positions
