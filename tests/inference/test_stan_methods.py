"""Methods of the Stan engine, compared with integration and the native engine."""

import numpy as np
import pytest

from polarbear.inference import ModelOptions, infer
from polarbear.inference.chain_diagnostics import convergence_of
from polarbear.inference.relations import joint, pointwise
from polarbear.inference.stan.programs import programmed_models
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets

from .quadrature import Simplex3
from .test_dirichlet import KINDS, assert_agrees_with_integration, sets_of_three

pytestmark = pytest.mark.stan
APPROXIMATIONS = ["pathfinder", "laplace", "advi-meanfield", "advi-fullrank"]


def random_sets(n=4, instances=20, n_times=3):
    values = np.random.default_rng(0).normal(size=(instances, n, n_times))
    return count_choice_sets(rank(values + np.arange(n)[:, None] / 2))


def posterior_of(method, seed=1, threads=None, model="dirichlet", **options):
    settings = {"model": model, "engine": "stan", "method": method, "draws": 2000, **options}
    times = np.array([0.0, 0.5, 1.0])
    return infer(random_sets(), times, ModelOptions(**settings), seed=seed, threads=threads)


@pytest.mark.parametrize("method", APPROXIMATIONS)
def test_an_approximation_is_close_and_reports_pareto_k(method):
    """Means of ratings are within 0.06 of integration, a tolerance that ADVI needs.

    Pathfinder uses importance resampling, so dominance is within 0.015: four standard errors of
    20,000 draws.
    """
    sets = sets_of_three(32)
    options = ModelOptions(model="dirichlet", engine="stan", method=method, draws=20_000)
    posterior = infer(sets, np.zeros(1), options, seed=1)
    exact = Simplex3(sets, alpha=1.0)
    np.testing.assert_allclose(posterior.mean()[0], exact.mean(), atol=0.06)
    assert posterior.method == method
    assert posterior.engine == "stan"
    assert np.isfinite(posterior.diagnostics.pareto_k)
    assert posterior.diagnostics.e_bfmi is None
    if method == "pathfinder":
        assert posterior.diagnostics.pareto_k < 0.7
        dominance = pointwise(posterior).dominance
        for a, b in ((0, 1), (0, 2), (1, 2)):
            assert dominance[0, a, b] == pytest.approx(exact.dominance(a, b), abs=0.015)


def test_nuts_reports_all_its_diagnostics():
    diagnostics = posterior_of("mcmc").diagnostics
    assert diagnostics.e_bfmi > 0.3
    assert diagnostics.deep_trees == 0
    assert diagnostics.divergences == 0
    assert 0.6 < diagnostics.acceptance <= 1
    assert diagnostics.pareto_k is None
    assert diagnostics.attempts == 1


@pytest.mark.parametrize("method", ["mcmc", "pathfinder"])
def test_draws_depend_on_the_seed_but_not_on_the_number_of_threads(method):
    with_one_thread = posterior_of(method, threads=1).theta
    with_two_threads = posterior_of(method, threads=2).theta
    np.testing.assert_array_equal(with_one_thread, with_two_threads)
    assert not np.array_equal(with_one_thread, posterior_of(method, seed=2).theta)


def test_a_time_without_rankings_follows_the_prior():
    values = np.random.default_rng(1).normal(size=(9, 3, 3))
    present = np.ones(values.shape, dtype=bool)
    present[:, :, 1] = False
    sets = count_choice_sets(rank(values, present))
    times = np.array([0.0, 0.5, 1.0])
    for method in ("mcmc", "laplace"):
        options = ModelOptions(model="dirichlet", engine="stan", method=method, draws=8000)
        posterior = infer(sets, times, options)
        # 0.015 is five standard errors of the mean of a coordinate of the uniform simplex.
        np.testing.assert_allclose(posterior.mean()[1], 1 / 3, atol=0.015)


