"""Methods of scipy.optimize that handle constraints, restarted until the budget ends.

A problem gives its value and its constraints in one evaluation, SciPy asks for them in two calls,
and again for finite differences. The last points are therefore remembered: each costs one
evaluation.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.errors import AlgorithmError
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Kind, Setting
from polarbear.settings.options import unknown

MethodName = Literal["slsqp", "trust-constr", "cobyla", "cobyqa"]
# Options that a configuration may set; others would end a run, print, or are set here.
TUNABLE: Mapping[str, tuple[str, ...]] = {
    "slsqp": ("eps", "ftol", "finite_diff_rel_step"),
    "trust-constr": (
        *("barrier_tol", "factorization_method", "finite_diff_rel_step", "gtol"),
        *("initial_barrier_parameter", "initial_barrier_tolerance", "initial_constr_penalty"),
        *("initial_tr_radius", "xtol"),
    ),
    "cobyla": ("catol", "f_target", "rhobeg", "tol"),
    "cobyqa": ("feasibility_tol", "final_tr_radius", "initial_tr_radius", "scale"),
}
DEFAULTS: Mapping[str, Mapping[str, float]] = {
    "slsqp": {"maxiter": 10_000, "ftol": 1e-12},
    "trust-constr": {"maxiter": 10_000},
    "cobyla": {"maxiter": 100_000, "rhobeg": 0.2, "tol": 1e-8},
    "cobyqa": {"maxiter": 100_000, "maxfev": 100_000, "initial_tr_radius": 0.2},
}
LARGEST_VALUE = 1e100  # replaces infinity, on which the methods' arithmetic fails
REMEMBERED_POINTS_PER_VARIABLE = 8

Evaluation = tuple[float, Floats]  # a value, and the constraints


class ScipyConstrained(Algorithm):
    """A method of scipy.optimize for constraints on the unit box, restarted when it converges."""

    method: MethodName = Field(description="the method of scipy.optimize")
    options: dict[str, Any] = Field(
        {}, description="further options of the method; lengths are shares of the box"
    )

    library: ClassVar[str | None] = "scipy"
    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.CONTINUOUS})

    @field_validator("options")
    @classmethod
    def _tunable(cls, options: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if "method" in info.data:
            method = info.data["method"]
            for name in options:
                if name not in TUNABLE[method]:
                    raise ValueError(unknown(f"option of {method}", name, TUNABLE[method]))
        return options

    def load(self) -> None:
        _optimize()

    def run(self, trial: Trial, setting: Setting) -> None:
        lower, upper = trial.box
        points = RememberedPoints(trial, lower, upper)
        rng = np.random.default_rng(trial.seed)
        while True:
            evaluated_before = points.evaluated
            self._minimise(points, rng.random(len(lower)))
            if points.evaluated == evaluated_before:
                raise AlgorithmError(f"scipy's {self.method} ended without an evaluation")

    def _minimise(self, points: RememberedPoints, start: Floats) -> None:
        """Search from one start."""
        optimize = _optimize()
        _, constraints = points.at(start)
        constraint: Any = ()
        if len(constraints) and self.method in ("slsqp", "cobyla"):
            constraint = {"type": "ineq", "fun": lambda share: -points.constraints(share)}
        elif len(constraints):
            constraint = optimize.NonlinearConstraint(points.constraints, -np.inf, 0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about steps that change nothing, near convergence
            optimize.minimize(
                points.value,
                start,
                method=self.method,
                bounds=[(0.0, 1.0)] * len(start),
                constraints=constraint,
                options={**DEFAULTS[self.method], **self.options},
            )


class RememberedPoints:
    """The evaluations of the last points, which are shares of the box."""

    def __init__(self, trial: Trial, lower: Floats, upper: Floats) -> None:
        self.evaluated = 0
        self._evaluate: Callable[[Floats], tuple[float, list[float]]]
        self._evaluate = trial.evaluate_with_constraints
        self._lower = lower
        self._upper = upper
        self._known: dict[bytes, Evaluation] = {}
        self._most = REMEMBERED_POINTS_PER_VARIABLE * (len(lower) + 1)

    def at(self, share: Floats) -> Evaluation:
        """The value and the constraints at a point."""
        inside = np.clip(np.asarray(share, dtype=np.float64), 0.0, 1.0)
        key = inside.tobytes()
        if key not in self._known:
            point = self._lower + inside * (self._upper - self._lower)
            value, constraints = self._evaluate(np.clip(point, self._lower, self._upper))
            self.evaluated += 1
            numbers = np.nan_to_num([value, *constraints], nan=LARGEST_VALUE)
            numbers = np.clip(numbers, -LARGEST_VALUE, LARGEST_VALUE)
            if len(self._known) >= self._most:
                del self._known[next(iter(self._known))]
            self._known[key] = (float(numbers[0]), numbers[1:])
        return self._known[key]

    def value(self, share: Floats) -> float:
        return self.at(share)[0]

    def constraints(self, share: Floats) -> Floats:
        return self.at(share)[1]


def _optimize() -> ModuleType:
    return importlib.import_module("scipy.optimize")  # takes half a second
