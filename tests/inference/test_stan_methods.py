"""The approximations of Stan, and how every method's diagnostics arrive."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.inference import ModelOptions, infer
from polarbear.inference.relations import pointwise
from polarbear.rankings import count_choice_sets, rank

from .quadrature import Simplex3
from .stan_support import needs_cmdstan
from .test_dirichlet import three

APPROXIMATIONS = ["pathfinder", "laplace", "advi-meanfield", "advi-fullrank"]


def random_sets(n=4, instances=20, n_times=3):
    rng = np.random.default_rng(0)
    return count_choice_sets(
        rank(rng.normal(size=(instances, n, n_times)) + np.arange(n)[:, None] / 2)
    )


def posterior_of(method, seed=1, threads=None, model="dirichlet", **options):
    asked = ModelOptions(model=model, engine="stan", method=method, **{"draws": 2000, **options})
    return infer(random_sets(), np.array([0.0, 0.5, 1.0]), asked, seed=seed, threads=threads)


@needs_cmdstan
@pytest.mark.parametrize("method", APPROXIMATIONS)
def test_an_approximation_is_near_and_says_how_near(method):
    """Means of ratings within 0.06 of integration, as ADVI needs; and Pareto-k is there.

    Pathfinder's draws are resampled by importance: within four errors of 20,000 draws, 0.015.
    """
    sets = three(32)
    options = ModelOptions(model="dirichlet", engine="stan", method=method, draws=20_000)
    posterior = infer(sets, np.zeros(1), options, seed=1)
    truth = Simplex3(sets, alpha=1.0)
    np.testing.assert_allclose(posterior.mean()[0], truth.mean(), atol=0.06)
    assert posterior.method == method
    assert posterior.engine == "stan"
    assert np.isfinite(posterior.diagnostics.pareto_k)
    assert posterior.diagnostics.e_bfmi is None
    if method == "pathfinder":
        assert posterior.diagnostics.pareto_k < 0.7
        found = pointwise(posterior).dominance
        for a, b in ((0, 1), (0, 2), (1, 2)):
            assert found[0, a, b] == pytest.approx(truth.dominance(a, b), abs=0.015)


@needs_cmdstan
def test_nuts_reports_all_its_diagnostics():
    found = posterior_of("mcmc").diagnostics
    assert found.e_bfmi > 0.3
    assert found.deep_trees == 0
    assert found.divergences == 0
    assert 0.6 < found.acceptance <= 1
    assert found.pareto_k is None
    assert found.attempts == 1


@needs_cmdstan
@pytest.mark.parametrize("method", ["mcmc", "pathfinder"])
def test_draws_depend_on_the_seed_alone_not_on_threads(method):
    one, other = (posterior_of(method, threads=threads).theta for threads in (1, 2))
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, posterior_of(method, seed=2).theta)


@needs_cmdstan
def test_a_time_without_rankings_follows_the_prior():
    values = np.random.default_rng(1).normal(size=(9, 3, 3))
    present = np.ones(values.shape, dtype=bool)
    present[:, :, 1] = False
    sets, times = count_choice_sets(rank(values, present)), np.array([0.0, 0.5, 1.0])
    for method in ("mcmc", "laplace"):
        options = ModelOptions(model="dirichlet", engine="stan", method=method, draws=8000)
        posterior = infer(sets, times, options)
        # five standard errors of the mean of a uniform simplex's coordinate
        np.testing.assert_allclose(posterior.mean()[1], 1 / 3, atol=0.015)


@pytest.mark.slow
@needs_cmdstan
def test_a_kernel_is_the_same_in_both_engines():
    """Means of ratings within five standard errors, for the kernels that are not the default."""
    times = np.array([0.0, 0.5, 1.0])
    for kernel, model in (("matern-5/2", "hsgp"), ("squared-exponential", "sparse-gp")):
        options = {"model": model, "kernel": kernel, "draws": 8000, "dependence": "independent"}
        stan = infer(random_sets(), times, ModelOptions(engine="stan", **options), seed=1)
        native = infer(random_sets(), times, ModelOptions(**options), seed=1)
        np.testing.assert_allclose(stan.mean(), native.mean(), atol=0.01)
        for name in ("sigma", "ell"):
            one, other = (np.log(p.hyper[name]).mean() for p in (stan, native))
            assert one == pytest.approx(other, abs=0.05)
