"""Who competes where no race has decided it."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.errors import SelectionError
from polarbear.select.posterior_source import undominated
from tests.support import posterior_of


def looped(theta: np.ndarray, alpha: float) -> list[int]:
    draws, times, n = theta.shape
    out = set()
    for a in range(n):
        for b in range(n):
            shares = [
                sum(theta[d, t, b] > theta[d, t, a] for d in range(draws)) / draws
                for t in range(times)
            ]
            if min(shares) >= alpha:
                out.add(a)
    return [i for i in range(n) if i not in out]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("alpha", [0.8, 0.99, 1.0])
def test_out_is_who_another_dominates_at_every_time(seed: int, alpha: float):
    rng = np.random.default_rng(seed)
    strength = np.exp(rng.normal(0, 1.5, (1, 5)) + rng.normal(0, 0.4, (4, 5)))
    theta = np.stack([rng.dirichlet(8 * s, size=60) for s in strength], axis=1)
    found = undominated(posterior_of(theta), alpha)
    assert found == looped(theta, alpha)
    assert found


def test_a_circle_of_dominances_empties_nothing():
    """With alpha at 0.6 each of three can beat the next in two draws of three."""
    orders = np.array([[3.0, 2.0, 1.0], [1.0, 3.0, 2.0], [2.0, 1.0, 3.0]])
    theta = np.repeat(orders / 6, 10, axis=0)[:, None, :]
    assert undominated(posterior_of(theta), 0.6) == [0, 1, 2]
    assert looped(theta, 0.6) == []
    with_a_loser = np.concatenate([theta, np.full((30, 1, 1), 0.01)], axis=2)
    assert undominated(posterior_of(with_a_loser), 0.6) == [0, 1, 2]


@pytest.mark.parametrize("alpha", [0.5, 1.01, 0.0])
def test_a_threshold_that_is_none_is_refused(alpha: float):
    with pytest.raises(SelectionError, match="alpha must lie in"):
        undominated(posterior_of(np.ones((2, 1, 2))), alpha)
