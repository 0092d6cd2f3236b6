"""pycma past steps of its own that take time and change nothing, to the bit."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from polarbear.numerics.arrays import Floats

NEAR = 0.05  # to a bound of the unit box: where pycma bends space
FIRST, LAST, PERIOD = -2 * NEAR - 0.5, 1 + 2 * NEAR + 0.5, 2 * (1 + NEAR + NEAR)  # then it repeats
FEW = 100  # variables, each of which takes time of its own


def load() -> ModuleType:
    """pycma, without what it can do without and has no use for here: plots, rank correlations.

    They take three quarters of the time that it takes to load.
    """
    if "cma" in sys.modules:
        return sys.modules["cma"]
    unused = [name for name in ("matplotlib", "scipy.stats") if name not in sys.modules]
    sys.modules.update(dict.fromkeys(unused))  # type: ignore[arg-type] # None: cannot be imported
    try:
        loaded: ModuleType = quietly(importlib.import_module, "cma")  # it warns: no plots
        return loaded
    finally:
        for name in unused:
            del sys.modules[name]


def quietly(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call without warnings: pycma warns of its own defaults, and of values that are infinite."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


@cache
def strategy(cma: ModuleType) -> type:
    """Its evolution strategy, which looks first whether there is anything to do."""

    class Best(cma.optimization_tools.BestSolution):  # type: ignore[misc, name-defined]
        def update(self, points: Any, archive: Any, values: list[float], evaluations: int) -> None:
            if not min(values) >= self.f:  # which is so, too, where one is not a number
                super().update(points, archive, values, evaluations)

    class Strategy(cma.CMAEvolutionStrategy):  # type: ignore[misc, name-defined]
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self.best = Best()

        def _stds_into_limits(self, **warning: bool) -> None:
            lengths, options = self.stds, self.opts
            if (lengths < options["minstd"]).any() or (lengths > options["maxstd"]).any():
                super()._stds_into_limits(**warning)

        def _clean_injected_solutions_archive(self, points: Floats) -> list[int]:
            if not self._injected_solutions_archive:
                return []
            indices: list[int] = super()._clean_injected_solutions_archive(points)
            return indices

    return Strategy


@cache
def unit_box(cma: ModuleType) -> type:
    """How it keeps to the unit box, in a tenth of the time for few variables: it takes arrays
    through a dozen steps, most of which concern none of the variables."""

    class UnitBox(cma.boundary_handler.BoundTransform):  # type: ignore[misc, name-defined]
        def repair(self, x: Floats, copy_if_changed: bool = True) -> Floats:
            shares = x.tolist()
            if len(shares) <= FEW:
                return np.array([_bent_into_the_box(share) for share in shares])
            repaired: Floats = super().repair(x, copy_if_changed)
            return repaired

    return UnitBox


def _bent_into_the_box(share: float) -> float:
    """The identity but near bounds, where it is a parabola that touches them and goes back in."""
    if share < FIRST or share > LAST:
        share -= PERIOD * ((share - FIRST) // PERIOD)
    if share > 1 + NEAR:
        share -= 2 * (share - 1 - NEAR)
    if share < -NEAR:
        share += 2 * (-NEAR - share)
    if share < NEAR:
        share = (share + NEAR) * (share + NEAR) / 4 / NEAR
    if share > 1 - NEAR:
        share = 1 - (share - (1 + NEAR)) * (share - (1 + NEAR)) / 4 / NEAR
    return share
