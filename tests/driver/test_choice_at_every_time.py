"""A race with `race.regret` ends with a choice at every time of the grid, not only with the set."""

from pathlib import Path

import numpy as np

from polarbear.driver.loop import SETTLED, settled_and_chosen_words
from polarbear.facts.standings import standings
from polarbear.inference.strongest_rival import gains_over, likeliest_best, p_best, rival_values
from polarbear.selection.posterior_source import contest, find_basis
from polarbear.store import StoreOnDisk
from tests.driver.test_loop import checkpoints, configured, facts_of, run

BATCH = {"start": 8, "min": 8, "max": 8}
SETTINGS = {"inference": {"draws": 400}}


def regrets(store: StoreOnDisk) -> np.ndarray:
    """The expected regret of the choice at each time."""
    basis = find_basis(store)
    values = rival_values(basis.posterior, contest(basis).candidates, np.asarray)
    choice = likeliest_best(p_best(values), values.mean(axis=0, dtype=np.float64))
    return gains_over(values, choice).sum(axis=1)


def test_a_race_goes_on_after_the_set_until_the_choice_at_every_time_is_good_enough(tmp_path: Path):
    """good and early cross near 40: a settled pair, and no easy choice there."""
    set_only = configured(rules={"batch": BATCH, "regret": None}, **SETTINGS)
    ended, store, _ = run(set_only, tmp_path / "s")
    assert ended.because == SETTLED
    settled = facts_of(store)
    threshold = float(regrets(store).max()) / 2
    rules = {"batch": BATCH, "regret": threshold, "epsilon": 0}
    both = configured(rules=rules, **SETTINGS)
    ended, store, notes = run(both, tmp_path / "both")
    assert (ended.because, ended.at_limit) == (settled_and_chosen_words(threshold), False)
    assert (regrets(store) <= threshold).all()
    facts = standings(store)
    assert facts is not None
    assert facts.resolved
    assert facts.pareto_set == tuple(settled["pareto_set"])
    assert facts.open_choices == ()
    # What only the choice needs comes after the set, at the times at which it is open.
    last = notes.rounds[-2].state
    assert not last.open_pairs
    assert last.open_choices
    needed = {name for choice in last.open_choices for name in choice.algorithms}
    assert set(notes.rounds[-1].ran_to) == needed
    assert max(notes.rounds[-1].ran_to.values()) == max(c.last for c in last.open_choices)


def test_a_race_for_the_set_continues_when_a_choice_is_asked_for_too(tmp_path: Path):
    set_only = configured(rules={"batch": BATCH, "regret": None}, **SETTINGS)
    run(set_only, tmp_path / "s")
    rules = {"batch": BATCH, "regret": 0.004}
    ended, _, notes = run(configured(rules=rules, **SETTINGS), tmp_path / "s")
    assert ended.because == settled_and_chosen_words(0.004)
    assert notes.runs
    again, _, nothing = run(configured(rules=rules, **SETTINGS), tmp_path / "s")
    assert (again, nothing.runs) == (ended, [])
    ended, _, nothing = run(set_only, tmp_path / "s")
    assert (ended.because, nothing.runs) == (SETTLED, [])


def test_a_limit_that_comes_first_is_said_and_the_set_is_resolved(tmp_path: Path):
    rules = {"batch": BATCH, "regret": 1e-6, "epsilon": 0, "limits": {"instances": 48}}
    ended, store, _ = run(configured(rules=rules, **SETTINGS), tmp_path / "s")
    assert ended.at_limit
    facts = standings(store)
    assert facts is not None
    assert facts.resolved
    assert facts.open_choices
    assert all(set(choice.algorithms) <= set(facts.pareto_set) for choice in facts.open_choices)
    # A higher limit continues, and comes out the same as in one go.
    longer = configured(rules={**rules, "limits": {"instances": 64}}, **SETTINGS)
    _, store, _ = run(longer, tmp_path / "s")
    _, in_one_go, _ = run(longer, tmp_path / "one")
    assert checkpoints(store) == checkpoints(in_one_go)
