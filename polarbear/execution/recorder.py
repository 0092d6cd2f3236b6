"""Keeps the improvements of one run, and ends the run when its budget is spent.

Where the last value counts, and not the best, it keeps every change. Where a problem offers the
true value of a point, that is what is kept of the point with the best value observed so far.

Only improvements cost anything: they are kept in memory and, so that they survive the process, in a
journal on disk. A value that is not finite is never an improvement; it is counted, and the
algorithm is handed +inf for it, the worst there is.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from math import inf, isfinite
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from polarbear.errors import BadOutputError, BudgetExhausted, ProblemError
from polarbear.numerics.arrays import Floats
from polarbear.settings.grid import EVALUATIONS, SECONDS
from polarbear.settings.options import describe

Objective = Callable[[Any], float]
Objectives = Callable[[Any], Any]  # the values at many points
POINT = struct.Struct("=dd")


class Journal:
    """The improvements of the run under way, on disk, for whoever finds the process dead."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)

    def restart(self) -> None:
        os.ftruncate(self._file, 0)

    def write(self, t: float, y: float) -> None:
        os.write(self._file, POINT.pack(t, y))

    def close(self) -> None:
        os.close(self._file)

    @staticmethod
    def read(path: Path) -> tuple[Floats, Floats]:
        """The points in a journal; a last one that was cut off is left out."""
        try:
            data = path.read_bytes()
        except OSError:
            return np.empty(0), np.empty(0)
        points = np.frombuffer(data[: len(data) // POINT.size * POINT.size]).reshape(-1, 2)
        return points[:, 0].copy(), points[:, 1].copy()


class Recorder:
    """The trajectory of one run; the algorithm calls ``evaluate`` or ``report``."""

    def __init__(
        self,
        objective: Objective | None,
        axis: str,
        budget: float,
        maximise: bool = False,
        journal: Callable[[float, float], None] | None = None,
        building_seconds: Callable[[], float] | None = None,
        last: bool = False,
        true_value: Objective | None = None,
        many: Objectives | None = None,
    ) -> None:
        self.times: list[float] = []
        self.values: list[float] = []
        self.invalid = 0
        self._axis = axis
        self._budget = budget
        self._sign = -1.0 if maximise else 1.0
        self._journal = journal
        self._last = last
        self._true_value = true_value
        # What must be undercut after an observed value: that, or nothing if every value counts.
        self._bar: Callable[[float], float] = (
            (lambda y: inf) if last and true_value is None else (lambda y: y)
        )
        self._reported = 0.0
        self._counted: Callable[[], int] = lambda: 0
        self._charged: Callable[[], float] = lambda: 0.0
        self._best = inf
        # Evaluates many points in one call and records them one by one; None where it cannot.
        self.at_once: Callable[[Any], list[float]] | None = None
        # Starts the clock; what came before is not charged to the algorithm.
        self.start: Callable[[], None] = lambda: None
        if objective is None:
            self.evaluate: Objective = _no_objective
        elif axis == EVALUATIONS:
            self.evaluate = self._by_evaluations(objective, many)
        elif axis == SECONDS:
            self.evaluate = self._by_seconds(objective, building_seconds)
        else:
            self.evaluate = self._unrecorded(objective)

    @property
    def evaluations(self) -> int:
        """Objective values computed through us, or reported on the evaluation axis."""
        return int(max(self._counted(), self._reported if self._axis == EVALUATIONS else 0))

    @property
    def reached(self) -> float:
        """How far the run got on its axis."""
        if self._axis == EVALUATIONS:
            return float(self.evaluations)
        if self._axis == SECONDS and self._charged() > 0:
            return min(self._charged(), self._budget)
        return self._reported

    def _observed(self, t: float, y: float, x: Any) -> None:
        """Keep what counts of a point whose observed value is the best so far, or the last."""
        if self._true_value is not None:
            y = self._sign * _as_number(self._true_value, x)
            if not isfinite(y):
                self.invalid += 1
                return
            if not self._last and self.values and y >= self.values[-1]:
                return
        self._keep(t, y)

    def _keep(self, t: float, y: float) -> None:
        if self._last and self.values and self.values[-1] == y:
            return
        self.times.append(t)
        self.values.append(y)
        if self._journal is not None:
            try:
                self._journal(t, y)
            except OSError:  # a full scratch disk costs the safety net, not the run
                self._journal = None

    def _invalid(self) -> float:
        self.invalid += 1
        return inf

    def _by_evaluations(self, objective: Objective, many: Objectives | None) -> Objective:
        # Closures, not attributes: this is called millions of times.
        limit, sign, invalid = int(self._budget), self._sign, self._invalid
        observed, bar = self._observed, self._bar
        count, best = 0, inf

        def evaluate(x: Any) -> float:
            nonlocal count, best
            if count >= limit:
                raise BudgetExhausted
            count += 1
            value = objective(x)
            try:
                y = sign * float(value)
            except (TypeError, ValueError):
                raise _no_number(objective, value) from None
            if y < best:
                if y == -inf:
                    return invalid()
                best = bar(y)
                observed(count, y, x)
            elif y != y:
                return invalid()
            return y

        def at_once(points: Any) -> list[float]:
            nonlocal count, best
            asked = len(points)
            within = min(asked, limit - count)
            if within < asked:
                points = points[:within]
            found = np.asarray(many(points) if many and within else (), dtype=np.float64)
            if found.shape != (within,):
                raise ProblemError(
                    f"evaluate_many returned {_kind_of(found)} for {within} points; expected as "
                    "many numbers"
                )
            values: list[float] = (sign * found).tolist()
            for k, y in enumerate(values):
                count += 1
                if y < best:
                    if y == -inf:
                        values[k] = invalid()
                    else:
                        best = bar(y)
                        observed(count, y, points[k])
                elif y != y:
                    values[k] = invalid()
            if within < asked:
                raise BudgetExhausted
            return values

        self._counted = lambda: count
        if many is not None:
            self.at_once = at_once
        return evaluate

    def _by_seconds(
        self, objective: Objective, building_seconds: Callable[[], float] | None
    ) -> Objective:
        limit, sign, invalid = self._budget, self._sign, self._invalid
        observed, bar = self._observed, self._bar
        count, best = 0, inf
        start = perf_counter()  # moved forward by whatever is not the algorithm's or objective's

        def restart() -> None:
            nonlocal start
            start = perf_counter()

        def evaluate(x: Any) -> float:
            nonlocal count, best, start
            if perf_counter() - start >= limit:
                raise BudgetExhausted
            count += 1
            built = building_seconds() if building_seconds else 0.0
            value = objective(x)
            try:
                y = sign * float(value)
            except (TypeError, ValueError):
                raise _no_number(objective, value) from None
            done = perf_counter()
            if building_seconds:
                start += building_seconds() - built
            t = done - start
            if t > limit:
                raise BudgetExhausted
            if y < best:
                if y == -inf:
                    return invalid()
                best = bar(y)
                observed(t, y, x)
            elif y != y:
                return invalid()
            start += perf_counter() - done
            return y

        self._counted = lambda: count
        self._charged = lambda: perf_counter() - start
        self.start = restart
        return evaluate

    def _unrecorded(self, objective: Objective) -> Objective:
        sign, invalid = self._sign, self._invalid
        count = 0

        def evaluate(x: Any) -> float:
            nonlocal count
            count += 1
            value = objective(x)
            try:
                y = sign * float(value)
            except (TypeError, ValueError):
                raise _no_number(objective, value) from None
            return y if y == y and y != -inf else invalid()

        self._counted = lambda: count
        return evaluate

    def report(self, t: float, y: float) -> None:
        """Take an objective value as observed at t by the algorithm itself."""
        t, y = float(t), self._sign * float(y)
        if not isfinite(t) or t < self._reported:
            raise BadOutputError(
                f"reported t = {t:g} after t = {self._reported:g}; times must be finite and not "
                "go back"
            )
        if t > self._budget:
            self._reported = self._budget
            raise BudgetExhausted
        self._reported = t
        if not isfinite(y):
            self.invalid += 1
        elif self._last or y < self._best:
            self._best = y
            self._keep(t, y)


def _as_number(function: Objective, x: Any) -> float:
    value = function(x)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise _no_number(function, value) from None


def _no_number(objective: Objective, value: Any) -> ProblemError:
    """That an objective returned something else than a number, and where it stands."""
    function = objective if hasattr(objective, "__code__") else type(objective).__call__
    code = getattr(function, "__code__", None)
    place = f" ({code.co_filename}, line {code.co_firstlineno})" if code else ""
    return ProblemError(f"the objective{place} returned {_kind_of(value)}; expected a number")


def _kind_of(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"an array of the shape {shape}" if shape else describe(value)


def _no_objective(x: Any) -> float:
    raise TypeError("this instance has no objective to call; report improvements instead")
