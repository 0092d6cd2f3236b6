"""Stan's NUTS against known answers, numerical integration and the native engine."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.inference import ModelOptions, infer
from polarbear.inference.relations import joint, pointwise
from polarbear.inference.stan.programs import programmed_models
from polarbear.rankings import count_choice_sets, rank
from polarbear.rankings.choice_sets import choice_sets_from_terms

from .quadrature import Simplex3
from .stan_support import needs_cmdstan
from .test_dirichlet import WITHIN, three
from .test_known_posteriors import CASES, KNOWN

pytestmark = needs_cmdstan


@pytest.mark.parametrize("model", sorted(CASES))
def test_stan_gives_the_known_answers(model):
    """Within 0.01 where decisions fall, within five joint standard errors elsewhere.

    Some 40 probabilities a model at five sigma: fails by chance once in 40,000 choices of seeds.
    """
    case = CASES[model]
    options = ModelOptions(model=model, dependence="independent", engine="stan", draws=20_000)
    sets = count_choice_sets(np.array(KNOWN["positions"]))
    posterior = infer(sets, np.array(KNOWN["times"]), options, seed=2)
    assert posterior.usable, posterior.diagnostics
    assert posterior.method == "mcmc"
    found = pointwise(posterior)
    expected = np.array(case["dominance"])
    error = np.hypot(found.dominance_error, np.array(case["dominance_error"]))
    difference = np.abs(found.dominance - expected)
    assert (difference <= 5 * error).all()
    near_a_decision = (expected > 0.9) & (expected < 0.999)
    assert difference[near_a_decision].max() < 0.01
    np.testing.assert_allclose(posterior.mean(), case["mean"], atol=0.006)
    if posterior.joint:
        np.testing.assert_allclose(joint(posterior).dominance, case["joint_dominance"], atol=0.02)
    for name, mean in case["hyper"].items():
        assert np.log(posterior.hyper[name]).mean() == pytest.approx(mean, abs=0.03)


def side_by_side(parts):
    """Choice sets of several data sets, each as a time of its own."""
    return choice_sets_from_terms(
        np.concatenate([part.wins for part in parts]),
        np.concatenate([part.set_times() + t for t, part in enumerate(parts)]),
        np.concatenate([part.masks for part in parts]),
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.rankings for part in parts]),
    )


@pytest.mark.parametrize(
    ("alpha", "kinds"),
    [
        (1.0, [{}, {"ties": True}, {"loser": True}]),
        (0.2, [{"loser": True}]),
    ],
)
def test_stan_agrees_with_integration_over_the_simplex(alpha, kinds):
    """An effective sample of 90,000 puts the tolerance at three standard errors."""
    instances = [1, 8, 200] if alpha == 1.0 else [8]
    parts = [three(p, **kind) for p in instances for kind in kinds]
    options = ModelOptions(model="dirichlet", alpha=alpha, engine="stan", draws=100_000)
    times = np.linspace(0, 1, len(parts)) if len(parts) > 1 else np.zeros(1)
    posterior = infer(side_by_side(parts), times, options, seed=1)
    found, mean = pointwise(posterior, epsilon=0.05), posterior.mean()
    for t, part in enumerate(parts):
        truth = Simplex3(part, alpha=alpha)
        np.testing.assert_allclose(mean[t], truth.mean(), atol=WITHIN)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            expected = truth.dominance(a, b)
            assert found.dominance[t, a, b] == pytest.approx(expected, abs=WITHIN)
            expected = truth.equivalence(a, b, 0.05)
            assert found.equivalence[t, a, b] == pytest.approx(expected, abs=WITHIN)


@pytest.mark.parametrize("model", sorted(programmed_models()))
def test_both_engines_agree(model):
    """Five algorithms, thirty instances, twenty times; differences at 3.5 standard errors or more.

    Of some 40 independent probabilities a model one is that far off in 2 % of all choices of seeds.
    """
    rng = np.random.default_rng(5)
    mu = np.outer(np.cos(np.linspace(0, 2, 20)), np.linspace(1, -1, 5))
    sets = count_choice_sets(rank(-(mu.T + rng.gumbel(size=(30, 5, 20)))))
    times = np.linspace(0, 1, 20)
    options = ModelOptions(model=model, dependence="independent", draws=160_000)
    native = infer(sets, times, options, seed=1)
    fewer = options.model_copy(update={"engine": "stan", "draws": 32_000})
    stan = infer(sets, times, fewer, seed=1)
    assert native.usable
    assert stan.usable, stan.diagnostics
    one, other = pointwise(native), pointwise(stan)
    assert other.dominance_error.max() < 0.003
    np.testing.assert_allclose(other.dominance, one.dominance, atol=0.01)
    np.testing.assert_allclose(stan.mean(), native.mean(), atol=0.005)
    if stan.joint:
        np.testing.assert_allclose(joint(stan).dominance, joint(native).dominance, atol=0.015)
