"""Runs go no further than where a pair is about to cross."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from polarbear import racing as race
from polarbear.inference.relations import Pointwise
from polarbear.racing import State
from polarbear.racing.aims import MAY_BE, SAVES, _more_instances, _so_far
from polarbear.racing.rules import Rules
from tests.racing.test_race import beliefs, over_all_times

TIMES = (1.0, 2.0, 3.0, 9.0)
EPSILON = 0.05
RULES = Rules(elimination="joint").under(joint=True, plackett_luce=False)


def after(
    above,
    alike=(0.0,) * 4,
    rules: Rules = RULES,
    before: State | None = None,
    everywhere: float = 0.0,
    times=TIMES,
) -> State:
    """Two algorithms after a round that led to these beliefs: P(A better), P(equivalent), and P(A
    better at every time)."""
    state = before or race.start("AB", times, rules)
    found = beliefs({("A", "B"): list(above)}, {("A", "B"): list(alike)})
    return race.step(state, rules, 8, found, over_all_times([[0, everywhere], [0, 0]]))[0]


def ends(state: State, rules: Rules = RULES) -> float:
    """The time up to which the two run in the next round."""
    (end,) = set(race.horizons(state, rules).values())
    return end


def test_a_pair_runs_to_where_the_other_is_likely_to_be_better():
    assert ends(after([0.999, 0.6, 0.1, 0.5])) == 3.0
    assert ends(after([0.001, 0.4, 0.9, 0.5])) == 3.0


def test_or_to_where_the_other_is_likely_to_be_as_good():
    assert ends(after([0.999, 0.6, 0.5, 0.5], [0, 0.2, 0.9, 0.3])) == 3.0


def test_a_pair_about_which_nothing_is_likely_runs_to_its_last_open_time():
    assert ends(after([0.999, 0.6, 0.3, 0.7])) == 9.0
    assert ends(after([0.999, 0.6, 0.3, 0.999])) == 3.0


def test_a_pair_of_which_nothing_was_shown_runs_to_its_last_open_time():
    assert ends(after([0.9, 0.1, 0.1, 0.5], [0, 0, 0, 0.9])) == 9.0


def test_a_pair_of_which_one_is_likely_to_be_put_out_runs_to_its_last_open_time():
    likely_crossing = ([0.999, 0.6, 0.5, 0.5], [0, 0.2, 0.9, 0.3])
    assert ends(after(*likely_crossing, everywhere=MAY_BE - 0.01)) == 3.0
    assert ends(after(*likely_crossing, everywhere=MAY_BE + 0.01)) == 9.0


def test_so_does_one_whose_runs_would_hardly_be_shorter():
    late = (1.0, 2.0, 3.0, 3.0 / SAVES - 0.1)
    assert ends(after([0.999, 0.6, 0.1, 0.5], times=late)) == late[-1]
    assert ends(after([0.999, 0.6, 0.1, 0.5], times=(*late[:-1], 3.0 / SAVES + 0.1))) == 3.0


def test_of_two_times_the_one_at_which_it_takes_less_is_chosen():
    """(score of alpha / score)^2 times as many instances: 4.64 at 0.86, 3.30 at 0.9, 2.48 at 0.93
    for 0.99."""
    assert ends(after([0.999, 0.14, 0.07, 0.5])) == 3.0  # 3.64 * 2 = 7.28, 1.48 * 3 = 4.44
    assert ends(after([0.999, 0.10, 0.14, 0.5])) == 2.0  # 2.30 * 2 = 4.60, 3.64 * 3 = 10.92


def seen(mean: np.ndarray, instances: np.ndarray) -> Pointwise:
    """What is believed after so many instances of which A has won 0.5 + mean."""
    score = np.sqrt(instances) / 0.5
    low, high = norm.cdf((-EPSILON - mean) * score), norm.cdf((EPSILON - mean) * score)
    found = beliefs({("A", "B"): norm.cdf(mean * score)}, {("A", "B"): high - low})
    no_worse = np.ones((len(mean), 2, 2))
    no_worse[:, 0, 1], no_worse[:, 1, 0] = 1 - low, high
    return replace(found, no_worse=no_worse)


def until_as_good(mean: float, instances: int, alpha: float) -> int:
    """By counting: how many more instances show B to be as good, if things stay as they are."""
    return next(
        more
        for more in itertools.count()
        if norm.cdf((EPSILON - mean) * math.sqrt(instances + more) / 0.5) >= alpha
    )


def test_how_many_more_instances_it_takes_is_what_counting_says():
    mean, instances = np.array([0.0, 0.01, 0.015, 0.005]), np.array([100, 200, 300, 150])
    believed = seen(mean, instances)
    so_far = _so_far(believed, np.intp(0), np.intp(1))
    assert so_far / so_far[0] == pytest.approx(instances / instances[0], rel=1e-6)
    found = _more_instances(believed.no_worse[:, 1, 0], instances, 0.99)
    counted = [until_as_good(m, n, 0.99) for m, n in zip(mean, instances, strict=True)]
    assert min(counted) > 100
    assert found == pytest.approx(counted, abs=1)


def test_a_time_that_many_instances_did_not_settle_is_left_for_one_that_fewer_will():
    """At 2 a difference that is nearly too large, at 3 none, and fewer instances so far."""
    rules = RULES.model_copy(update={"epsilon": EPSILON})
    mean, instances = np.array([0.2, 0.035, 0.0, 0.0]), np.array([900, 900, 200, 150])
    believed = seen(mean, instances)
    assert (believed.no_worse[1:3, 1, 0] > 0.8).all()
    state = replace(race.start("AB", TIMES, rules), aims=(2.0,))
    state, _ = race.step(state, rules, 8, believed, over_all_times(np.zeros((2, 2))))
    assert ends(state, rules) == 3.0


def test_an_aim_changes_only_for_one_that_takes_half_as_much():
    first = after([0.999, 0.5, 0.1, 0.5])
    assert ends(first) == 3.0
    assert ends(after([0.999, 0.10, 0.1, 0.5], before=first)) == 3.0  # 4.60 and 6.90
    assert ends(after([0.999, 0.06, 0.1, 0.5], before=first)) == 2.0  # 2.48
    assert ends(after([0.999, 0.10, 0.4, 0.5], before=first)) == 2.0  # no longer likely


@pytest.mark.parametrize(
    "rules",
    [
        RULES.model_copy(update={"resolution": "strict"}),
        RULES.model_copy(update={"resolution": "crossing"}),
        RULES.model_copy(update={"elimination": "pointwise"}),
        RULES.model_copy(update={"truncate": False}),
    ],
)
def test_other_rules_know_no_aims(rules):
    assert ends(after([0.999, 0.6, 0.1, 0.5], rules=rules), rules) == 9.0


def test_an_algorithm_runs_as_far_as_any_of_its_pairs_needs():
    above = {
        ("A", "B"): [0.999, 0.1, 0.5, 0.5],
        ("A", "C"): [0.5] * 4,
        ("B", "C"): [0.999, 0.5, 0.1, 0.5],
    }
    joint = over_all_times(np.zeros((3, 3)))
    state, _ = race.step(race.start("ABC", TIMES, RULES), RULES, 8, beliefs(above), joint)
    assert race.horizons(state, RULES) == {"A": 9.0, "B": 3.0, "C": 9.0}


def test_an_untrusted_posterior_leaves_aims_as_they_are_and_a_newcomer_takes_them_away():
    state = after([0.999, 0.6, 0.1, 0.5])
    again, _ = race.step(state, RULES, 8, None)
    assert ends(again) == 3.0
    assert race.horizons(race.admit(state, "C", RULES), RULES) == {"C": 9.0}


def test_a_checkpoint_keeps_aims_and_names_none_where_there_is_none():
    plain = race.to_plain(after([0.999, 0.6, 0.1, 0.5]))
    assert ends(race.from_plain(plain)) == 3.0
    assert [pair["aim"] for pair in plain["pairs"]] == [3.0]
    plain = race.to_plain(after([0.999, 0.6, 0.5, 0.5]))
    assert "aim" not in plain["pairs"][0]
    assert ends(race.from_plain(plain)) == 9.0


def test_what_an_instance_may_cost_at_most_knows_no_aims():
    state = replace(after([0.999, 0.6, 0.1, 0.5]), round=race.TELLING)
    found = beliefs({("A", "B"): [0.999, 0.6, 0.1, 0.5]})
    ahead = race.forecast(state, RULES, found, None, 1)
    assert ahead is not None
    assert ahead.an_instance == 18.0
