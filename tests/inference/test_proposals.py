"""Draws of Laplace approximations, many abreast, and exact ones made of them."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.inference import ModelOptions
from polarbear.inference.chains import Effort
from polarbear.inference.loops.abreast import Approximation, draw_abreast
from polarbear.inference.models import rating_model, temporal_models
from polarbear.inference.native.attempt import FIRST, HARDER
from polarbear.inference.native.nested import explore
from polarbear.inference.native.set_sums import helmert, set_sums
from polarbear.inference.native.temporal import sampling
from polarbear.inference.native.temporal.mode import Mode, find_mode, observed
from polarbear.inference.native.temporal.proposals import accept_approximation, metropolis
from polarbear.rankings import count_choice_sets, rank

N, GRID = 4, np.linspace(0, 1, 7)


def some_sets(instances):
    values = np.random.default_rng(0).normal(size=(instances, N, len(GRID)))
    return count_choice_sets(rank(values + 0.2 * np.arange(N)[:, None]))


def prior_precision(mode: Mode) -> np.ndarray:
    """Of all coefficients, as a matrix."""
    band = mode.latent.precision
    size, width = band.shape
    matrix = np.zeros((size, size))
    for i in range(size):
        for j in range(max(0, i - width + 1), i + 1):
            matrix[i, j] = matrix[j, i] = band[i, width - 1 - (i - j)]
    return np.kron(matrix, np.eye(N - 1))


@pytest.mark.parametrize("abreast", [1, 3, 21])
@pytest.mark.parametrize(
    ("name", "kernel"),
    [*((name, "matern-3/2") for name in temporal_models()), ("gp", "squared-exponential")],
)
def test_draws_abreast_are_the_gaussians_with_the_weights_that_densities_give(
    name, kernel, abreast
):
    sets = some_sets(9)
    laid_out = set_sums(sets)
    model = rating_model(name)(GRID, N, ModelOptions(model=name, kernel=kernel))
    mode = find_mode(laid_out, model.latent(model.draw_hyper(np.random.default_rng(4))))
    lower = np.linalg.cholesky(
        prior_precision(mode)
        + sum(
            np.kron(np.outer(row, row), bend)
            for row, bend in zip(dense_weights(mode), mode.curvatures, strict=True)
        )
    )

    def log_density(x: np.ndarray) -> float:
        mu = observed(mode.latent, x, N - 1) @ helmert(N).T
        return float(sets.log_likelihood(mu).sum() - 0.5 * x @ prior_precision(mode) @ x)

    # what is left of it where Newton's method ended
    slope = (dense_weights(mode).T @ mode.gradients).ravel() - prior_precision(mode) @ mode.x
    normals = np.random.default_rng(5).normal(size=(len(mode.x), abreast))
    places = np.random.default_rng(6).permutation(abreast + 2)[:abreast]
    theta, log_weights = np.zeros((abreast + 2, len(GRID), N)), np.zeros(abreast + 2)
    approximation = Approximation(
        mode.lower, mode.latent.starts.astype(np.int64), mode.latent.weights,
        mode.eta, mode.values, mode.gradients, mode.curvatures,
    )  # fmt: skip
    draw_abreast(laid_out, approximation, normals.copy(), places, theta, log_weights)
    for u, place in zip(normals.T, places, strict=True):
        x = mode.x + np.linalg.solve(lower.T, u)
        mu = observed(mode.latent, x, N - 1) @ helmert(N).T
        shares = np.exp(mu - np.logaddexp.reduce(mu, axis=1, keepdims=True))
        np.testing.assert_allclose(theta[place], shares, rtol=1e-9)
        weight = log_density(x) - log_density(mode.x) + 0.5 * u @ u - slope @ (x - mode.x)
        assert log_weights[place] == pytest.approx(weight, abs=1e-9)
    assert (np.delete(theta, places, axis=0) == 0).all()


def dense_weights(mode: Mode) -> np.ndarray:
    starts, weights = mode.latent.starts, mode.latent.weights
    dense = np.zeros((len(starts), mode.latent.n_coefficients))
    for t, first in enumerate(starts):
        dense[t, first : first + weights.shape[1]] = weights[t]
    return dense


def test_metropolis_goes_by_the_ratio_of_weights_to_where_it_is():
    weights = np.array([1.0, 0.5, 4.0, 1.0, 1.0, 4.0])
    uniforms = np.array([0.999, 0.501, 0.999, 0.3, 0.2, 0.999])
    source, acceptance = metropolis(np.log(weights), uniforms)
    assert source.tolist() == [0, 0, 2, 2, 4, 5]
    np.testing.assert_allclose(acceptance, [1, 0.5, 1, 0.25, 0.25, 1])


def test_metropolis_visits_states_as_often_as_the_target_has_them():
    """Fails for one choice of seeds in 10,000: shares of 200,000 are within four sigma."""
    rng = np.random.default_rng(7)
    target = np.array([0.1, 0.2, 0.7])
    proposed = rng.integers(3, size=200_000)
    source, _ = metropolis(np.log(target)[proposed], rng.random(len(proposed)))
    shares = np.bincount(proposed[source]) / len(proposed)
    np.testing.assert_allclose(shares, target, atol=0.006)


def explored(instances):
    sets = set_sums(some_sets(instances))
    model = rating_model("gp")(GRID, N, ModelOptions(model="gp"))
    return sets, explore(model, sets)


def test_an_approximation_that_is_good_is_accepted_and_one_of_a_single_ranking_is_not():
    found = accept_approximation(*explored(100), 2000, 4, 1, FIRST.effort)
    assert found is not None
    assert 0.95 <= found.acceptance < 1
    assert found.theta.shape == (2000, len(GRID), N)
    again = (found.theta[1:] == found.theta[:-1]).all(axis=(1, 2))
    assert 1 - again.mean() == pytest.approx(found.acceptance, abs=0.02)
    assert (found.visited[1:][again] == found.visited[:-1][again]).all()
    assert accept_approximation(*explored(1), 2000, 4, 1, FIRST.effort) is None


@pytest.mark.parametrize("effort", [FIRST.effort, HARDER.effort])
def test_a_second_attempt_walks(effort: Effort, monkeypatch: pytest.MonkeyPatch):
    walked = []
    monkeypatch.setattr(sampling, "walk", lambda *given: walked.append(given))
    sampling.sample(*explored(100), 400, 4, 1, effort)
    assert bool(walked) is (effort is HARDER.effort)
