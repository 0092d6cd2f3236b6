"""The derivative-free methods of scipy.optimize, started again and again until the budget ends."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.algorithms.option_check import EvaluateAll, check_options
from polarbear.errors import AlgorithmError
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Kind, Setting
from polarbear.settings.options import unknown

Objective = Callable[[Floats], float]
MethodName = Literal[
    "nelder-mead",
    "powell",
    "differential-evolution",
    "dual-annealing",
    "basin-hopping",
    "direct",
    "shgo",
]

# What a configuration may set of each method; all else would end a run, print, or is set here.
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
ENDLESS = 2**62  # for counts that a method insists on; the budget ends it long before
INFINITE = 1e100  # what a method sees of infinity, with which its arithmetic would go astray


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
        import scipy.optimize  # noqa: F401 - takes half a second

    def run(self, trial: Trial, setting: Setting) -> None:
        self._search(trial.evaluate_all, *trial.box, trial.seed, trial.evaluate)

    def _search(
        self,
        evaluate_all: EvaluateAll,
        lower: Floats,
        upper: Floats,
        seed: int,
        evaluate: Objective | None = None,
    ) -> None:
        width = upper - lower
        evaluated = 0
        alone = evaluate or (lambda point: evaluate_all(point[np.newaxis])[0])

        # Some methods leave the box by a rounding error.
        def objective(share: Floats) -> float:
            nonlocal evaluated
            evaluated += 1
            y = alone(np.minimum(np.maximum(lower + share * width, lower), upper))
            return y if -INFINITE < y < INFINITE else max(-INFINITE, min(y, INFINITE))

        def objectives(shares: Floats) -> list[float]:
            nonlocal evaluated
            evaluated += len(shares)
            points = np.minimum(np.maximum(lower + shares * width, lower), upper)
            return [max(-INFINITE, min(y, INFINITE)) for y in evaluate_all(points)]

        rng = np.random.default_rng(seed)
        method = METHODS[self.method]
        while True:
            before = evaluated
            method(Start(objective, objectives, len(lower), evaluated, rng, self.options))
            if evaluated == before:
                raise AlgorithmError(f"scipy's {self.method} ended without a single evaluation")


@dataclass(frozen=True)
class Start:
    """One start of a method on the unit box."""

    objective: Objective
    objectives: Callable[[Floats], list[float]]  # the values at many points, one a row
    dimension: int
    evaluated: int  # by earlier starts
    rng: np.random.Generator
    options: Mapping[str, Any]

    @property
    def bounds(self) -> list[tuple[float, float]]:
        return [(0.0, 1.0)] * self.dimension

    def randomness(self, function: Callable[..., Any]) -> dict[str, np.random.Generator]:
        """Our generator, by the name under which scipy's function takes it."""
        is_new = "rng" in inspect.signature(function).parameters  # since scipy 1.15
        return {"rng" if is_new else "seed": self.rng}

    def bent(self) -> Objective:
        """The objective with its axes bent at random, from the second start on.

        Methods without randomness would repeat their first start for ever. u -> cu / (1 + (c-1)u)
        is smooth and keeps 0 and 1, so the whole box is searched again at other points.
        """
        if self.evaluated == 0:
            return self.objective
        objective, bend = self.objective, np.exp(self.rng.uniform(-1, 1, self.dimension))
        one, more = np.array(1.0), bend - 1  # an array: NumPy would make one of it at every point
        return lambda share: objective(share * bend / (one + more * share))


def _nelder_mead(start: Start) -> None:
    _minimise(start, "Nelder-Mead")


def _powell(start: Start) -> None:
    _minimise(start, "Powell")


def _minimise(start: Start, method: str) -> None:
    from scipy.optimize import minimize

    minimize(
        start.objective,
        start.rng.random(start.dimension),
        method=method,
        bounds=start.bounds,
        options={"maxiter": np.inf, "maxfev": np.inf, **start.options},
    )


def _differential_evolution(start: Start) -> None:
    from scipy.optimize import differential_evolution as minimise

    settings = {"maxiter": ENDLESS, **start.randomness(minimise), **start.options}
    if (
        settings.get("updating") == "deferred"
    ):  # a generation is known before any of it is evaluated

        def whole_generation(objective: Objective, shares: Iterable[Floats]) -> list[float]:
            return start.objectives(np.array(list(shares)))

        settings["workers"] = whole_generation
    minimise(start.objective, start.bounds, **settings)


def _dual_annealing(start: Start) -> None:
    from scipy.optimize import dual_annealing as minimise

    endless = {"maxiter": ENDLESS, "maxfun": ENDLESS}  # it anneals again by itself
    settings = {**endless, **start.randomness(minimise), **start.options}
    minimise(start.objective, start.bounds, **settings)


class Hop:
    """A uniform random step, folded back into the unit box; scipy adapts the step size."""

    def __init__(self, stepsize: float, rng: np.random.Generator) -> None:
        self.stepsize = stepsize
        self.rng = rng

    def __call__(self, x: Floats) -> Floats:
        step = self.rng.uniform(-self.stepsize, self.stepsize, len(x))
        folded: Floats = 1 - np.abs(1 - np.abs(x + step) % 2)
        return folded


def _basin_hopping(start: Start) -> None:
    from scipy.optimize import basinhopping as minimise

    settings = {"niter": ENDLESS, **start.randomness(minimise), **start.options}
    local = settings.pop("minimizer_kwargs", {})
    settings["minimizer_kwargs"] = {"method": "L-BFGS-B", "bounds": start.bounds, **local}
    settings["take_step"] = Hop(settings.pop("stepsize", 0.5), start.rng)
    minimise(start.objective, start.rng.random(start.dimension), **settings)


def _direct(start: Start) -> None:
    from scipy.optimize import direct as minimise

    # It sets memory aside for all evaluations in advance, so starts are finite, and grow.
    evaluations = 1000 * start.dimension + start.evaluated
    settings = {"maxfun": evaluations, "maxiter": evaluations}
    # With scipy's 1e-16 it would end in 30 dimensions before all sides were cut twice.
    minimise(start.bent(), start.bounds, **{"vol_tol": 0.0, **settings, **start.options})


def _shgo(start: Start) -> None:
    from scipy.optimize import shgo as minimise

    # At most 1024, since the triangulation takes ever longer before anything is evaluated, and
    # never 100, by which scipy understands 2**dimension + 1.
    points = min(128 + start.evaluated, 1024)
    minimise(start.bent(), start.bounds, n=points, **start.options)


METHODS: Mapping[str, Callable[[Start], None]] = {
    "nelder-mead": _nelder_mead,
    "powell": _powell,
    "differential-evolution": _differential_evolution,
    "dual-annealing": _dual_annealing,
    "basin-hopping": _basin_hopping,
    "direct": _direct,
    "shgo": _shgo,
}
