"""Grids of times."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.settings.grid import Budget, Spaced


@pytest.mark.parametrize("spacing", ["log", "linear"])
@pytest.mark.parametrize("points", [2, 7, 200, 1000])
def test_a_grid_of_evaluations_is_what_numpy_finds_unique(spacing: str, points: int):
    spaced = {"spacing": spacing, "from": 1, "to": 300, "points": points}
    budget = Budget.model_validate({"grid": spaced})
    assert isinstance(budget.grid, Spaced)
    expected = np.unique(np.round(budget.grid.times()))
    assert budget.times.tobytes() == expected.tobytes()
