"""A check of the options of a package's optimiser before any run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polarbear.errors import AlgorithmError, BudgetExhausted
from polarbear.numerics.arrays import Floats

EVALUATIONS = 50
EvaluateAll = Callable[[Any], list[float]]
Search = Callable[[EvaluateAll, Floats, Floats, int], None]


def check_options(search: Search, optimiser: str) -> None:
    """Run a short search on the sphere: most packages check options only when they use them."""
    left = EVALUATIONS

    def sphere(x: Floats) -> float:
        nonlocal left
        left -= 1
        if left < 0:
            raise BudgetExhausted
        return float(x @ x)

    try:
        search(lambda points: [sphere(x) for x in points], np.full(2, -1.0), np.ones(2), 1)
    except BudgetExhausted:
        pass
    except Exception as error:  # whatever the package raises, its options are the cause
        raise AlgorithmError(f"{optimiser} fails with its options: {error}") from error
