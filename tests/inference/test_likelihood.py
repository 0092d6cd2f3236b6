"""The likelihood of choice sets and the Laplace approximations built on it."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.errors import InferenceError
from polarbear.inference import ModelOptions, chain_diagnostics, infer, posterior_draws
from polarbear.inference.models import rating_models
from polarbear.inference.models.base import rating_model
from polarbear.inference.plackett_luce import engine, laplace
from polarbear.inference.plackett_luce.lattice import explore
from polarbear.inference.plackett_luce.likelihood import Likelihood, helmert
from polarbear.inference.plackett_luce.split_hmc import NestedTarget
from polarbear.numerics.threads import single_threaded_blas
from polarbear.rankings import count_choice_sets, rank

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


def test_helmert_columns_are_orthonormal_contrasts_as_in_the_paper():
    q = helmert(5)
    np.testing.assert_allclose(q.T @ q, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(q.sum(axis=0), 0, atol=1e-12)
    assert q[1, 1] == pytest.approx(np.sqrt(1 / 6))
    assert q[2, 1] == pytest.approx(-np.sqrt(2 / 3))
    assert q[3, 1] == 0


@pytest.mark.parametrize(("n", "instances"), [(2, 5), (3, 9), (5, 12), (16, 6)])
@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_value_gradient_and_curvature_with_a_dirichlet_prior(n, instances, alpha):
    sets = some_sets(n, instances, 4)
    likelihood = Likelihood(sets)
    mu = np.random.default_rng(1).normal(size=(4, n))

    def value(mu):
        prior = alpha * (mu - np.logaddexp.reduce(mu, axis=1, keepdims=True)).sum(axis=1)
        return sets.log_likelihood(mu) + prior

    values, gradients, hessians = likelihood.curvature(mu, alpha)
    np.testing.assert_allclose(values, value(mu), rtol=1e-10)
    for i, unit in enumerate(1e-4 * np.eye(n)):
        slope = (value(mu + unit) - value(mu - unit)) / 2e-4
        np.testing.assert_allclose(gradients[:, i], slope, atol=1e-6)
        ahead, behind = (likelihood.curvature(mu + by, alpha)[1] for by in (unit, -unit))
        np.testing.assert_allclose(hessians[:, i], (behind - ahead) / 2e-4, atol=1e-6)


def test_utilities_far_apart_do_not_overflow():
    likelihood = Likelihood(some_sets(3, 5, 2))
    values, gradients = likelihood.evaluate(np.array([[[0.0, 2000.0, -2000.0]]] * 2))
    assert np.isfinite(values).all()
    assert np.isfinite(gradients).all()


def prior_precision(latent):
    """Of the coefficients of all functions, as a matrix."""
    matrix = np.zeros((latent.n_coefficients,) * 2)
    for below, diagonal in enumerate(latent.precision):
        rows = np.arange(below, len(matrix))
        matrix[rows, rows - below] = matrix[rows - below, rows] = diagonal[: len(rows)]
    return np.kron(matrix, np.eye(N - 1))


def dense_basis(latent):
    dense = np.zeros((len(latent.starts), latent.n_coefficients))
    for t, first in enumerate(latent.starts):
        dense[t, first : first + latent.weights.shape[1]] = latent.weights[t]
    return dense


@pytest.mark.parametrize(
    ("name", "kernel"),
    [*((name, "matern-3/2") for name in rating_models()), ("gp", "squared-exponential")],
)
def test_the_target_is_the_posterior_in_whitened_coordinates(name, kernel):
    """Differences of residual - u u / 2 are differences of the log-posterior; so are slopes."""
    sets = some_sets(N, 9, len(GRID))
    likelihood = Likelihood(sets)
    model = rating_model(name)(GRID, N, ModelOptions(model=name, kernel=kernel))
    lattice = explore(model, likelihood)
    node = len(lattice.modes) // 2
    mode = lattice.modes[node]
    basis = np.kron(dense_basis(mode.latent), np.eye(N - 1))
    precision = prior_precision(mode.latent)
    curvature = np.zeros((len(basis), len(basis)))
    for t, block in enumerate(mode.curvatures):
        here = slice(t * (N - 1), (t + 1) * (N - 1))
        curvature[here, here] = block
    lower = np.linalg.cholesky(precision + basis.T @ curvature @ basis)

    def log_posterior(x):
        mu = (basis @ x).reshape(len(GRID), N - 1) @ helmert(N).T
        log_theta = mu - np.logaddexp.reduce(mu, axis=1, keepdims=True)
        prior = mode.latent.dirichlet * log_theta.sum() - 0.5 * x @ precision @ x
        return float(sets.log_likelihood(mu).sum() + prior)

    # the rest of the slope where Newton's method ended
    slope = basis.T @ mode.gradients.ravel() - precision @ mode.x
    assert np.linalg.norm(np.linalg.solve(lower, slope)) < 1e-3  # posterior standard deviations
    target = NestedTarget(model, likelihood, lattice)
    u, nodes = target.draw_start(3, np.random.default_rng(5)), np.full(3, node)
    flat = u.reshape(3, -1)
    residuals, gradients, mu = target(u, nodes)
    for k, x in enumerate(mode.x + np.linalg.solve(lower.T, flat.T).T):
        expected = log_posterior(x) - log_posterior(mode.x) - slope @ (x - mode.x)
        assert residuals[k].sum() - 0.5 * flat[k] @ flat[k] == pytest.approx(expected, abs=1e-7)
        eta = (basis @ x).reshape(len(GRID), N - 1)
        np.testing.assert_allclose(mu[k], eta @ helmert(N).T, atol=1e-8)
    step = np.zeros_like(u)
    step[:, 0, 1] = 1e-4
    ahead, behind = (target(u + by, nodes)[0].sum(axis=1) for by in (step, -step))
    np.testing.assert_allclose(gradients[:, 0, 1], (ahead - behind) / 2e-4, atol=1e-6)
    if name == "hierarchical":
        np.testing.assert_allclose(target.whiten(mu @ helmert(N), nodes), u, atol=1e-8)


@pytest.mark.parametrize("model", ["dirichlet", "gp"])
def test_where_no_mode_is_found_the_way_out_is_named(model, monkeypatch):
    monkeypatch.setattr(laplace, "MAX_STEPS", 0)
    options = ModelOptions(model=model, dependence="independent")
    with pytest.raises(InferenceError, match="choose a less diffuse prior"):
        infer(some_sets(N, 3, len(GRID)), GRID, options)


@pytest.mark.parametrize(
    "options", [{"model": "dirichlet"}, {"model": "gp"}, {"model": "dirichlet", "engine": "stan"}]
)
def test_more_than_fifty_algorithms_are_for_the_empirical_model(options):
    sets = count_choice_sets(rank(np.random.default_rng(0).normal(size=(4, 51, 1))))
    with pytest.raises(InferenceError, match="at most 50 algorithms, found 51: use the model 'emp"):
        infer(sets, np.zeros(1), ModelOptions(**options))


def test_a_second_attempt_is_at_the_group_of_times_that_failed_the_first(monkeypatch):
    sets = count_choice_sets(rank(np.random.default_rng(0).normal(size=(30, 4, 20))))
    options, times = ModelOptions(model="dirichlet", draws=1000), np.linspace(0, 1, 20)
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
