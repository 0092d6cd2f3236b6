"""CMA-ES as its inventor maintains it: pycma, in pure Python, restarted until the budget ends."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field, field_validator

from polarbear.algorithms import pycma
from polarbear.algorithms.base import Trial
from polarbear.algorithms.restarts import SMALLEST_DIMENSION, RestartedCma
from polarbear.algorithms.try_out import EvaluateAll, try_out
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Setting
from polarbear.settings.options import unknown

# Options of pycma that would end a run, print, write files, or are already said elsewhere.
NOT_TUNABLE = {
    *("bounds", "fixed_variables", "ftarget", "integer_variables", "maxfevals", "popsize"),
    *("popsize_factor", "randn", "scaling_of_variables", "seed", "signals_filename"),
    *("termination_callback", "timeout", "transformation", "typical_x", "verbose", "vv"),
}


class Cma(RestartedCma):
    """CMA-ES (pycma) from uniform random points, with a larger population at every restart."""

    options: dict[str, Any] = Field(
        {}, description="further options of pycma, such as tolfun or CMA_diagonal"
    )

    library: ClassVar[str | None] = "cma"

    @field_validator("options")
    @classmethod
    def _tunable(cls, options: dict[str, Any]) -> dict[str, Any]:
        if not options:
            return options  # and pycma, which takes a moment to import, need not be
        known = {
            name for name in pycma.load().CMAOptions.defaults() if not name.startswith("verb_")
        }
        for name in options:
            if name in NOT_TUNABLE or name.startswith("verb_"):
                raise ValueError(f"pycma's option '{name}' is not for configurations to set")
            if name not in known:
                raise ValueError(unknown("option of pycma", name, known - NOT_TUNABLE))
        return options

    def prepare(self, setting: Setting) -> None:
        if self.options:
            try_out(self._search, f"'{self.name}': pycma")

    def load(self) -> None:
        pycma.load()

    def run(self, trial: Trial, setting: Setting) -> None:
        self._search(trial.evaluate_all, *trial.box, trial.seed)

    def _search(self, evaluate_all: EvaluateAll, lower: Floats, upper: Floats, seed: int) -> None:
        cma = pycma.load()
        # It searches the unit box, so that all its lengths are shares of the problem's. A single
        # variable gets a second one beside it that changes nothing.
        dimension = len(lower)
        searched = max(dimension, SMALLEST_DIMENSION)
        rng = np.random.default_rng(seed)
        for popsize in self.populations(dimension):
            options = {
                **self.options,
                "bounds": [0, 1],
                "BoundaryHandler": pycma.unit_box(cma),
                "popsize": popsize,
                "randn": lambda *shape: rng.standard_normal(shape),
                "seed": np.nan,  # leaves the generator that all the process shares alone
                "verbose": -10,  # prints nothing, reads no file of signals
                "verb_log": 0,
            }
            strategy = pycma.quietly(
                pycma.strategy(cma), rng.random(searched), self.sigma0, options
            )
            converged = False
            while not converged:
                shares = strategy.ask()
                points = lower + np.asarray(shares)[:, :dimension] * (upper - lower)
                values = evaluate_all(np.clip(points, lower, upper))
                pycma.quietly(strategy.tell, shares, values)
                converged = bool(strategy.stop())
