"""Records the trajectory of one run with several objectives: the points that enter its archive.

Where a problem offers the true values of a point, those of points that enter an archive of observed
ones are recorded, if they enter an archive of true ones.
"""

from collections.abc import Callable, Sequence
from math import inf, isfinite
from typing import Any

import numpy as np

from polarbear.errors import BadOutputError, BudgetExhausted, ProblemError
from polarbear.execution.recorder import Point, Recorder
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Problem
from polarbear.rankings import archives
from polarbear.rankings.archives import Archive
from polarbear.settings.options import describe


class FrontRecorder(Recorder):
    """The trajectory of a run; the algorithm calls ``evaluate`` or ``report``.

    Values are sequences of one number for each objective. ``archive_size`` bounds the archive.
    """

    def __init__(
        self,
        problem: Problem | None,
        axis: str,
        budget: float,
        n_objectives: int,
        maximise: bool = False,
        journal: Callable[..., None] | None = None,
        feasibility_tolerance: float = 0.0,
        archive_size: int | None = None,
    ) -> None:
        super().__init__(
            problem,
            axis,
            budget,
            maximise,
            journal,
            feasibility_tolerance=feasibility_tolerance,
        )
        self._n_objectives = n_objectives
        self._archive = Archive(n_objectives, archive_size)
        self._true_archive = Archive(n_objectives, archive_size)
        self._points: list[archives.Point] = []

    def trajectory_values(self) -> Floats:
        """The points that have entered the archive: [point, objective]."""
        return np.array(self._points, dtype=np.float64).reshape(-1, self._n_objectives)

    def report(self, t: float, y: Any, violation: float = 0.0) -> None:
        """Record the values of the objectives that the algorithm has computed at time t.

        ``violation`` is that of the problem's constraints, 0 for a feasible point.
        """
        values = self._values_of(y)
        if values is None:
            raise BadOutputError(
                f"reported {describe(y)} at t = {t:g}; expected {self._n_objectives} numbers, one "
                "for each objective"
            )
        t, violation = self._checked_report(t, violation)
        point = self._in_order(values)
        if not (all(map(isfinite, point)) and isfinite(violation)):
            self.invalid += 1
        elif self._archive.add(point, violation):
            self._record_point(t, point, violation)

    def _values_of(self, returned: Any) -> archives.Point | None:
        """The values of the objectives; None if these are not as many numbers."""
        try:
            values = tuple(map(float, returned))
        except (TypeError, ValueError):
            return None
        return values if len(values) == self._n_objectives else None

    def _in_order(self, values: archives.Point) -> archives.Point:
        """The values in the order of outcomes: smaller is better."""
        if self._sign == 1:
            return values
        return tuple([-value for value in values])

    def _read_point(self, function: Callable[[Point], Any], x: Point) -> archives.Point:
        """The values of a function at x; its constraints, if it returns any, are noted."""
        returned = function(x)
        is_constrained = (
            isinstance(returned, tuple) and len(returned) == 2 and np.ndim(returned[0]) == 1
        )
        constraints: list[float] | None = None
        values = self._values_of(returned[0] if is_constrained else returned)
        if is_constrained:
            try:
                constraints = list(map(float, returned[1]))
            except (TypeError, ValueError):
                values = None
        if values is None:
            raise ProblemError(
                f"the objectives returned {describe(returned)}; expected {self._n_objectives} "
                f"numbers, or with constraints these and a list of numbers: ([y1, y2], [g1, g2])"
            )
        if constraints is not None or self.constraints is not None:
            self._take_constraints(constraints)
        return values

    def _read(self, function: Callable[[Point], Any], x: Point) -> Any:
        return self._read_point(function, x)

    def _evaluate_unrecorded(self, x: Point) -> Any:
        self._count += 1
        return self._received(self._in_order(self._read_point(self._objective, x)))

    def _observe(self, t: float, value: Any, x: Point) -> Any:
        """Record the values at x if they enter; return those that the algorithm receives."""
        point = self._in_order(value)
        violation = self._violation
        # A point that is not finite has a sum that is not, and such sums are rarely wrong.
        if not isfinite(sum(point)) and not all(map(isfinite, point)):
            return self._received(point)
        if violation != violation:
            self.invalid += 1
            return [inf] * self._n_objectives
        if self._archive.add(point, violation):
            if self._true_value is None:
                self._record_point(t, point, violation)
            else:
                self._record_true_point(t, x, self._true_value)
        return list(point)

    def _received(self, point: archives.Point) -> list[float]:
        """The values that the algorithm receives: infinite where one is not finite."""
        if all(map(isfinite, point)):
            return list(point)
        self.invalid += 1
        return [inf] * self._n_objectives

    def _record_true_point(self, t: float, x: Point, true_value: Callable[[Point], Any]) -> None:
        """Record the true values at x; their violation is that observed unless they have one."""
        observed_constraints = self.constraints
        observed_violation = self._violation
        point = self._in_order(self._read_point(true_value, x))
        violation = observed_violation if self.constraints is None else self._violation
        self.constraints = observed_constraints
        self._violation = observed_violation
        if not (all(map(isfinite, point)) and isfinite(violation)):
            self.invalid += 1
        elif self._true_archive.add(point, violation):
            self._record_point(t, point, violation)

    def _record_point(self, t: float, point: archives.Point, violation: float) -> None:
        self.times.append(t)
        self._points.append(point)
        self.violations.append(violation)
        self._write(t, point, violation)

    def _evaluate_many(self, points: Floats) -> Any:
        n_within = min(len(points), self._limit - self._count)
        evaluate_many = self._problem.evaluate_many
        values = np.empty((0, self._n_objectives))
        if evaluate_many is not None and n_within:
            values = np.asarray(evaluate_many(points[:n_within]), dtype=np.float64)
        if values.shape != (n_within, self._n_objectives):
            raise ProblemError(
                f"evaluate_many returned an array of the shape {values.shape} for {n_within} "
                f"points; expected {self._n_objectives} numbers for each"
            )
        self._take_constraints(None)
        observed: list[Sequence[float]] = []
        for x, point in zip(points, values.tolist(), strict=False):
            self._count += 1
            observed.append(self._observe(self._count, tuple(point), x))
        if n_within < len(points):
            raise BudgetExhausted
        return observed