@pytest.mark.slow
def test_a_kernel_is_the_same_in_both_engines():
    """Means of ratings are within five standard errors for the kernels other than the default."""
    times = np.array([0.0, 0.5, 1.0])
    for kernel, model in (("matern-5/2", "hsgp"), ("squared-exponential", "sparse-gp")):
        options = {"model": model, "kernel": kernel, "draws": 8000, "dependence": "independent"}
        stan = infer(random_sets(), times, ModelOptions(engine="stan", **options), seed=1)
        native = infer(random_sets(), times, ModelOptions(**options), seed=1)
        np.testing.assert_allclose(stan.mean(), native.mean(), atol=0.01)
        for name in ("sigma", "ell"):
            mean_of_stan = np.log(stan.hyper[name]).mean()
            mean_of_native = np.log(native.hyper[name]).mean()
            assert mean_of_stan == pytest.approx(mean_of_native, abs=0.05)


@pytest.mark.slow
def test_stan_agrees_with_integration_over_the_simplex():
    """The tolerance is three standard errors with an effective sample size of 90,000."""
    parts = [sets_of_three(8, **kind) for kind in KINDS]
    assert_agrees_with_integration(parts, 1.0, engine="stan", draws=100_000)


def means_and_errors(posterior):
    """Means of all ratings and of the logarithms of hyperparameters, and their standard errors."""
    log_hyper = [np.log(values)[:, None] for _, values in sorted(posterior.hyper.items())]
    draws = np.hstack([posterior.theta.reshape(len(posterior.theta), -1), *log_hyper])
    bulk_ess = convergence_of(draws, posterior.options.chains)[:, 1]
    return draws.mean(axis=0), draws.std(axis=0) / np.sqrt(bulk_ess)


def assert_equal_within_errors(values, error, other_values, other_error):
    """Check that all values differ by at most five joint standard errors."""
    assert (np.abs(values - other_values) <= 5 * np.hypot(error, other_error)).all()


def assert_equal_dominance(relations, other_relations):
    """Check that the dominance of two posteriors differs by at most five joint standard errors."""
    assert_equal_within_errors(
        relations.dominance,
        relations.dominance_error,
        other_relations.dominance,
        other_relations.dominance_error,
    )


@pytest.mark.slow
@pytest.mark.parametrize("model", sorted(programmed_models()))
def test_both_engines_agree(model):
    """Four algorithms and eight times: more than the stored posteriors or inducing points have.

    Some 50 probabilities, 32 means of ratings and the means of hyperparameters agree within five
    joint standard errors, so that a model fails by chance for one seed in 20,000.

    Standard errors are at most 0.01. A probability that is wrong by 0.07, which is 7 standard
    errors, is detected for 98 % of all seeds. Near a decision, standard errors are half as large,
    and an error of 0.035 is detected. A difference between priors first changes the mean of the
    logarithm of a hyperparameter, which has a standard error of some 0.02.
    """
    rng = np.random.default_rng(5)
    mu = np.outer(np.cos(np.linspace(0, 2, 8)), np.linspace(1, -1, 4))
    sets = count_choice_sets(rank(-(mu.T + rng.gumbel(size=(20, 4, 8)))))
    times = np.linspace(0, 1, 8)
    settings = {"model": model, "inducing_points": 5, "dependence": "independent"}
    native_options = ModelOptions(engine="native", draws=40_000, **settings)
    stan_options = ModelOptions(engine="stan", draws=8_000, **settings)
    native = infer(sets, times, native_options, seed=1)
    stan = infer(sets, times, stan_options, seed=1)
    assert native.usable
    assert stan.usable, stan.diagnostics
    native_relations = pointwise(native)
    stan_relations = pointwise(stan)
    errors = np.hypot(native_relations.dominance_error, stan_relations.dominance_error)
    assert errors.max() < 0.01
    assert_equal_dominance(native_relations, stan_relations)
    assert_equal_within_errors(*means_and_errors(native), *means_and_errors(stan))
    assert native.joint == stan.joint
    if stan.joint:
        assert_equal_dominance(joint(native), joint(stan))
