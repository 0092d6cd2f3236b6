"""How far a race still is: a range that is right more often than not, or nothing."""

from dataclasses import replace
from typing import Any

import forecasts
import numpy as np
import pytest
from pydantic import TypeAdapter
from scipy.special import ndtr
from scipy.stats import binom

from polarbear import racing as race
from polarbear.inference.relations import DecisionTables
from polarbear.racing import ALIKE, RaceForecast, State
from polarbear.racing.forecast import _reach, forecast, within
from polarbear.racing.rules import Rules
from polarbear.records import json_values
from tests.racing.test_race import tables


def pair(p_above: float, p_alike: float = 1e-6) -> DecisionTables:
    """Probabilities about two algorithms at one time."""
    return tables({("A", "B"): [p_above]}, {("A", "B"): [p_alike]})


def after(rounds: int, instances: int, rules: Rules, **changes: Any) -> State:
    state = race.start("AB", (10.0,), rules)
    return replace(state, round=rounds, instances=instances, batch=16, **changes)


def ahead(p_above: float, most: int | None = None, p_alike: float = 1e-6) -> RaceForecast:
    rules = Rules(alpha=0.99)
    found = forecast(after(4, 64, rules), rules, pair(p_above, p_alike), most, seed=1)
    assert found is not None
    return found


def test_in_the_first_rounds_and_with_nothing_open_there_is_no_forecast():
    rules = Rules()
    for rounds in (1, 2):
        assert forecast(after(rounds, 16, rules), rules, pair(0.9), None, seed=1) is None
    settled = after(4, 64, rules, settled=np.full((1, 1), ALIKE, dtype=np.int8))
    assert forecast(settled, rules, pair(0.9), None, seed=1) is None


def test_the_surer_a_pair_is_the_sooner_it_is_settled():
    near, far = ahead(0.985), ahead(0.8)
    assert near.likely is not None
    assert near.low == 16  # the next batch
    assert far.likely is None or far.likely > near.likely
    assert near.an_instance == 20  # two algorithms up to 10


def test_a_range_never_goes_beyond_what_there_is():
    for most in (3, 40, 500):
        found = ahead(0.6, most)
        assert found.high is not None
        assert 0 < found.low <= found.high <= most
    assert ahead(0.5, most=8, p_alike=0.3).high == 8


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        ({"rounds": 5}, 16),
        ({"rounds": 6}, 16 + 8),  # a tenth of 80
        ({"instances": 100}, 36),
        ({"spent": 2000}, 36 + 16),  # 64 instances have cost 20 each, and a round is finished
        ({"rounds": 6, "instances": 70}, 6),
        ({"rounds": 3}, None),  # it is past
    ],
)
def test_a_limit_bounds_the_range(limits: dict[str, int], most: int | None):
    rules = Rules(limits=limits)
    state, told = after(4, 64, rules), RaceForecast(16, 300, None, 20.0)
    found = within(told, state, rules.batch, rules.limits, spent=64 * 20)
    assert found == (told if most is None else RaceForecast(min(16, most), most, most, 20.0))


def test_a_forecast_is_kept_as_it_is():
    found = ahead(0.9, 200)
    plain = json_values(found)
    assert TypeAdapter(RaceForecast).validate_python(plain) == found
    assert plain["spent_at_most"] == found.high * 20


@pytest.mark.slow
def test_forecasts_of_races_on_drawn_truths_hold_what_then_happens():
    """The first forecast of each of some 15 races; benchmarks/forecasts.py has many more.

    If 80 % of forecasts are right, this fails for 1 % of all seeds.
    """
    first = [
        told[0]
        for seed in range(100, 105)
        for correlation in forecasts.CORRELATIONS
        if (told := forecasts.told_by_one_race("empirical", correlation, seed)[0])
    ]
    assert len(first) >= 8
    assert sum(one.right for one in first) >= binom.ppf(0.01, len(first), 0.8)


@pytest.mark.parametrize("alpha", [0.6, 0.95, 0.9999])
def test_scores_up_to_its_reach_are_equivalent_as_surely_as_alpha(alpha):
    width = np.linspace(0.01, 12, 5000)
    reach = _reach(width, alpha)
    none = reach == -1
    assert (2 * ndtr(width[none]) - 1 < alpha).all()
    sure = ndtr(width - reach) - ndtr(-width - reach)
    np.testing.assert_allclose(sure[~none], alpha, atol=1e-5)
    assert (np.diff(reach[~none]) > 0).all()
