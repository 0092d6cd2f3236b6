"""A posterior of the Python interface: frames, ArviZ, warnings."""

import sys

import numpy as np
import pytest

import polarbear as pb
from polarbear.errors import MissingExtraError
from polarbear.inference import posterior_draws
from polarbear.records import json_values


def test_frames_have_a_row_for_each_algorithm_or_ordered_pair_at_each_time(temporal: pb.Posterior):
    assert temporal.theta.shape == (1000, 3, 3)
    assert temporal.summary().columns == ["algorithm", "t", "mean", "low", "high"]
    assert len(temporal.summary()) == 3 * 3
    pairs = temporal.pairs()
    assert pairs.columns[:5] == ["a", "b", "t", "p_dominates", "p_equivalent"]
    assert len(pairs) == 3 * 2 * 3
    assert (pairs["a"] != pairs["b"]).all()


def test_pairs_are_the_shares_of_draws(temporal: pb.Posterior):
    row = temporal.pairs().filter(a="B", b="A", t=100.0)
    a = temporal.algorithms.index("A")
    b = temporal.algorithms.index("B")
    better = temporal.theta[:, :, b] > temporal.theta[:, :, a]
    assert row["p_dominates"].item() == pytest.approx(better[:, 1].mean())
    assert row["p_dominates_always"].item() == pytest.approx(better.all(axis=1).mean())
    assert row["p_crosses"].item() == pytest.approx(
        (better.any(axis=1) & ~better.all(axis=1)).mean()
    )


def test_a_model_of_separate_times_has_no_probabilities_over_all_times(raced: pb.Store):
    posterior = raced.infer(model="dirichlet", draws=1000)
    assert not posterior.joint
    assert not {"p_dominates_always", "p_crosses"} & set(posterior.pairs().columns)
    assert posterior.facts(pairs=True).joint is None


def test_facts_are_those_of_the_frames_at_the_given_times(temporal: pb.Posterior):
    facts = temporal.facts([1])
    assert [(row["algorithm"], row["t"]) for row in facts.ratings] == [
        (name, 100) for name in temporal.algorithms
    ]
    assert [row["mean"] for row in facts.ratings] == pytest.approx(temporal.theta.mean(axis=0)[1])
    assert all(row["low"] < row["mean"] < row["high"] for row in facts.ratings)
    assert list(json_values(facts))[-1] == "ratings"
    facts = temporal.facts([0, 1], pairs=True, epsilon=0.1)
    assert list(json_values(facts))[-4:] == ["epsilon", "pairs", "dominated", "joint"]
    assert facts.pairs is not None
    better = {(row["a"], row["b"], row["t"]): row["p_dominates"] for row in facts.pairs}
    assert len(better) == 3 * 2 * 2
    for (a, b, t), p in better.items():
        assert p + better[b, a, t] == pytest.approx(1)
    assert facts.joint is not None
    always = temporal.pairs().filter(t=10.0)["p_dominates_always"].to_list()
    assert [row["p_dominates"] for row in facts.joint] == always
    diagnostics = json_values(facts)["diagnostics"]
    assert diagnostics["passed"] == (not diagnostics["problems"])


@pytest.mark.peer
def test_arviz_gets_named_dimensions_and_coordinates(temporal: pb.Posterior):
    import arviz

    data = temporal.to_arviz()
    assert isinstance(data, arviz.InferenceData)
    theta = data.posterior["theta"]
    assert theta.dims == ("chain", "draw", "time", "algorithm")
    assert theta.coords["algorithm"].values.tolist() == list(temporal.algorithms)
    assert theta.coords["time"].values.tolist() == temporal.times.tolist()
    draws_of_b = theta.sel(algorithm="B", time=100.0).values
    b = temporal.algorithms.index("B")
    np.testing.assert_array_equal(draws_of_b.ravel(), temporal.theta[:, 1, b])
    assert set(data.posterior.data_vars) == {"theta", *temporal.hyper}
    # ours were computed of the draws as they were before the store made them shorter
    r_hat = float(arviz.rhat(data)["theta"].max())
    assert r_hat == pytest.approx(temporal.diagnostics.r_hat, abs=1e-3)


@pytest.mark.peer
def test_an_arviz_without_inference_data_gets_the_tree_that_took_its_place(temporal, monkeypatch):
    import arviz

    monkeypatch.delattr(arviz, "InferenceData")
    theta = temporal.to_arviz()["posterior"]["theta"]
    assert theta.dims == ("chain", "draw", "time", "algorithm")


def test_without_arviz_one_line_says_what_to_install(temporal, monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(MissingExtraError, match="install the extra 'arviz'"):
        temporal.to_arviz()


def test_a_posterior_that_fails_its_checks_warns_at_the_callers_line(raced, monkeypatch):
    monkeypatch.setattr(posterior_draws, "MIN_ESS", 1e9)
    with pytest.warns(pb.PolarBearWarning, match="do not trust this posterior: bulk ESS") as caught:
        posterior = raced.infer(draws=1200, keep=False)
    assert {warning.filename for warning in caught} == {__file__}
    assert not posterior.usable
    assert "do not trust this posterior" in posterior._repr_html_()
    assert "not to be trusted" in repr(posterior)


def test_a_posterior_is_not_stored_without_keep(raced: pb.Store):
    assert not raced.infer(draws=800, seed=5, keep=False).from_store
    assert not raced.infer(draws=800, seed=5).from_store
    assert raced.infer(draws=800, seed=5).from_store
