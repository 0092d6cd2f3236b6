"""Posteriors of every model against long NUTS runs kept in tests/data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from polarbear.inference import ModelOptions, infer
from polarbear.inference.relations import joint, pointwise
from polarbear.rankings import count_choice_sets

KNOWN = json.loads(
    (Path(__file__).parents[1] / "data" / "known-posteriors.json").read_text(encoding="utf-8")
)
CASES = {case["model"]: case for case in KNOWN["cases"]}


@pytest.fixture(scope="module")
def sets():
    return count_choice_sets(np.array(KNOWN["positions"]))


def assert_known(posterior, case):
    """Within 0.01 where decisions fall, within five joint standard errors elsewhere.

    Some 40 probabilities a model at five sigma: fails by chance once in 40,000 choices of seeds.
    """
    assert case["usable"]
    assert posterior.usable, posterior.diagnostics
    found = pointwise(posterior)
    expected = np.array(case["dominance"])
    error = np.hypot(found.dominance_error, np.array(case["dominance_error"]))
    difference = np.abs(found.dominance - expected)
    assert (difference <= 5 * error).all()
    near_a_decision = (expected > 0.9) & (expected < 0.999)
    assert near_a_decision.any()
    assert difference[near_a_decision].max() < 0.01
    np.testing.assert_allclose(posterior.mean(), case["mean"], atol=0.006)
    if posterior.joint:
        np.testing.assert_allclose(joint(posterior).dominance, case["joint_dominance"], atol=0.02)
    for name, mean in case["hyper"].items():
        assert np.log(posterior.hyper[name]).mean() == pytest.approx(mean, abs=0.03)


@pytest.mark.parametrize("model", sorted(CASES))
def test_split_hmc_agrees_with_nuts(sets, model):
    options = ModelOptions(model=model, dependence="independent", draws=40_000)
    assert_known(infer(sets, np.array(KNOWN["times"]), options, seed=2), CASES[model])


@pytest.mark.slow
def test_nuts_itself_still_agrees(sets):
    """A short run, so that the method stays tried: within five joint standard errors."""
    case = CASES["bspline"]
    options = ModelOptions(
        model="bspline", dependence="independent", method="mcmc", draws=2000, chains=2
    )
    posterior = infer(sets, np.array(KNOWN["times"]), options, seed=3)
    assert posterior.method == "mcmc"
    found = pointwise(posterior)
    error = np.hypot(found.dominance_error, np.array(case["dominance_error"]))
    assert (np.abs(found.dominance - np.array(case["dominance"])) <= 5 * error).all()
