"""Runs go no further than where a pair is about to cross."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from polarbear import racing as race
from polarbear.racing import State
from polarbear.racing.rules import Rules
from tests.racing.test_race import TIMES, beliefs, over_all_times

RULES = Rules(elimination="joint").under(joint=True, plackett_luce=False)


def after(
    above,
    alike=(0.0,) * 4,
    rules: Rules = RULES,
    before: State | None = None,
    everywhere: float = 0.0,
) -> State:
    """Two algorithms after a round that led to these beliefs: P(A better), P(equivalent), and P(A
    better at every time)."""
    state = before or race.start("AB", TIMES, rules)
    found = beliefs({("A", "B"): list(above)}, {("A", "B"): list(alike)})
    return race.step(state, rules, 8, found, over_all_times([[0, everywhere], [0, 0]]))[0]


def ends(state: State, rules: Rules = RULES) -> float:
    """The time up to which the two run in the next round."""
    (end,) = set(race.horizons(state, rules).values())
    return end


def test_a_pair_runs_to_where_the_other_is_likely_to_be_better():
    assert ends(after([0.999, 0.6, 0.1, 0.5])) == 3.0
    assert ends(after([0.001, 0.4, 0.9, 0.5])) == 3.0


def test_or_to_where_the_two_are_likely_to_be_equivalent():
    assert ends(after([0.999, 0.6, 0.5, 0.5], [0, 0.2, 0.9, 0.3])) == 3.0


def test_where_they_are_equivalent_somewhere_either_of_them_will_do():
    assert ends(after([0.5, 0.6, 0.9, 0.5], [0.999, 0, 0, 0])) == 3.0
    assert ends(after([0.5, 0.4, 0.1, 0.5], [0.999, 0, 0, 0])) == 3.0


def test_a_pair_about_which_nothing_is_likely_runs_to_its_last_open_time():
    assert ends(after([0.999, 0.6, 0.3, 0.7])) == 4.0
    assert ends(after([0.999, 0.6, 0.3, 0.999])) == 3.0


def test_a_pair_of_which_nothing_was_shown_runs_to_its_last_open_time():
    assert ends(after([0.9, 0.1, 0.1, 0.5], [0, 0, 0, 0.9])) == 4.0


def test_a_pair_of_which_one_may_still_be_put_out_runs_to_its_last_open_time():
    likely_crossing = ([0.999, 0.6, 0.5, 0.5], [0, 0.2, 0.9, 0.3])
    assert ends(after(*likely_crossing, everywhere=0.09)) == 3.0
    assert ends(after(*likely_crossing, everywhere=0.11)) == 4.0


def test_of_two_times_the_one_at_which_it_takes_less_is_chosen():
    """Instances go by the inverse square of the normal score: 1.08 at 0.86, 2.05 at 0.98."""
    assert ends(after([0.999, 0.14, 0.1, 0.02])) == 4.0  # 2.05^2 / 4 = 1.05, 1.08^2 / 2 = 0.58
    assert ends(after([0.999, 0.10, 0.5, 0.07])) == 2.0  # 1.48^2 / 4 = 0.54, 1.28^2 / 2 = 0.82


def test_an_aim_changes_only_for_one_that_takes_half_as_much():
    first = after([0.999, 0.5, 0.5, 0.1])
    assert ends(first) == 4.0
    assert ends(after([0.999, 0.5, 0.1, 0.1], before=first)) == 4.0
    assert ends(after([0.999, 0.1, 0.5, 0.14], before=first)) == 2.0
    assert ends(after([0.999, 0.5, 0.1, 0.4], before=first)) == 3.0  # no longer likely


@pytest.mark.parametrize(
    "rules",
    [
        RULES.model_copy(update={"resolution": "strict"}),
        RULES.model_copy(update={"elimination": "pointwise"}),
        RULES.model_copy(update={"truncate": False}),
    ],
)
def test_other_rules_know_no_aims(rules):
    assert ends(after([0.999, 0.6, 0.1, 0.5], rules=rules), rules) == 4.0


def test_an_algorithm_runs_as_far_as_any_of_its_pairs_needs():
    above = {
        ("A", "B"): [0.999, 0.1, 0.5, 0.5],
        ("A", "C"): [0.5] * 4,
        ("B", "C"): [0.999, 0.5, 0.1, 0.5],
    }
    joint = over_all_times(np.zeros((3, 3)))
    state, _ = race.step(race.start("ABC", TIMES, RULES), RULES, 8, beliefs(above), joint)
    assert race.horizons(state, RULES) == {"A": 4.0, "B": 3.0, "C": 4.0}


def test_an_untrusted_posterior_leaves_aims_as_they_are_and_a_newcomer_takes_them_away():
    state = after([0.999, 0.6, 0.1, 0.5])
    again, _ = race.step(state, RULES, 8, None)
    assert ends(again) == 3.0
    assert race.horizons(race.admit(state, "C", RULES), RULES) == {"C": 4.0}


def test_a_checkpoint_keeps_aims_and_names_none_where_there_is_none():
    plain = race.to_plain(after([0.999, 0.6, 0.1, 0.5]))
    assert ends(race.from_plain(plain)) == 3.0
    assert [pair["aim"] for pair in plain["pairs"]] == [3.0]
    plain = race.to_plain(after([0.999, 0.6, 0.5, 0.5]))
    assert "aim" not in plain["pairs"][0]
    assert ends(race.from_plain(plain)) == 4.0


def test_what_an_instance_may_cost_at_most_knows_no_aims():
    state = replace(after([0.999, 0.6, 0.1, 0.5]), round=race.TELLING)
    found = beliefs({("A", "B"): [0.999, 0.6, 0.1, 0.5]})
    ahead = race.forecast(state, RULES, found, None, 1)
    assert ahead is not None
    assert ahead.an_instance == 8.0
