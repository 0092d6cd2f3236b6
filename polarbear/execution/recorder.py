"""Records the trajectory of one run, and ends the run when its budget is spent.

Only improvements are recorded; where the last value counts instead of the best, every change is.
With constraints an improvement has less violation, or the same and a better value. If a problem
offers the true value of a point, that of the incumbent is recorded. A journal on disk
keeps the trajectory if the process dies. A value that is not finite is never an improvement: it is
counted, and the algorithm receives +inf instead.
"""

from collections.abc import Callable
from math import inf, isfinite, nan
from time import perf_counter
from typing import Any

import numpy as np

from polarbear.errors import BadOutputError, BudgetExhausted, ProblemError
from polarbear.numerics.arrays import Floats
from polarbear.numerics.processor_time import ProcessorClock
from polarbear.problems.base import Problem
from polarbear.rankings.outcomes import is_better, total_violation
from polarbear.settings.grid import CPU_SECONDS, EVALUATIONS, TIMED_AXES
from polarbear.settings.options import describe

Point = Any  # as the suite defines it
Objective = Callable[[Point], float]


class Recorder:
    """The trajectory of one run; the algorithm calls ``evaluate`` or ``report``.

    Without a problem it can only report. ``last`` records every change instead of improvements.
    """

    def __init__(
        self,
        problem: Problem | None,
        axis: str,
        budget: float,
        maximise: bool = False,
        journal: Callable[..., None] | None = None,
        last: bool = False,
        feasibility_tolerance: float = 0.0,
    ) -> None:
        self.times: list[float] = []
        self.values: list[float] = []
        self.violations: list[float] = []
        self.invalid = 0
        # The constraints at the last evaluated point; None if the problem gave none.
        self.constraints: list[float] | None = None
        self._violation = 0.0  # at that point; NaN if one of the constraints is not finite
        self._feasibility_tolerance = feasibility_tolerance
        self._problem = problem or _NO_PROBLEM
        self._objective = self._problem.evaluate
        self._building_seconds = self._problem.building_seconds or (lambda: 0.0)
        self._true_value = self._problem.true_value
        self._axis = axis
        self._budget = budget
        self._sign = -1.0 if maximise else 1.0
        self._journal = journal
        self._last = last
        self._count = 0
        self._reported = 0.0
        # Observed so far; both stay infinite where every value counts.
        self._best = inf
        self._best_violation = inf
        self._every_value = last and self._true_value is None
        self._limit = int(budget) if axis == EVALUATIONS else 0
        self._clock = perf_counter
        if axis == CPU_SECONDS:
            self._clock = ProcessorClock(includes_this_process=True).now
        self._start = self._clock()  # moved forward by all time that is not charged
        self.evaluate: Objective = {
            EVALUATIONS: self._evaluate_counted,
            **dict.fromkeys(TIMED_AXES, self._evaluate_timed),
        }.get(axis, self._evaluate_unrecorded)
        # Evaluates many points in one call and records them one by one; None if impossible.
        can_evaluate_many = self._problem.evaluate_many is not None and axis == EVALUATIONS
        self.at_once = self._evaluate_many if can_evaluate_many else None

    def trajectory_values(self) -> Floats:
        """The values of the improvements."""
        return np.array(self.values, dtype=np.float64)

    def start(self) -> None:
        """Start the clock; time before that is not charged."""
        self._start = self._clock()

    def elapsed(self) -> float:
        """Seconds since the clock was started, without time that is not charged."""
        return self._clock() - self._start

    @property
    def evaluations(self) -> int:
        """The number of values computed here, or reported on the evaluation axis."""
        return int(max(self._count, self._reported if self._axis == EVALUATIONS else 0))

    @property
    def reached(self) -> float:
        """The time that the run has reached on its axis."""
        if self._axis == EVALUATIONS:
            return float(self.evaluations)
        if self._axis in TIMED_AXES and self._problem is not _NO_PROBLEM:
            return min(self.elapsed(), self._budget)
        return self._reported

    def _evaluate_counted(self, x: Point) -> float:
        if self._count >= self._limit:
            raise BudgetExhausted
        self._count += 1
        return self._observe(self._count, self._read(self._objective, x), x)

    def _evaluate_timed(self, x: Point) -> float:
        begun = self._clock()
        if begun - self._start >= self._budget:
            raise BudgetExhausted
        self._count += 1
        building_before = self._building_seconds()
        value = self._read(self._objective, x)
        evaluated = self._clock()
        # Building is measured by the wall clock, and takes no longer than the call.
        building = self._building_seconds() - building_before
        self._start += min(building, evaluated - begun)
        if evaluated - self._start > self._budget:
            raise BudgetExhausted
        y = self._observe(evaluated - self._start, value, x)
        self._start += self._clock() - evaluated
        return y

    def _evaluate_unrecorded(self, x: Point) -> float:
        self._count += 1
        y = self._sign * self._read(self._objective, x)
        return y if y == y and y != -inf else self._count_invalid()

    def _evaluate_many(self, points: Floats) -> list[float]:
        n_within = min(len(points), self._limit - self._count)
        evaluate_many = self._problem.evaluate_many
        values = np.empty(0)
        if evaluate_many is not None and n_within:
            values = np.asarray(evaluate_many(points[:n_within]), dtype=np.float64)
        if values.shape != (n_within,):
            raise ProblemError(
                f"evaluate_many returned {_kind_of(values)} for {n_within} points; expected as "
                "many numbers"
            )
        self._take_constraints(None)
        observed = []
        for x, value in zip(points, values.tolist(), strict=False):
            self._count += 1
            observed.append(self._observe(self._count, value, x))
        if n_within < len(points):
            raise BudgetExhausted
        return observed

    def report(self, t: float, y: Any, violation: float = 0.0) -> None:
        """Record an objective value that the algorithm itself has computed at time t.

        ``violation`` is that of the problem's constraints, 0 for a feasible value.
        """
        if isinstance(y, list | tuple) and len(y) == 1:
            y = y[0]  # a vector of length one
        y = self._sign * float(y)
        t, violation = self._checked_report(t, violation)
        if not (isfinite(y) and isfinite(violation)):
            self.invalid += 1
        elif self._last or is_better(violation, y, self._best_violation, self._best):
            self._best = y
            self._best_violation = violation
            self._record(t, y, violation)

    def _checked_report(self, t: float, violation: float) -> tuple[float, float]:
        """The time and the violation of a report; an error if one of them cannot be right."""
        t = float(t)
        violation = float(violation)
        if violation < 0:
            raise BadOutputError(
                f"reported the violation {violation:g} at t = {t:g}; it is 0 for a feasible value, "
                "and otherwise above 0"
            )
        if violation <= self._feasibility_tolerance:
            violation = 0.0
        if not isfinite(t) or t < self._reported:
            raise BadOutputError(
                f"reported t = {t:g} after t = {self._reported:g}; times must be finite and not "
                "go back"
            )
        if t > self._budget:
            self._reported = self._budget
            raise BudgetExhausted
        self._reported = t
        return t, violation

    def _read(self, function: Callable[[Point], Any], x: Point) -> float:
        """The value of a function at x; its constraints, if it returns any, are noted."""
        returned = function(x)
        if not isinstance(returned, tuple) or len(returned) == 1:
            if self.constraints is not None:
                self._take_constraints(None)
            return _number(returned, function)
        if len(returned) != 2 or np.size(returned[0]) != 1 or np.ndim(returned[1]) != 1:
            raise _unexpected(returned, function)
        value, constraints = returned
        self._take_constraints([_number(constraint, function) for constraint in constraints])
        return _number(value, function)

    def _take_constraints(self, constraints: list[float] | None) -> None:
        self.constraints = constraints
        violation = total_violation(constraints or (), self._feasibility_tolerance)
        self._violation = violation if isfinite(violation) else nan

    def note_end(self, t: float | None) -> bool:
        """Note when the algorithm itself has ended its search; return False if that is too late."""
        if t is None:
            return True
        self._reported = max(self._reported, min(t, self._budget))
        return t <= self._budget

    def _observe(self, t: float, value: float, x: Point) -> float:
        """Record a value at x if it counts; return the value that the algorithm receives."""
        y = self._sign * value
        violation = self._violation
        if y < inf and is_better(violation, y, self._best_violation, self._best):
            if y == -inf:
                return self._count_invalid()
            if not self._every_value:
                self._best = y
                self._best_violation = violation
            if self._true_value is None:
                self._record(t, y, violation)
            else:
                self._record_true(t, x, self._true_value)
        elif y != y or violation != violation:
            return self._count_invalid()
        return y

    def _record_true(self, t: float, x: Point, true_value: Callable[[Point], Any]) -> None:
        """Record the true value at x; its violation is that observed unless it has constraints."""
        observed_constraints = self.constraints
        observed_violation = self._violation
        y = self._sign * self._read(true_value, x)
        violation = observed_violation if self.constraints is None else self._violation
        self.constraints = observed_constraints
        self._violation = observed_violation
        if not (isfinite(y) and isfinite(violation)):
            self.invalid += 1
        elif (
            self._last
            or not self.values
            or is_better(violation, y, self.violations[-1], self.values[-1])
        ):
            self._record(t, y, violation)

    def _record(self, t: float, y: float, violation: float) -> None:
        is_same = bool(self.values) and (self.values[-1], self.violations[-1]) == (y, violation)
        if self._last and is_same:
            return
        self.times.append(t)
        self.values.append(y)
        self.violations.append(violation)
        self._write(t, y, violation)

    def _write(self, t: float, y: float | tuple[float, ...], violation: float) -> None:
        """Add an improvement to the journal."""
        if self._journal is not None:
            try:
                self._journal(t, y, violation)
            except OSError:  # a full scratch disk must not end the run
                self._journal = None

    def _count_invalid(self) -> float:
        self.invalid += 1
        return inf


