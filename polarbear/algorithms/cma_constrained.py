"""CMA-ES by pycma with constraints, by pycma's augmented Lagrangian.

The method is that of Atamna, Auger and Hansen (FOGA 2017) in pycma's version: the function to be
minimised is the objective plus a term for each constraint, whose coefficients are adapted after
every population to the best point in it.
"""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType
from typing import Any

import numpy as np

from polarbear.algorithms.base import EvaluateAll, Trial
from polarbear.algorithms.cma import Cma
from polarbear.numerics.arrays import Floats


class CmaConstrained(Cma):
    """CMA-ES (pycma) on an augmented Lagrangian of the constraints, restarted like `cma`."""

    def load(self) -> None:
        super().load()
        _handler()

    def _objective(self, trial: Trial) -> EvaluateAll:
        return LagrangianObjective(trial).evaluate_all


class LagrangianObjective:
    """The objective plus the terms of the constraints, whose coefficients follow the search."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._lagrangian = _lagrangian(trial.dimension)

    def evaluate_all(self, points: Floats) -> list[float]:
        """The sums for a population."""
        values = np.empty(len(points))
        constraints_of_points = []
        for row, point in enumerate(points):
            values[row], constraints = self._trial.evaluate_with_constraints(point)
            constraints_of_points.append(constraints)
        if not constraints_of_points[0]:
            return [float(value) for value in values]
        constraints_table = np.array(constraints_of_points)
        is_finite = np.isfinite(values) & np.isfinite(constraints_table).all(axis=1)
        sums = np.full(len(points), np.inf)
        for row in np.flatnonzero(is_finite).tolist():
            sums[row] = values[row] + sum(self._lagrangian(constraints_table[row]))
        if is_finite.all():
            self._adapt(values, constraints_table, int(sums.argmin()))
        return [float(number) for number in sums]

    def _adapt(self, values: Floats, constraints: Floats, best: int) -> None:
        """Adapt the coefficients to the best point of a population."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about populations in which nothing varies
            if not self._lagrangian.is_initialized:
                self._lagrangian.set_coefficients(values, constraints)
            self._lagrangian.update(values[best], constraints[best])


def _lagrangian(dimension: int) -> Any:
    """pycma's augmented Lagrangian; it would begin a folder of logs as soon as it is made."""

    class WithoutLogs(_handler().AugmentedLagrangian):  # type: ignore[misc]
        logging = property(lambda self: 0, lambda self, interval: None)

    return WithoutLogs(dimension)


def _handler() -> ModuleType:
    return importlib.import_module("cma.constraints_handler")
