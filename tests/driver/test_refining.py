"""What more draws make of relations that hang on their number."""

from __future__ import annotations

from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest

from polarbear.driver.judgement import relations_of
from polarbear.driver.refining import refined_pairs, refined_times
from polarbear.inference import ModelOptions, infer
from polarbear.inference.empirical import knots
from polarbear.inference.empirical.engine import Empirical
from polarbear.inference.relations import pointwise
from polarbear.racing.rules import Rules
from polarbear.rankings import count_choice_sets, rank


def test_draws_made_later_count_beside_those_made_before_at_the_times_that_hang():
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
    both, draws = refined_times(evidence, later, 2, rules, hanging, first, np.full(4, 1000))
    assert draws.tolist() == [1000, 4000, 1000, 4000]
    for name in ("dominance", "equivalence"):
        one, other, pooled = (getattr(found, name) for found in (first, alone, both))
        np.testing.assert_array_equal(pooled[~hanging], one[~hanging])
        np.testing.assert_allclose(pooled[hanging], 0.25 * one[hanging] + 0.75 * other)
        errors = [getattr(found, f"{name}_error") for found in (first, both)]
        apart = ~np.eye(3, dtype=bool)
        assert (errors[1][hanging][:, apart] < errors[0][hanging][:, apart]).all()


TWELVE = np.linspace(0, 1, 12)


def duelling(draws: int) -> Empirical:
    """Four algorithms whose duels are all but even, at twelve times."""
    rng = np.random.default_rng(3)
    values = rng.standard_normal((40, 4, 1)) + 0.3 * rng.standard_normal((40, 4, 12))
    return Empirical(rank(values), TWELVE, ModelOptions(draws=draws))


@pytest.mark.parametrize("looked_at", [12, 7])
def test_more_draws_of_some_pairs_say_what_as_many_of_all_pairs_do(monkeypatch, looked_at):
    """Within five Monte-Carlo errors of either; of 2 pairs at 12 times with 2 relations and 2 over
    all times an error once in 30,000."""
    monkeypatch.setattr(knots, "_MOST_KNOTS", looked_at)
    monkeypatch.setattr(knots, "_FEWEST_KNOTS", 5)
    rules, model = Rules(elimination="joint"), duelling(4000)
    posterior = model.posterior(1)
    before, hanging = relations_of(posterior, rules), np.array([0, 1, 0, 0, 1, 0], dtype=bool)
    draws = np.full(6, 4000)
    after = deepcopy(before)
    for k in range(3):
        after, draws = refined_pairs(model, posterior, 10 + k, rules, hanging, after, draws, 4000)
    assert draws.tolist() == [4000, 16_000, 4000, 4000, 16_000, 4000]
    others = relations_of(duelling(16_000).posterior(2), rules)
    for table, old, new, other in zip(("pointwise", "joint"), before, after, others, strict=True):
        for name in ("dominance", "equivalence" if table == "pointwise" else "crossing"):
            was, now, alike = (getattr(found, name) for found in (old, new, other))
            error, of_other = (getattr(found, f"{name}_error") for found in (new, other))
            for k, (a, b) in enumerate(zip(*np.triu_indices(4, 1), strict=True)):
                for at in ((..., a, b), (..., b, a)):
                    if not hanging[k]:
                        np.testing.assert_array_equal(now[at], was[at])
                        continue
                    limit = 5 * np.hypot(error[at], of_other[at])
                    assert (np.abs(now[at] - alike[at]) < limit).all()
                    assert (error[at] < 0.75 * getattr(old, f"{name}_error")[at] + 1e-4).all()


def test_further_draws_are_weighed_by_their_number():
    rules, model = Rules(), duelling(1000)
    posterior, hanging = model.posterior(1), np.array([1, 0, 0, 0, 0, 0], dtype=bool)
    before = relations_of(posterior, rules)
    (alone,) = model.more_of_pairs(posterior, [0], 1000, 7)
    further = pointwise(alone, rules.epsilon)
    (after, _), draws = refined_pairs(
        model, posterior, 7, rules, hanging, before, np.full(6, 3000), 1000
    )
    assert draws[0] == 4000
    for name in ("dominance", "equivalence"):
        expected = 0.75 * getattr(before[0], name)[:, 0, 1] + 0.25 * getattr(further, name)[:, 0, 1]
        np.testing.assert_allclose(getattr(after, name)[:, 0, 1], expected)
