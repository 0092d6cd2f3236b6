"""Outcomes: what a run has at a time, and which of two outcomes on one instance is better.

An outcome is a value; where a problem has constraints, it is a violation and a value. A feasible
outcome has the violation 0. Less violation is better, and of two equal violations the better value
is: feasible before infeasible, without a penalty. Everything after this file (rankings, duels,
choice sets, races) needs only this order. It does not change under increasing transformations of
the values, nor under those of the violations that keep 0.

With several objectives an outcome is an archive of non-dominated points: the feasible ones, or the
least violating ones if none is feasible (`archives`). Less violation is better; of two archives
with equal violations one is better, or neither (`front_duels`).

Arrays of outcomes are two arrays of the same shape, values and violations. The violations are None
where all outcomes are feasible, so that problems without constraints need nothing of this. An
outcome that has not been found yet has an infinite value and an infinite violation.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from polarbear.numerics.arrays import Floats


def total_violation(constraints: Iterable[float], tolerance: float = 0.0) -> float:
    """The violation of constraints g <= 0: the sum of their positive parts, 0 up to a tolerance.

    It is NaN if one of them is.
    """
    total = 0.0
    for constraint in constraints:
        if not constraint <= 0:  # true for NaN, too
            total += constraint
    return 0.0 if total <= tolerance else total


def is_better(violation: float, value: float, other_violation: float, other_value: float) -> bool:
    """Whether an outcome is better than another one on the same instance."""
    if violation == other_violation:
        return value < other_value
    return violation < other_violation


def order(values: Floats, violations: Floats | None, axis: int = -1) -> np.ndarray:
    """The indices that sort outcomes along an axis, the best first; NaN comes last."""
    if violations is None:
        return np.argsort(values, axis=axis, kind="stable")
    return np.lexsort((values, violations), axis=axis)


def ordinals(values: Floats, violations: Floats) -> Floats:
    """Numbers in the order of the outcomes in two lists: equal for equal ones, smaller if better.

    Functions that need only the order of values can then be used for outcomes, too.
    """
    sorting = order(values, violations)
    is_worse = np.zeros(len(values), dtype=bool)
    for column in (values[sorting], violations[sorting]):
        is_worse[1:] |= column[1:] != column[:-1]
    numbers = np.empty(len(values))
    numbers[sorting] = np.cumsum(is_worse)
    return numbers


def violations_of(values: Floats) -> Floats:
    """The violations of outcomes without constraints: 0, infinite where nothing was found."""
    return np.where(np.isfinite(values), 0.0, values)


def with_violations(
    values: Floats, violations_by_cell: Mapping[tuple[int, int], Floats]
) -> Floats | None:
    """The violations of values[instance, algorithm, time], known in some cells and 0 in others.

    They are None if there are none at all.
    """
    if not violations_by_cell:
        return None
    violations = violations_of(values)
    for cell, violations_of_cell in violations_by_cell.items():
        violations[cell] = violations_of_cell
    return violations


def or_none(violations: Floats) -> Floats | None:
    """Violations, or None if all outcomes are feasible."""
    return violations if violations.any() else None


@dataclass(frozen=True, eq=False)
class Improvements:
    """The outcomes of a run that were better than all before: times, values and violations.

    Where the last outcome counts instead of the best, they are its changes. With several objectives
    they are the points that have entered the archive, with values[point, objective].
    """

    times: Floats
    values: Floats
    violations: Floats | None = None

    @property
    def n_objectives(self) -> int:
        """The number of objectives."""
        return 1 if self.values.ndim == 1 else self.values.shape[1]

    def feasible(self) -> "Improvements":
        """The feasible ones of them."""
        if self.violations is None:
            return self
        is_feasible = self.violations == 0
        return Improvements(self.times[is_feasible], self.values[is_feasible])

    def all_violations(self) -> Floats:
        """The violation of each."""
        return np.zeros(len(self.values)) if self.violations is None else self.violations

    def up_to(self, t: float) -> "Improvements":
        """Those until a time."""
        is_inside = self.times <= t
        inside = None if self.violations is None else or_none(self.violations[is_inside])
        return Improvements(self.times[is_inside], self.values[is_inside], inside)

    def points(self) -> list[tuple[float, float, float]]:
        """Time, violation and value of each; with several objectives a list of values."""
        columns = (self.times.tolist(), self.all_violations().tolist(), self.values.tolist())
        return list(zip(*columns, strict=True))
