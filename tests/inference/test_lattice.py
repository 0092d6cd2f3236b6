"""The lattice of hyperparameters, and how it is laid."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.inference import ModelOptions
from polarbear.inference.models import rating_model
from polarbear.inference.native import nested
from polarbear.inference.native.set_sums import set_sums
from polarbear.rankings import count_choice_sets, rank


@pytest.mark.parametrize("model", ["gp", "hsgp", "hierarchical"])
def test_threads_lay_the_same_lattice_to_the_bit(model: str, monkeypatch: pytest.MonkeyPatch):
    sets = set_sums(count_choice_sets(rank(np.random.default_rng(0).normal(size=(12, 4, 9)))))
    prior = rating_model(model)(np.linspace(0, 1, 9), 4, ModelOptions(model=model))
    alone = nested.explore(prior, sets)
    monkeypatch.setattr(nested, "FEW_SETS", 0)
    together = nested.explore(prior, sets, threads=3)
    assert len(alone.modes) > 4
    for one, other in zip(alone.modes, together.modes, strict=True):
        np.testing.assert_array_equal(one.x, other.x)
    np.testing.assert_array_equal(alone.weights, together.weights)
    np.testing.assert_array_equal(alone.log_hyper, together.log_hyper)
