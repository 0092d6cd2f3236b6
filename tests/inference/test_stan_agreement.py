"""Stan's NUTS against numerical integration and the native engine."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.inference import ModelOptions, infer
from polarbear.inference.chain_diagnostics import convergence_of
from polarbear.inference.relations import joint, pointwise
from polarbear.inference.stan.programs import programmed_models
from polarbear.rankings import count_choice_sets, rank

from .stan_support import needs_cmdstan
from .test_dirichlet import KINDS, assert_agrees_with_integration, three

pytestmark = needs_cmdstan


@pytest.mark.slow
def test_stan_agrees_with_integration_over_the_simplex():
    """An effective sample of 90,000 puts the tolerance at three standard errors."""
    parts = [three(8, **kind) for kind in KINDS]
    assert_agrees_with_integration(parts, 1.0, engine="stan", draws=100_000)


def means_and_errors(posterior):
    """Means of all ratings and of the logarithms of hyperparameters, and their standard errors."""
    hyper = [np.log(values)[:, None] for _, values in sorted(posterior.hyper.items())]
    draws = np.hstack([posterior.theta.reshape(len(posterior.theta), -1), *hyper])
    effective = convergence_of(draws, posterior.options.chains)[:, 1]
    return draws.mean(axis=0), draws.std(axis=0) / np.sqrt(effective)


def agree(one, other, errors):
    return bool((np.abs(one - other) <= 5 * np.hypot(*errors)).all())


@pytest.mark.slow
@pytest.mark.parametrize("model", sorted(programmed_models()))
def test_both_engines_agree(model):
    """On more algorithms and times than known answers have, and more times than inducing points.

    Everything within five joint standard errors: some 50 probabilities, 32 means of ratings and
    those of hyperparameters, so that a model fails by chance once in 20,000 choices of seeds. With
    errors of 0.01 at most, 7 of them, a probability that is 0.07 off is found for 98 % of all
    seeds, and one near a decision, where errors are half of that, if it is 0.035 off. What differs
    in a prior moves the mean of its hyperparameter's logarithm first, which is known to some 0.02.
    """
    rng = np.random.default_rng(5)
    mu = np.outer(np.cos(np.linspace(0, 2, 8)), np.linspace(1, -1, 4))
    sets = count_choice_sets(rank(-(mu.T + rng.gumbel(size=(20, 4, 8)))))
    asked = {"model": model, "inducing_points": 5, "dependence": "independent"}
    native, stan = (
        infer(sets, np.linspace(0, 1, 8), ModelOptions(engine=engine, draws=draws, **asked), seed=1)
        for engine, draws in (("native", 40_000), ("stan", 8_000))
    )
    assert native.usable
    assert stan.usable, stan.diagnostics
    one, other = pointwise(native), pointwise(stan)
    assert np.hypot(one.dominance_error, other.dominance_error).max() < 0.01
    assert agree(one.dominance, other.dominance, (one.dominance_error, other.dominance_error))
    (means, error), (others, other_error) = means_and_errors(native), means_and_errors(stan)
    assert agree(means, others, (error, other_error))
    assert native.joint == stan.joint
    if stan.joint:
        one, other = joint(native), joint(stan)
        assert agree(one.dominance, other.dominance, (one.dominance_error, other.dominance_error))
