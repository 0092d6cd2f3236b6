"""The hierarchical model where it is known exactly, and where data say little or too much."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln

from polarbear.inference import ModelOptions, infer
from polarbear.rankings import count_choice_sets, rank


def inferred(values, draws):
    n_times = values.shape[2]
    times = np.linspace(0, 1, n_times) if n_times > 1 else np.zeros(1)
    options = ModelOptions(model="hierarchical", draws=draws)
    return infer(count_choice_sets(rank(values)), times, options, seed=1)


def always_the_same(instances, n, n_times):
    return np.tile(np.arange(float(n))[None, :, None], (instances, 1, n_times))


@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [
        always_the_same(1, 2, 1),
        always_the_same(3, 2, 5),
        np.random.default_rng(2).normal(size=(3, 2, 5)),
        np.random.default_rng(3).normal(size=(20, 2, 4)),
    ],
    ids=["one instance", "always the same", "few instances", "many instances"],
)
def test_for_two_algorithms_kappa_has_its_exact_distribution(values):
    """The ratings integrate out to beta functions; kappa remains, on a fine grid.

    Five quantiles within 0.04 of their levels: four standard errors for 2,500 effective draws.
    """
    posterior = inferred(values, draws=20_000)
    assert posterior.usable, posterior.diagnostics.problems
    wins = count_choice_sets(rank(values)).wins
    log_kappa = np.linspace(-14, 6, 4001)
    a = np.exp(log_kappa)[:, None] / 2
    log_density = log_kappa - a[:, 0]  # an exponential prior of mean n
    log_density += (betaln(a + wins[:, 0], a + wins[:, 1]) - betaln(a, a)).sum(axis=1)
    weights = np.exp(log_density - log_density.max())
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    found = np.quantile(np.log(posterior.hyper["kappa"]), levels)
    exact = np.interp(found, log_kappa, np.cumsum(weights) / weights.sum())
    np.testing.assert_allclose(exact, levels, atol=0.04)


@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [np.random.default_rng(0).normal(size=(1, 4, 5)), always_the_same(2, 4, 3)],
    ids=["one instance", "always the same order"],
)
def test_data_that_say_little_or_always_the_same_give_a_posterior_that_can_be_used(values):
    posterior = inferred(values, draws=8000)
    assert posterior.usable, posterior.diagnostics.problems
