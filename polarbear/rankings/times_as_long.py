"""How many times as long an algorithm needs to reach the values of another, without a scale.

On one problem let y be the value that the reference has at time t, and tau(y) the first time at
which a run has reached y. The factor at t is tau_algorithm(y) / tau_reference(y). It depends on the
order of values only, so it is the same for every increasing transformation of them, and it is 1
where the runs are identical. It is summarised by its median over the times of a span, then over
problems.

Where the algorithm never reaches y, its factor is only known to exceed a bound: the time for which
it was watched, divided by tau_reference(y). Every factor is therefore an interval, from ``low`` to
``high``, whose ends are equal where the factor is known, and ``high`` is infinite where it is not.
The ends of a median are the medians of the ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from polarbear.numerics.arrays import Floats

INTERVAL = 0.95  # probability that an interval contains the median of the population


@dataclass(frozen=True)
class Trajectories:
    """Runs of one algorithm, one after the other: times and best values so far.

    Run k has the improvements ``starts[k]:starts[k + 1]``, and was watched until ``ends[k]``.
    """

    starts: np.ndarray
    times: Floats
    values: Floats
    ends: Floats

    @classmethod
    def of(cls, runs: Sequence[tuple[Floats, Floats]], ends: Sequence[float]) -> "Trajectories":
        """Runs with the times and values of their improvements; a run may have none."""
        nothing = np.empty(0)
        return cls(
            starts=np.cumsum([0, *(len(times) for times, _ in runs)]),
            times=np.concatenate([nothing, *(times for times, _ in runs)]),
            values=np.concatenate(
                [nothing, *(np.minimum.accumulate(values) for _, values in runs)]
            ),
            ends=np.asarray(ends, dtype=float),
        )

    def values_at(self, times: Floats) -> Floats:
        """The best value so far: [run, time]; infinite before the first improvement."""
        values = np.full((len(self.ends), len(times)), np.inf)
        for run, (start, stop) in enumerate(pairwise(self.starts)):
            index = np.searchsorted(self.times[start:stop], times, side="right") - 1
            has_value = index >= 0
            values[run, has_value] = self.values[start:stop][index[has_value]]
        return values

    def first_times(self, targets: Floats) -> Floats:
        """The first time at which each run has reached targets[run, ...]; infinite if never.

        It is a binary search in all runs at once.
        """
        shape = (-1, *(1,) * (targets.ndim - 1))
        stop = np.broadcast_to(self.starts[1:].reshape(shape), targets.shape)
        low = np.broadcast_to(self.starts[:-1].reshape(shape), targets.shape)
        high = stop
        last = max(len(self.values) - 1, 0)
        values = self.values if len(self.values) else np.full(1, np.inf)
        while (low < high).any():
            middle = np.minimum((low + high) // 2, last)
            is_reached = values[middle] <= targets
            is_open = low < high
            high = np.where(is_open & is_reached, middle, high)
            low = np.where(is_open & ~is_reached, middle + 1, low)
        times = np.append(self.times, np.inf)
        return np.asarray(times[np.where(low < stop, low, len(self.times))])


@dataclass(frozen=True)
class Factors:
    """Factors of runs at times: their lower and upper ends [run, time]; NaN where there is none."""

    low: Floats
    high: Floats

    def at(self, times: slice | np.ndarray) -> "Factors":
        """The factors at some times."""
        return Factors(self.low[:, times], self.high[:, times])

    def by_problem(self, problems: Sequence[str]) -> "Factors":
        """The median of each problem, over times and over its runs: [problem].

        Problems without a factor are left out.
        """
        _, index = np.unique(np.asarray(problems, dtype=str), return_inverse=True)
        is_known = ~np.isnan(self.low)
        problem_of_factor = np.broadcast_to(index[:, None], self.low.shape)[is_known]
        return Factors(
            _medians_by_group(self.low[is_known], problem_of_factor),
            _medians_by_group(self.high[is_known], problem_of_factor),
        )


@dataclass(frozen=True)
class TimesAsLong:
    """The median factor over problems with its 95 % interval.

    ``median`` is None where it is only known to exceed ``low``. Of the interval, ``low`` and
    ``high`` are None where too few problems, or unknown factors, leave that end open.
    """

    problems: int
    median: float | None
    low: float | None
    high: float | None


def factors(algorithm: Trajectories, reference: Trajectories, times: Floats) -> Factors:
    """The factors on the same instances at each time of a grid.

    There is none where the reference has no value yet, or where one of the two was not watched
    until that time.
    """
    targets = reference.values_at(times)
    needed_by_reference = reference.first_times(targets)
    needed = algorithm.first_times(targets)
    watched = np.minimum(algorithm.ends, reference.ends)[:, None] >= times
    has_factor = watched & np.isfinite(targets) & (needed_by_reference > 0)
    is_reached = np.isfinite(needed)
    known_time = np.where(is_reached, needed, algorithm.ends[:, None])
    low = np.full(targets.shape, np.nan)
    np.divide(known_time, needed_by_reference, out=low, where=has_factor)
    high = np.where(has_factor & ~is_reached, np.inf, low)
    return Factors(low, high)


@lru_cache(maxsize=1024)
def _problems_outside(n_problems: int) -> int:
    """The number of problems below the interval of a median, and above it.

    The number of problems below the median of the population is binomial with p = 1/2. Whole
    numbers give its probabilities exactly, and need no `scipy.special`, which is slow to import.
    """
    n_outside = 0
    subsets = 0
    subsets_of_size = 1
    for n_below in range(n_problems // 2):
        subsets += subsets_of_size
        subsets_of_size = subsets_of_size * (n_problems - n_below) // (n_below + 1)
        if subsets / 2**n_problems > (1 - INTERVAL) / 2:
            break
        n_outside += 1
    return n_outside


def summary(by_problem: Factors) -> TimesAsLong:
    """The median over problems, by order statistics: low[problem] and high[problem].

    The interval is the binomial one of a median. It assumes no distribution, and its ends are
    factors of single problems, of which some may be bounds.
    """
    n_problems = len(by_problem.low)
    if n_problems == 0:
        return TimesAsLong(0, None, None, None)
    together = np.zeros(n_problems, dtype=int)
    lowest = float(_medians_by_group(by_problem.low, together)[0])
    highest = float(_medians_by_group(by_problem.high, together)[0])
    if lowest != highest:
        return TimesAsLong(n_problems, None, lowest, None)
    n_outside = _problems_outside(n_problems)
    if n_outside == 0:
        return TimesAsLong(n_problems, lowest, None, None)
    low = float(np.sort(by_problem.low)[n_outside - 1])
    high = float(np.sort(by_problem.high)[n_problems - n_outside])
    return TimesAsLong(n_problems, lowest, low, high if np.isfinite(high) else None)


def _medians_by_group(values: Floats, groups: np.ndarray) -> Floats:
    """The median of each group that has values, in the order of the groups' numbers.

    The first call of `np.median` loads `numpy.ma`, which takes longer than all medians of a store.
    """
    _, sizes = np.unique(groups, return_counts=True)
    ordered = values[np.lexsort((values, groups))]
    starts = np.cumsum(sizes) - sizes
    lower_middle = ordered[starts + (sizes - 1) // 2]
    upper_middle = ordered[starts + sizes // 2]
    return np.asarray((lower_middle + upper_middle) / 2)
