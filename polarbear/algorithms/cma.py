"""CMA-ES by pycma, restarted with a larger population until the budget ends."""

import importlib
import itertools
import math
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, field_validator

from polarbear.algorithms.base import Algorithm, EvaluateAll, Trial, check_options
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Kind, Setting
from polarbear.settings.options import unknown

SMALLEST_DIMENSION = 2  # that pycma searches
# Options of pycma that would end a run, print, write files, or are set here.
NOT_TUNABLE = {
    *("bounds", "fixed_variables", "ftarget", "integer_variables", "maxfevals", "popsize"),
    *("popsize_factor", "randn", "scaling_of_variables", "seed", "signals_filename"),
    *("termination_callback", "timeout", "transformation", "typical_x", "verbose", "vv"),
}


class Cma(Algorithm):
    """CMA-ES (pycma) from uniform random points, with a larger population at every restart."""

    sigma0: float = Field(
        0.2, gt=0, le=1, description="the first standard deviation, as a share of the box"
    )
    popsize: int | None = Field(
        None, ge=2, description="the first start's population; by default 4 + 3 log d"
    )
    restart_growth: float = Field(
        2.0, ge=1, description="each start's population, as a multiple of the one before"
    )
    options: dict[str, Any] = Field(
        {}, description="further options of pycma, such as tolfun or CMA_diagonal"
    )

    library: ClassVar[str | None] = "cma"
    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.CONTINUOUS})

    @field_validator("options")
    @classmethod
    def _tunable(cls, options: dict[str, Any]) -> dict[str, Any]:
        if not options:
            return options  # without importing pycma, which takes a second
        names = {name for name in _pycma().CMAOptions.defaults() if not name.startswith("verb_")}
        for name in options:
            if name in NOT_TUNABLE or name.startswith("verb_"):
                raise ValueError(f"pycma's option '{name}' cannot be set in a configuration")
            if name not in names:
                raise ValueError(unknown("option of pycma", name, names - NOT_TUNABLE))
        return options

    def population(self, dimension: int) -> int:
        return self.popsize or 4 + int(3 * math.log(max(dimension, SMALLEST_DIMENSION)))

    def prepare(self, setting: Setting) -> None:
        if self.options:

            def search(evaluate_all: EvaluateAll, *arguments: Any) -> None:
                self._search(lambda: evaluate_all, *arguments)

            check_options(search, f"'{self.name}': pycma")

    def load(self) -> None:
        _pycma()

    def run(self, trial: Trial, setting: Setting) -> None:
        self._search(lambda: self._objective(trial), *trial.box, trial.seed)

    def _objective(self, trial: Trial) -> EvaluateAll:
        """What one start of CMA-ES minimises."""
        return trial.evaluate_all

    def _search(
        self, new_objective: Callable[[], EvaluateAll], lower: Floats, upper: Floats, seed: int
    ) -> None:
        # pycma searches the unit box, so that its lengths are shares of the problem's box. A single
        # variable gets a second one beside it that has no effect.
        dimension = len(lower)
        searched = max(dimension, SMALLEST_DIMENSION)
        rng = np.random.default_rng(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pycma warns about its defaults and infinite values
            for restart in itertools.count():
                evaluate_all = new_objective()
                options = {
                    **self.options,
                    "bounds": [0, 1],
                    "popsize": round(self.population(dimension) * self.restart_growth**restart),
                    "randn": lambda *shape: rng.standard_normal(shape),
                    "seed": np.nan,  # leaves NumPy's global generator alone
                    "verbose": -10,  # prints nothing, reads no file of signals
                    "verb_log": 0,
                }
                start = rng.random(searched)
                strategy = _pycma().CMAEvolutionStrategy(start, self.sigma0, options)
                while True:
                    shares = strategy.ask()
                    points = lower + np.asarray(shares)[:, :dimension] * (upper - lower)
                    strategy.tell(shares, evaluate_all(np.clip(points, lower, upper)))
                    if strategy.stop():
                        break


def _pycma() -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where Matplotlib is missing
        return importlib.import_module("cma")
