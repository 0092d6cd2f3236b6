"""Labels that keep their distance, and the edges of stretches of time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from polarbear.report.figures.axes import edges, spread


def test_positions_that_have_room_stay_where_they_are():
    assert spread([3.0, 1.0, 8.0], 1.0, 0.0, 10.0).tolist() == [3.0, 1.0, 8.0]


def test_positions_keep_their_distance_order_and_limits():
    rng = np.random.default_rng(1)
    for _ in range(200):
        wanted = rng.uniform(0, 10, 8)
        found = spread(wanted, 1.0, 0.0, 10.0)
        order = np.argsort(wanted)
        assert (np.diff(found[order]) >= 1 - 1e-9).all()
        assert found.min() >= 0
        assert found.max() <= 10 + 1e-9


def test_positions_move_as_little_as_can_be():
    """Against a general optimiser: least squares under the same constraints."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        wanted = np.sort(rng.uniform(3, 7, 5))
        found = spread(wanted, 1.0, -100.0, 100.0)
        gaps = {"type": "ineq", "fun": lambda x: np.diff(x) - 1.0}
        best = minimize(
            lambda x, wanted=wanted: ((x - wanted) ** 2).sum(), wanted, constraints=[gaps]
        )
        assert ((found - wanted) ** 2).sum() == pytest.approx(best.fun, rel=1e-3, abs=1e-6)


def test_a_stretch_reaches_half_way_to_its_neighbours():
    assert edges(np.array([1.0, 3.0, 9.0]), False).tolist() == [1, 2, 6, 9]
    assert edges(np.array([1.0, 4.0, 16.0]), True) == pytest.approx([1, 2, 8, 16])
    single = edges(np.array([5.0]), True)
    assert single[0] < 5 < single[1]