def _number(value: Any, function: Callable[[Point], Any]) -> float:
    """A number that a function has returned, perhaps as a vector of length one."""
    try:
        return float(value)
    except (TypeError, ValueError):
        pass
    if isinstance(value, list | tuple | np.ndarray) and len(value) == 1:
        return _number(value[0], function)
    raise _unexpected(value, function)


def _unexpected(returned: object, function: Callable[[Point], Any]) -> ProblemError:
    """The error for a function that returned neither a value nor a value with constraints."""
    call = function if hasattr(function, "__code__") else type(function).__call__
    code = getattr(call, "__code__", None)
    location = f" ({code.co_filename}, line {code.co_firstlineno})" if code else ""
    expected = "a number"
    if isinstance(returned, tuple):
        expected += ", or with constraints a number and a list of numbers: (y, [g1, g2])"
    n_numbers = _count_numbers(returned)
    if n_numbers > 1:
        expected += f"; for several objectives, set `instances: {{objectives: {n_numbers}}}`"
    return ProblemError(
        f"the objective{location} returned {_kind_of(returned)}; expected {expected}"
    )


def _count_numbers(returned: object) -> int:
    """The length of a sequence of numbers; 0 for anything else."""
    if not isinstance(returned, list | tuple | np.ndarray) or np.ndim(returned[:1]) != 1:
        return 0
    try:
        return len([float(number) for number in returned])
    except (TypeError, ValueError):
        return 0


def _kind_of(value: object) -> str:
    shape = getattr(value, "shape", None)
    return f"an array of the shape {shape}" if shape else describe(value)


def _no_objective(x: Point) -> float:
    raise TypeError("this instance has no objective to call; report improvements instead")


_NO_PROBLEM = Problem(_no_objective)
