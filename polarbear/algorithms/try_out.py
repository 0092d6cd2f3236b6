"""Options of somebody else's optimiser, tried out before anything is run with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polarbear.errors import AlgorithmError, BudgetExhausted
from polarbear.numerics.arrays import Floats

EVALUATIONS = 50
EvaluateAll = Callable[[Any], list[float]]
Search = Callable[[EvaluateAll, Floats, Floats, int], None]


def try_out(search: Search, who: str) -> None:
    """Run a search on a toy problem for a moment: most packages check options only in use."""
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
    except Exception as error:  # whatever the package raises, the options are to blame
        raise AlgorithmError(f"{who} fails with its options: {error}") from error
