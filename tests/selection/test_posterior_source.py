"""The posterior that a choice uses, and the algorithms that compete by it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polarbear.driver.kept_posteriors import store_posterior
from polarbear.errors import SelectionError
from polarbear.facts.evidence import cached_posterior, evidence_of
from polarbear.inference import ModelOptions
from polarbear.racing import Decisions, Elimination, RoundRecord, Rules, start
from polarbear.racing.race_settings import RaceSettings
from polarbear.selection.posterior_source import contest, find_basis, undominated
from polarbear.store import StoreOnDisk
from tests.classical.helpers import make_store
from tests.report.stores import THREE, runs_of
from tests.support import keep_posterior, posterior_of


def infer(store: StoreOnDisk, names: list[str] | None = None, **changes: Any) -> str:
    return keep_posterior(store, names, **{"model": "dirichlet", "draws": 400, **changes})


def infer_with_problem(store: StoreOnDisk) -> str:
    """Keep a posterior whose chains disagree."""
    evidence = evidence_of(store)
    posterior = cached_posterior(store, evidence, ModelOptions(model="dirichlet", draws=600), 1)
    diagnostics = replace(posterior.diagnostics, r_hat=1.5)
    with store.writing():
        store_posterior(store, evidence, replace(posterior, diagnostics=diagnostics))
    return posterior.key


def race(
    store: StoreOnDisk,
    posterior: str,
    candidates: list[str],
    algorithms: str = "ABC",
    number: int = 1,
    problems: tuple[str, ...] = (),
) -> None:
    """The checkpoint of a race that has eliminated the others."""
    eliminated = [
        Elimination(n, candidates[0], 1, 8, 0.99) for n in algorithms if n not in candidates
    ]
    record = RoundRecord(
        state=replace(
            start(algorithms, [1.0], Rules()), round=number, eliminated=tuple(eliminated)
        ),
        decisions=Decisions(),
        first=0,
        drawn=8,
        ran_to={},
        evaluations={},
        threats={},
        instances_to_go=None,
        draws=400,
        problems=problems,
        posterior=posterior,
        settings=RaceSettings.of(Rules(), ModelOptions()),
    )
    store.catalog.commit([store.rounds.checkpoint(record)])


@pytest.fixture
def store(tmp_path: Path) -> StoreOnDisk:
    return runs_of(tmp_path, 10, THREE)


def test_it_is_of_the_model_or_key_that_is_asked_for(store: StoreOnDisk, tmp_path: Path):
    old = infer(store)
    temporal = infer(store, model="random-walk")
    for request in ({"model": "dirichlet"}, {"key": old}, {"key": old[:8]}):
        basis = find_basis(store, **request)
        assert (basis.key, basis.posterior.joint) == (old, False)
    basis = find_basis(store, model="random-walk")
    assert (basis.key, basis.posterior.joint) == (temporal, True)
    partial = infer(store, names=["A", "C"])
    assert any("does not include B" in note for note in find_basis(store, key=partial).notes)
    assert find_basis(store).notes == ()
    with pytest.raises(
        SelectionError, match=r"no posterior of the model 'gp'; it has .*\(dirichlet\)"
    ):
        find_basis(store, model="gp")
    with pytest.raises(SelectionError, match=f"no posterior 'zzz'; it has .*{old}"):
        find_basis(store, key="zzz")
    with pytest.raises(SelectionError, match="more than one posterior ''"):
        find_basis(store, key="")
    with pytest.raises(SelectionError, match="has no runs to compare"):
        find_basis(make_store(tmp_path / "empty", {"A": [None], "B": [None]}))


def test_a_race_has_the_first_word(store: StoreOnDisk):
    raced = infer(store)
    newer = infer(store, alpha=2.0)
    race(store, raced, ["A", "C"])
    basis = find_basis(store)
    assert (basis.key, basis.source) == (raced, "race")
    race_contest = contest(basis)
    assert [basis.algorithms[i] for i in race_contest.candidates] == ["A", "C"]
    assert [basis.algorithms[i] for i in race_contest.left_out] == ["B"]
    assert race_contest.reason == "eliminated by the race"
    newer_basis = find_basis(store, key=newer)
    assert newer_basis.source == "infer"
    assert contest(newer_basis).candidates == race_contest.candidates


def test_a_posterior_that_failed_its_checks_does_not_replace_one_that_passed(store: StoreOnDisk):
    passed = infer(store, draws=4000)
    failed = infer_with_problem(store)
    basis = find_basis(store, model="dirichlet")
    assert (basis.key, basis.posterior.usable) == (passed, True)
    assert any("a newer posterior of dirichlet failed its checks" in note for note in basis.notes)
    assert not find_basis(store, key=failed).posterior.usable
    newest = infer(store, draws=4200)
    basis = find_basis(store, model="dirichlet")
    assert (basis.key, basis.notes) == (newest, ())


def test_a_race_whose_last_posterior_failed_keeps_the_one_that_passed(store: StoreOnDisk):
    first = infer(store, draws=4000)
    passed = infer(store, draws=4200)
    failed = infer_with_problem(store)
    race(store, first, ["A", "C"])
    race(store, passed, ["A", "C"], number=2)
    race(store, failed, ["A", "C"], number=3, problems=("R-hat is 1.5",))
    store.posteriors.remove_superseded()
    assert store.posteriors.stored() == [passed, failed]
    basis = find_basis(store)
    assert basis.key == passed
    assert any("failed its checks" in note for note in basis.notes)


def test_a_race_that_was_killed_before_it_kept_its_posterior_is_inferred_from_the_runs(store):
    race(store, "gone", ["A"], algorithms="AB")
    basis = find_basis(store)
    assert (basis.posterior.model, basis.source) == ("empirical", "infer")
    names = [basis.algorithms[i] for i in contest(basis).candidates]
    assert names == ["A", "C"]  # C never raced, so it was not eliminated


def test_without_a_race_the_dominated_are_left_out(tmp_path: Path):
    truth = {"A": [0.9, 0.3], "B": [0.09, 0.65], "C": [0.01, 0.05]}
    basis = find_basis(runs_of(tmp_path, 80, truth))
    undominated_contest = contest(basis)
    assert [basis.algorithms[i] for i in undominated_contest.candidates] == ["A", "B"]
    assert undominated_contest.reason == "dominated: another one is better at each time, P >= 0.95"


def test_those_named_compete(store: StoreOnDisk):
    assert contest(find_basis(store), ["C", "B"]).candidates == (1, 2)


def undominated_by_loops(theta: np.ndarray, alpha: float) -> list[int]:
    draws, times, n = theta.shape
    out = set()
    for a in range(n):
        for b in range(n):
            shares = [
                sum(theta[d, t, b] > theta[d, t, a] for d in range(draws)) / draws
                for t in range(times)
            ]
            if min(shares) >= alpha:
                out.add(a)
    return [i for i in range(n) if i not in out]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("alpha", [0.8, 0.99, 1.0])
def test_an_algorithm_is_left_out_if_another_one_dominates_it_at_every_time(seed, alpha):
    rng = np.random.default_rng(seed)
    strength = np.exp(rng.normal(0, 1.5, (1, 5)) + rng.normal(0, 0.4, (4, 5)))
    theta = np.stack([rng.dirichlet(8 * s, size=60) for s in strength], axis=1)
    remaining = undominated(posterior_of(theta), alpha)
    assert remaining == undominated_by_loops(theta, alpha)
    assert remaining


def test_a_cycle_of_dominances_leaves_nothing_out():
    """With alpha at 0.6 each of three can beat the next in two draws of three."""
    orders = np.array([[3.0, 2.0, 1.0], [1.0, 3.0, 2.0], [2.0, 1.0, 3.0]])
    theta = np.repeat(orders / 6, 10, axis=0)[:, None, :]
    assert undominated(posterior_of(theta), 0.6) == [0, 1, 2]
    assert undominated_by_loops(theta, 0.6) == []
    with_a_loser = np.concatenate([theta, np.full((30, 1, 1), 0.01)], axis=2)
    assert undominated(posterior_of(with_a_loser), 0.6) == [0, 1, 2]
