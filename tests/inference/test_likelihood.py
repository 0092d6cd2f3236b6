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

N, GRID = 4, np.linspace(0, 1, 7)


@pytest.fixture(autouse=True)
def _one_blas_thread():
    """As in the engine: on a busy machine small products would wait for BLAS's threads."""
    with single_threaded_blas():
        yield


def some_sets(n, instances, n_times, seed=0):
    """Tied, partial rankings with an algorithm that always loses; the last time has none."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (instances, n, n_times)).astype(float)
    values[:, -1] = 10.0
    present = rng.random(values.shape) < 0.8
    present[:, :, -1] = False
    return count_choice_sets(rank(values, present))


@pytest.mark.parametrize(("n", "instances"), [(2, 5), (3, 9), (5, 12), (16, 6)])
@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_value_gradient_and_curvature_with_a_dirichlet_prior(n, instances, alpha):
    sets = some_sets(n, instances, 4)
    likelihood = Likelihood(sets)
    mu = np.random.default_rng(1).normal(size=(4, n))

    def value(mu):
        prior = alpha * (mu - np.logaddexp.reduce(mu, axis=1, keepdims=True)).sum(axis=1)
        strength = np.where(sets.members(), np.exp(mu)[sets.set_times()], 0)
        terms = sets.counts * np.log(strength.sum(axis=1))
        return (sets.wins * mu).sum(axis=1) - np.bincount(sets.set_times(), terms, 4) + prior

    values, gradients, hessians = likelihood.curvature(mu, alpha)
    np.testing.assert_allclose(values, value(mu), rtol=1e-10)
    for i, unit in enumerate(1e-4 * np.eye(n)):
        slope = (value(mu + unit) - value(mu - unit)) / 2e-4
        np.testing.assert_allclose(gradients[:, i], slope, atol=1e-6)
        ahead, behind = (likelihood.curvature(mu + by, alpha)[1] for by in (unit, -unit))
        np.testing.assert_allclose(hessians[:, i], (behind - ahead) / 2e-4, atol=1e-6)


@pytest.mark.parametrize("model", ["dirichlet", "gp"])
def test_where_no_mode_is_found_the_way_out_is_named(model, monkeypatch):
    monkeypatch.setattr(laplace, "MAX_STEPS", 0)
    options = ModelOptions(model=model, dependence="independent")
    with pytest.raises(InferenceError, match="choose a less diffuse prior"):
        infer(some_sets(N, 3, len(GRID)), GRID, options)


def test_a_second_attempt_is_at_the_group_of_times_that_failed_the_first(monkeypatch):
    sets = count_choice_sets(rank(np.random.default_rng(0).normal(size=(30, 4, 20))))
    options, times = ModelOptions(model="dirichlet", draws=2000), np.linspace(0, 1, 20)
    monkeypatch.setattr(engine, "MAX_TIMES_PER_GROUP", 5)
    first = infer(sets, times, options, seed=3)
    assert first.diagnostics.attempts == 1
    found = chain_diagnostics.convergence_of(
        first.theta.reshape(len(first.theta), -1), options.chains
    )
    tails = found[:, 2].reshape(4, 20).min(axis=1)  # of each group
    worst = np.sort(tails)
    monkeypatch.setattr(posterior_draws, "MIN_ESS", worst[:2].mean())  # one group is below
    second = infer(sets, times, options, seed=3)
    changed = (first.theta != second.theta).any(axis=(0, 2)).reshape(4, 5)
    assert changed.all(axis=1).tolist() == changed.any(axis=1).tolist()
    assert changed.any(axis=1).tolist() == (tails == worst[0]).tolist()
    assert second.diagnostics.attempts == 2
    assert second.diagnostics.ess_tail > first.diagnostics.ess_tail
