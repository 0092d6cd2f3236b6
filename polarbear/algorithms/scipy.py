"""Derivative-free methods of scipy.optimize, restarted until the budget ends."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from polarbear.algorithms.base import Algorithm, EvaluateAll, Trial, check_options
from polarbear.errors import AlgorithmError
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Kind, Setting
from polarbear.settings.options import unknown

MethodName = Literal[
    "nelder-mead",
    "powell",
    "differential-evolution",
    "dual-annealing",
    "basin-hopping",
    "direct",
    "shgo",
]

# Arguments that a configuration may set; others would end a run, print, or are set here.
TUNABLE: Mapping[str, tuple[str, ...]] = {
    "nelder-mead": ("adaptive", "fatol", "xatol"),
    "powell": ("ftol", "xtol"),
    "differential-evolution": (
        *("atol", "init", "mutation", "polish", "popsize"),
        *("recombination", "strategy", "tol", "updating"),
    ),
    "dual-annealing": (
        *("accept", "initial_temp", "minimizer_kwargs"),
        *("no_local_search", "restart_temp_ratio", "visit"),
    ),
    "basin-hopping": (
        *("T", "interval", "minimizer_kwargs", "niter_success"),
        *("stepsize", "stepwise_factor", "target_accept_rate"),
    ),
    "direct": ("eps", "len_tol", "locally_biased", "vol_tol"),
    "shgo": ("iters", "minimizer_kwargs"),
}
ENDLESS = 2**62  # for limits that a method requires; the budget ends it long before
LARGEST_VALUE = 1e100  # replaces infinity, on which the methods' arithmetic fails


class Scipy(Algorithm):
    """A method of scipy.optimize on the box scaled to the unit box, restarted when it converges."""

    method: MethodName = Field(description="the method of scipy.optimize")
    options: dict[str, Any] = Field(
        {}, description="further arguments of the method; lengths are shares of the box"
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

    def population(self, dimension: int) -> int | None:
        if self.method == "differential-evolution":
            return int(max(5, self.options.get("popsize", 15) * dimension))
        return dimension + 1 if self.method == "nelder-mead" else None  # the first simplex

    def prepare(self, setting: Setting) -> None:
        if self.options:
            check_options(self._search, f"'{self.name}': scipy's {self.method}")

    def load(self) -> None:
        optimize()

    def run(self, trial: Trial, setting: Setting) -> None:
        self._search(trial.evaluate_all, *trial.box, trial.seed)

    def _search(self, evaluate_all: EvaluateAll, lower: Floats, upper: Floats, seed: int) -> None:
        width = upper - lower
        evaluated = 0

        def objectives(shares: Floats) -> list[float]:
            nonlocal evaluated
            evaluated += len(shares)
            points = np.clip(lower + shares * width, lower, upper)  # beyond it by rounding errors
            return [max(-LARGEST_VALUE, min(y, LARGEST_VALUE)) for y in evaluate_all(points)]

        rng = np.random.default_rng(seed)
        method = METHODS[self.method]
        while True:
            evaluated_before = evaluated
            method(Start(objectives, len(lower), evaluated, rng, self.options))
            if evaluated == evaluated_before:
                raise AlgorithmError(f"scipy's {self.method} ended without an evaluation")


@dataclass(frozen=True)
class Start:
    """One start of a method on the unit box."""

    objectives: Callable[[Floats], list[float]]  # the values at many points, one per row
    dimension: int
    evaluated: int  # evaluations of earlier starts
    rng: np.random.Generator
    options: Mapping[str, Any]

    @property
    def bounds(self) -> list[tuple[float, float]]:
        return [(0.0, 1.0)] * self.dimension

    def objective(self, share: Floats) -> float:
        return self.objectives(share[np.newaxis])[0]

    def warped(self) -> Callable[[Floats], float]:
        """The objective with randomly warped axes, from the second start on.

        Deterministic methods would repeat their first start. u -> cu / (1 + (c-1)u) is smooth and
        maps the unit interval to itself, so that the box is searched again at other points.
        """
        if self.evaluated == 0:
            return self.objective
        c = np.exp(self.rng.uniform(-1, 1, self.dimension))
        return lambda share: self.objective(share * c / (1.0 + (c - 1.0) * share))


def _minimise(start: Start, method: str) -> None:
    optimize().minimize(
        start.objective,
        start.rng.random(start.dimension),
        method=method,
        bounds=start.bounds,
        options={"maxiter": np.inf, "maxfev": np.inf, **start.options},
    )


def _differential_evolution(start: Start) -> None:
    settings = {"maxiter": ENDLESS, "rng": start.rng, **start.options}
    if settings.get("updating") == "deferred":
        settings["workers"] = lambda _, shares: start.objectives(np.array(list(shares)))
    optimize().differential_evolution(start.objective, start.bounds, **settings)


def _dual_annealing(start: Start) -> None:
    endless = {"maxiter": ENDLESS, "maxfun": ENDLESS}  # it restarts itself
    settings = {**endless, "rng": start.rng, **start.options}
    optimize().dual_annealing(start.objective, start.bounds, **settings)


class Hop:
    """A uniform random step, folded back into the unit box; scipy adapts the step size."""

    def __init__(self, stepsize: float, rng: np.random.Generator) -> None:
        self.stepsize = stepsize
        self.rng = rng

    def __call__(self, x: Floats) -> Floats:
        step = self.rng.uniform(-self.stepsize, self.stepsize, len(x))
        return np.asarray(1 - np.abs(1 - np.abs(x + step) % 2))


def _basin_hopping(start: Start) -> None:
    settings = {"niter": ENDLESS, "rng": start.rng, **start.options}
    local = settings.pop("minimizer_kwargs", {})
    settings["minimizer_kwargs"] = {"method": "L-BFGS-B", "bounds": start.bounds, **local}
    settings["take_step"] = Hop(settings.pop("stepsize", 0.5), start.rng)
    optimize().basinhopping(start.objective, start.rng.random(start.dimension), **settings)


def _direct(start: Start) -> None:
    # It allocates memory for all evaluations in advance, so starts are finite, and grow.
    evaluations = 1000 * start.dimension + start.evaluated
    # With scipy's vol_tol of 1e-16 it would end early in 30 dimensions.
    settings = {"vol_tol": 0.0, "maxfun": evaluations, "maxiter": evaluations, **start.options}
    optimize().direct(start.warped(), start.bounds, **settings)


def _shgo(start: Start) -> None:
    # At most 1024, since the time of the triangulation grows, and never 100, which scipy replaces
    # by 2**dimension + 1.
    points = min(128 + start.evaluated, 1024)
    optimize().shgo(start.warped(), start.bounds, n=points, **start.options)


def optimize() -> ModuleType:
    return importlib.import_module("scipy.optimize")  # takes half a second


METHODS: Mapping[str, Callable[[Start], None]] = {
    "nelder-mead": partial(_minimise, method="Nelder-Mead"),
    "powell": partial(_minimise, method="Powell"),
    "differential-evolution": _differential_evolution,
    "dual-annealing": _dual_annealing,
    "basin-hopping": _basin_hopping,
    "direct": _direct,
    "shgo": _shgo,
}
