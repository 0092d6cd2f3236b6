"""Weighted sums of scores: kept up by what changes, or multiplied, they are the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.inference.empirical import sums


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("turning", [0.0, 0.02, 0.5])
def test_sums_that_are_kept_up_are_those_of_all_products(
    kind: type, turning: float, monkeypatch: pytest.MonkeyPatch
):
    """Weights are multiples of 2^-10, so nothing is rounded."""
    rng = np.random.default_rng(3)
    turns = rng.random((50, 6, 40)) < turning
    turns[:, :, 0] = rng.random((50, 6)) < 0.5
    scores = (np.cumsum(turns, axis=2) % 2).astype(kind).reshape(50, -1)
    weights = (rng.integers(0, 2**14, (300, 50)) / 2**10).astype(np.float32)
    expected = np.einsum("dp,pc->cd", weights.astype(float), scores.astype(float))
    monkeypatch.setattr(sums, "_SMALL", 0)
    blocks = [scores[:30], scores[30:]]
    summed = sums.weighted_sums(blocks, 40)
    assert summed.__qualname__.split(".")[0] == ("_multiplied" if turning == 0.5 else "_kept_up")
    of_blocks = [weights[:, :30], weights[:, 30:]]
    np.testing.assert_array_equal(summed(of_blocks), expected)
    monkeypatch.setattr(sums, "_SMALL", 2**18)
    np.testing.assert_array_equal(sums.weighted_sums(blocks, 40)(of_blocks), expected)
