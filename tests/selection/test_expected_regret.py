"""A race for one preference: until its expected regret is small, and no longer."""

from pathlib import Path

import pytest

from polarbear.config.configuration import Config
from polarbear.driver.loop import SETTLED
from polarbear.selection.criteria import Criteria, draws_of_values
from polarbear.selection.expected_regret import RegretStop
from polarbear.selection.posterior_source import contest, find_basis
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference
from tests.driver.test_loop import checkpoints, configured, facts_of, run


def aim_of(config: Config, text: str, threshold: float) -> RegretStop:
    budget = config.budget
    return RegretStop(
        read_preference(text)[0], Context(budget.times, budget.axis, joint=False), threshold
    )


def test_it_goes_on_where_everything_is_settled_but_the_choice_is_not(tmp_path: Path):
    """good and early cross near 40: a settled pair, and no easy choice there."""
    config = configured(rules={"batch": {"start": 8, "min": 8, "max": 8}})
    _, store, _ = run(config, tmp_path / "s")
    settled = facts_of(store)
    basis = find_basis(store)
    valuation = read_preference("at 40")[0].on(Context(basis.times))
    items = contest(basis).candidates
    regret = Criteria(draws_of_values(basis.posterior, items, valuation, "duels")).regret.min()
    purpose = aim_of(config, "at 40", regret / 2)
    ended, store, notes = run(config, tmp_path / "s", purpose=purpose)
    assert ended.because.startswith("the expected regret of")
    assert facts_of(store)["instances"] > settled["instances"]
    assert {budget for _, _, budget in notes.runs} == {40.0}  # nothing later matters here
    assert {name for name, _, _ in notes.runs} == set(settled["pareto_set"])
    repeated, _, nothing = run(config, tmp_path / "s", purpose=purpose)
    assert repeated == ended
    assert nothing.runs == []
    after, _, nothing = run(config, tmp_path / "s")
    assert after.because == SETTLED
    assert nothing.runs == []


@pytest.mark.slow
def test_a_limit_holds_for_it_too_and_the_race_is_the_same_in_one_go_or_two(tmp_path: Path):
    rules = {"batch": {"start": 8, "min": 8, "max": 8}}
    short = configured(rules={**rules, "limits": {"rounds": 2}})
    longer = configured(rules={**rules, "limits": {"rounds": 4}})
    purpose = aim_of(short, "uniform", 1e-6)
    ended, store, _ = run(short, tmp_path / "two", purpose=purpose)
    assert ended.at_limit
    run(longer, tmp_path / "two", purpose=purpose)
    _, store_of_one_go, _ = run(longer, tmp_path / "one", purpose=purpose)
    assert checkpoints(store) == checkpoints(store_of_one_go)
