"""The likelihood of choice sets and the Laplace approximations built on it."""

import numpy as np
import pytest

from polarbear.errors import InferenceError
from polarbear.inference import ModelOptions, chain_diagnostics, infer, posterior_draws
from polarbear.inference.plackett_luce import engine, laplace
from polarbear.inference.plackett_luce.likelihood import Likelihood
from polarbear.numerics.threads import single_threaded_blas
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets

N = 4
GRID = np.linspace(0, 1, 7)


@pytest.fixture(autouse=True)
def _one_blas_thread():
    """Use one BLAS thread, as the engine does: small products wait for threads otherwise."""
    with single_threaded_blas():
        yield


def partial_sets(n, instances, n_times, seed=0):
    """Tied, partial rankings with an algorithm that always loses; none at the last time."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (instances, n, n_times)).astype(float)
    values[:, -1] = 10.0
    present = rng.random(values.shape) < 0.8
    present[:, :, -1] = False
    return count_choice_sets(rank(values, present))


@pytest.mark.parametrize(("n", "instances"), [(2, 5), (3, 9), (5, 12), (16, 6)])
@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_value_gradient_and_curvature_with_a_dirichlet_prior(n, instances, alpha):
    sets = partial_sets(n, instances, 4)
    likelihood = Likelihood(sets)
    mu = np.random.default_rng(1).normal(size=(4, n))

    def log_posterior(mu):
        prior = alpha * (mu - np.logaddexp.reduce(mu, axis=1, keepdims=True)).sum(axis=1)
        strength = np.where(sets.members(), np.exp(mu)[sets.set_times()], 0)
        terms = sets.counts * np.log(strength.sum(axis=1))
        return (sets.wins * mu).sum(axis=1) - np.bincount(sets.set_times(), terms, 4) + prior

    values, gradients, hessians = likelihood.curvature(mu, alpha)
    np.testing.assert_allclose(values, log_posterior(mu), rtol=1e-10)
    for i, step in enumerate(1e-4 * np.eye(n)):
        slope = (log_posterior(mu + step) - log_posterior(mu - step)) / 2e-4
        np.testing.assert_allclose(gradients[:, i], slope, atol=1e-6)
        gradient_ahead = likelihood.curvature(mu + step, alpha)[1]
        gradient_behind = likelihood.curvature(mu - step, alpha)[1]
        negative_curvature = (gradient_behind - gradient_ahead) / 2e-4
        np.testing.assert_allclose(hessians[:, i], negative_curvature, atol=1e-6)


@pytest.mark.parametrize("model", ["dirichlet", "gp"])
def test_the_error_without_a_mode_suggests_a_less_diffuse_prior(model, monkeypatch):
    monkeypatch.setattr(laplace, "MAX_STEPS", 0)
    options = ModelOptions(model=model, dependence="independent")
    with pytest.raises(InferenceError, match="choose a less diffuse prior"):
        infer(partial_sets(N, 3, len(GRID)), GRID, options)


def test_only_the_group_of_times_that_failed_is_sampled_a_second_time(monkeypatch):
    sets = count_choice_sets(rank(np.random.default_rng(0).normal(size=(30, 4, 20))))
    options = ModelOptions(model="dirichlet", draws=2000)
    times = np.linspace(0, 1, 20)
    monkeypatch.setattr(engine, "MAX_TIMES_PER_GROUP", 5)
    first = infer(sets, times, options, seed=3)
    assert first.diagnostics.attempts == 1
    convergence = chain_diagnostics.convergence_of(
        first.theta.reshape(len(first.theta), -1), options.chains
    )
    tail_ess = convergence[:, 2].reshape(4, 20).min(axis=1)  # There are 4 groups of 5 times.
    lowest, second_lowest = np.sort(tail_ess)[:2]
    # The threshold is such that exactly one group is below.
    monkeypatch.setattr(posterior_draws, "MIN_ESS", (lowest + second_lowest) / 2)
    second = infer(sets, times, options, seed=3)
    changed = (first.theta != second.theta).any(axis=(0, 2)).reshape(4, 5)
    assert changed.all(axis=1).tolist() == changed.any(axis=1).tolist()
    assert changed.any(axis=1).tolist() == (tail_ess == lowest).tolist()
    assert second.diagnostics.attempts == 2
    assert second.diagnostics.ess_tail > first.diagnostics.ess_tail
