"""Every model in the registry, and the covariance of each temporal model."""

import numpy as np
import pytest

from polarbear.inference import ModelOptions
from polarbear.inference.models import rating_models
from polarbear.inference.models.base import rating_model
from polarbear.inference.models.covariances import COVARIANCES
from polarbear.inference.models.priors import hilbert_space_basis
from polarbear.inference.plackett_luce.likelihood import Likelihood
from polarbear.inference.plackett_luce.nuts import LogPosterior
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets

UNEVEN = np.sort(np.concatenate([[0, 1], np.random.default_rng(0).random(10), [0.5, 0.50002]]))


def dense_precision(latent):
    """The precision matrix of the coefficients, from the diagonals of its lower triangle."""
    lower = np.zeros((latent.n_coefficients, latent.n_coefficients))
    for k, diagonal in enumerate(latent.precision):
        lower += np.diag(diagonal[: latent.n_coefficients - k], -k)
    return lower + np.tril(lower, -1).T


def prior_covariance(latent):
    """The prior covariance of a latent function on the grid."""
    weights = np.zeros((len(latent.starts), latent.n_coefficients))
    for t, start in enumerate(latent.starts):
        weights[t, start : start + latent.weights.shape[1]] = latent.weights[t]
    return weights @ np.linalg.solve(dense_precision(latent), weights.T)


def correlation(kernel, times, ell):
    return COVARIANCES[kernel].correlation(np.abs(times[:, None] - times), ell)


@pytest.mark.parametrize("name", sorted(rating_models()))
@pytest.mark.parametrize("times", [np.zeros(1), np.array([0.0, 1.0]), UNEVEN], ids=len)
def test_every_model_is_a_proper_log_density_with_gradient(name, times):
    options = ModelOptions(model=name)
    model = rating_model(name)(times, 3, options)
    rng = np.random.default_rng(1)
    hyper = model.draw_hyper(rng)
    assert len(hyper) == len(model.hyperparameters)
    assert np.isfinite(model.log_hyperprior(hyper))
    latent = model.latent(hyper)
    assert latent.weights.shape[0] == len(times)
    assert (latent.starts + latent.weights.shape[1] <= latent.n_coefficients).all()
    if model.temporal:
        half_log_det = 0.5 * np.linalg.slogdet(dense_precision(latent))[1]
        assert latent.half_log_det == pytest.approx(half_log_det, rel=1e-6, abs=1e-6)
    else:
        assert latent.dirichlet > 0

    positions = rank(rng.standard_normal((4, 3, len(times))))
    density = LogPosterior(model, Likelihood(count_choice_sets(positions)))
    x = 0.3 * rng.standard_normal(density.size)
    _, gradient = density(x)
    for k in range(density.size):
        step = np.zeros(density.size)
        step[k] = 1e-4
        slope = (density(x + step)[0] - density(x - step)[0]) / 2e-4
        assert gradient[k] == pytest.approx(slope, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("kernel", sorted(COVARIANCES))
@pytest.mark.parametrize("ell", [0.2, 0.7, 3.0])
def test_the_full_gp_has_its_kernels_covariance(kernel, ell):
    model = rating_model("gp")(UNEVEN, 3, ModelOptions(model="gp", kernel=kernel))
    covariance = prior_covariance(model.latent(np.log([1.5, ell])))
    np.testing.assert_allclose(covariance, 1.5**2 * correlation(kernel, UNEVEN, ell), atol=2e-5)


def test_on_a_long_grid_the_squared_exponential_needs_few_inducing_points():
    times = np.linspace(0, 1, 300)
    model = rating_model("gp")(times, 3, ModelOptions(model="gp", kernel="squared-exponential"))
    assert len(model.inducing) < 60
    covariance = prior_covariance(model.latent(np.log([1.0, 0.3])))
    np.testing.assert_allclose(
        covariance, correlation("squared-exponential", times, 0.3), atol=1e-4
    )


@pytest.mark.parametrize("kernel", sorted(COVARIANCES))
@pytest.mark.parametrize("ell", [0.4, 0.6, 1.2])
def test_hsgp_is_close_to_the_gp_over_its_priors_lengthscales(kernel, ell):
    model = rating_model("hsgp")(UNEVEN, 3, ModelOptions(model="hsgp", kernel=kernel))
    covariance = prior_covariance(model.latent(np.log([1.0, ell])))
    np.testing.assert_allclose(covariance, correlation(kernel, UNEVEN, ell), atol=0.02)


def test_hsgp_follows_the_rules_of_riutort_mayol_unless_its_options_are_set():
    boundary, size = hilbert_space_basis(ModelOptions(model="hsgp"))
    assert size == int(np.ceil(3.42 * boundary * 0.5 / 0.37535))
    options = ModelOptions(model="hsgp", boundary=1.5, basis_functions=12)
    assert hilbert_space_basis(options) == (1.5, 12)


@pytest.mark.parametrize("kernel", ["matern-3/2", "matern-5/2"])
def test_the_sparse_gp_is_exact_at_its_inducing_points_and_below_the_gp_between(kernel):
    options = ModelOptions(model="sparse-gp", kernel=kernel, inducing_points=5)
    model = rating_model("sparse-gp")(UNEVEN, 3, options)
    covariance = prior_covariance(model.latent(np.log([1.0, 0.6])))
    gp_covariance = correlation(kernel, UNEVEN, 0.6)
    np.testing.assert_allclose(np.diag(covariance)[[0, -1]], 1, atol=1e-6)
    assert np.linalg.eigvalsh(gp_covariance - covariance).min() > -1e-6


@pytest.mark.parametrize("kernel", ["matern-3/2", "matern-5/2"])
def test_the_sparse_gp_with_an_inducing_point_at_every_time_is_the_gp(kernel):
    times = np.linspace(0, 1, 14)
    options = ModelOptions(model="sparse-gp", kernel=kernel, inducing_points=len(times))
    model = rating_model("sparse-gp")(times, 3, options)
    covariance = prior_covariance(model.latent(np.log([1.0, 0.6])))
    np.testing.assert_allclose(covariance, correlation(kernel, times, 0.6), atol=1e-6)


def test_the_variance_of_a_random_walk_grows_with_time():
    options = ModelOptions(model="random-walk", initial_scale=2.0)
    model = rating_model("random-walk")(UNEVEN, 3, options)
    covariance = prior_covariance(model.latent(np.log([0.7])))
    expected = 4.0 + 0.49 * np.minimum.outer(UNEVEN, UNEVEN)
    np.testing.assert_allclose(covariance, expected, atol=1e-6)


@pytest.mark.parametrize("n_times", [1, 2, 7, 8, 30])
def test_b_splines_are_a_partition_of_unity_with_half_as_many_functions_as_times(n_times):
    times = np.linspace(0, 1, n_times) if n_times > 1 else np.zeros(1)
    model = rating_model("bspline")(times, 3, ModelOptions(model="bspline"))
    assert model.size == max(4, n_times // 2)
    np.testing.assert_allclose(model.latent(np.array([0.0])).weights.sum(axis=1), 1, atol=1e-12)


def test_small_steps_keep_the_state_space_form_exact():
    """Process noise over a step of 1e-5 would vanish by cancellation in a difference."""
    times = np.array([0.0, 1e-5, 2e-5, 0.5, 1.0])
    for kernel in ("matern-3/2", "matern-5/2"):
        model = rating_model("gp")(times, 3, ModelOptions(model="gp", kernel=kernel))
        covariance = prior_covariance(model.latent(np.log([1.0, 0.5])))
        np.testing.assert_allclose(covariance, correlation(kernel, times, 0.5), atol=1e-3)
