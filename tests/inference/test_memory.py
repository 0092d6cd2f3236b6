"""Draws depend on data and seed, never on what memory held before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polarbear.inference import ModelOptions, infer
from polarbear.inference.models import rating_models
from polarbear.rankings import count_choice_sets, rank


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "laplace"])
@pytest.mark.parametrize("model", sorted(rating_models()))
def test_new_memory_may_hold_anything(model: str, method: str, monkeypatch: pytest.MonkeyPatch):
    positions = rank(np.random.default_rng(3).normal(size=(12, 4, 5)))
    sets = count_choice_sets(positions)
    times, options = np.linspace(0, 1, 5), ModelOptions(model=model, method=method, draws=800)

    def draws() -> np.ndarray:
        return infer(sets, times, options, seed=1, positions=positions).theta

    expected = draws()
    plain = np.empty

    def poisoned(*arguments: Any, **options: Any) -> np.ndarray:
        made = plain(*arguments, **options)
        if made.dtype.kind == "f":
            made.fill(np.nan)
        return made

    monkeypatch.setattr(np, "empty", poisoned)
    np.testing.assert_array_equal(draws(), expected)
