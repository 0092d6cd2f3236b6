"""What more draws make of relations that hang on their number."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from polarbear.driver.judgement import refined
from polarbear.inference import ModelOptions, infer
from polarbear.inference.relations import pointwise
from polarbear.racing.rules import Rules
from polarbear.rankings import count_choice_sets, rank


def test_draws_made_later_count_beside_those_made_before():
    sets = count_choice_sets(rank(np.random.default_rng(0).normal(size=(20, 3, 4))))
    evidence, rules = SimpleNamespace(choice_sets=sets, unit_times=np.linspace(0, 1, 4)), Rules()
    options = ModelOptions(model="dirichlet", draws=1000)
    first = pointwise(infer(sets, evidence.unit_times, options, seed=1), rules.epsilon)
    later = options.model_copy(update={"draws": 3000})
    hanging = np.array([False, True, False, True])
    alone = pointwise(
        infer(sets.pick(np.array([1, 3])), evidence.unit_times[hanging], later, seed=2),
        rules.epsilon,
    )
    both = refined(evidence, later, 2, rules, hanging, first, before=1000)
    for name in ("dominance", "equivalence"):
        one, other, pooled = (getattr(found, name) for found in (first, alone, both))
        np.testing.assert_array_equal(pooled[~hanging], one[~hanging])
        np.testing.assert_allclose(pooled[hanging], 0.25 * one[hanging] + 0.75 * other)
        errors = [getattr(found, f"{name}_error") for found in (first, both)]
        apart = ~np.eye(3, dtype=bool)
        assert (errors[1][hanging][:, apart] < errors[0][hanging][:, apart]).all()
