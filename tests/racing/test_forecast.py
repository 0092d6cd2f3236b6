"""A forecast of the instances that a race still needs is a range that is mostly right, or None."""

from dataclasses import replace
from itertools import product
from typing import Any

import forecasts
import numpy as np
import pytest
from pydantic import TypeAdapter
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from polarbear import racing as race
from polarbear.inference.relations import DecisionTables
from polarbear.racing import (
    ABOVE,
    ALIKE,
    OPEN,
    ChoiceQuestion,
    OpenChoice,
    RaceForecast,
    State,
    settled_codes,
)
from polarbear.racing.anytime_bound import log_wealth, proving_score
from polarbear.racing.forecast import (
    N_FUTURES,
    _elimination_scores,
    _reach,
    _score_of,
    _SimulatedPair,
    forecast,
    shown_by_scores,
    within,
)
from polarbear.racing.rules import Guarantee, Resolution, Rules
from polarbear.racing.settling import ShownRelations
from polarbear.records import json_values
from tests.racing.test_race import tables


def pair(p_above: float, p_alike: float = 1e-6) -> DecisionTables:
    """Probabilities about two algorithms at one time."""
    return tables({("A", "B"): [p_above]}, {("A", "B"): [p_alike]})


def after(rounds: int, instances: int, rules: Rules, **changes: Any) -> State:
    state = race.start("AB", (10.0,), rules)
    return replace(state, round=rounds, instances=instances, batch=16, **changes)


def ahead(p_above: float, most: int | None = None, p_alike: float = 1e-6) -> RaceForecast:
    rules = Rules(alpha=0.99, guarantee="none")
    prediction = forecast(after(4, 64, rules), rules, pair(p_above, p_alike), most, seed=1)
    assert prediction is not None
    return prediction


def test_in_the_first_rounds_and_with_nothing_open_there_is_no_forecast():
    rules = Rules()
    for rounds in (1, 2):
        assert forecast(after(rounds, 16, rules), rules, pair(0.9), None, seed=1) is None
    settled = after(4, 64, rules, settled=np.full((1, 1), ALIKE, dtype=np.int8))
    assert forecast(settled, rules, pair(0.9), None, seed=1) is None


def test_the_surer_a_pair_is_the_sooner_it_is_settled():
    near = ahead(0.985)
    far = ahead(0.8)
    assert near.likely is not None
    assert near.low == 16  # This is the next batch.
    assert far.likely is None or far.likely > near.likely
    assert near.an_instance == 20  # Two algorithms run up to time 10.


def test_a_range_never_goes_beyond_the_instances_that_remain():
    for n_remaining in (3, 40, 500):
        prediction = ahead(0.6, n_remaining)
        assert prediction.high is not None
        assert 0 < prediction.low <= prediction.high <= n_remaining
    assert ahead(0.5, most=8, p_alike=0.3).high == 8


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        ({"rounds": 5}, 16),
        ({"rounds": 6}, 16 + 8),  # The second batch is a tenth of 80 instances.
        ({"instances": 100}, 36),
        ({"spent": 2000}, 36 + 16),  # 64 instances have cost 20 each; the last round is finished.
        ({"rounds": 6, "instances": 70}, 6),
        ({"rounds": 3}, None),  # The limit has already passed.
    ],
)
def test_a_limit_bounds_the_range(limits: dict[str, int], most: int | None):
    rules = Rules(limits=limits)
    state = after(4, 64, rules)
    unlimited = RaceForecast(16, 300, None, 20.0)
    limited = within(unlimited, state, rules.batch, rules.limits, spent=64 * 20)
    if most is None:
        assert limited == unlimited
    else:
        assert limited == RaceForecast(min(16, most), most, most, 20.0)


def test_a_forecast_survives_a_round_trip_through_json():
    prediction = ahead(0.9, 200)
    plain = json_values(prediction)
    assert TypeAdapter(RaceForecast).validate_python(plain) == prediction
    assert plain["spent_at_most"] == prediction.high * 20


@pytest.mark.slow
def test_forecasts_of_races_on_drawn_truths_hold_the_instances_that_were_needed():
    """The test counts the right ones among the first forecasts of about 15 races.

    If 80 % of forecasts are right, it fails for 1 % of all seeds. benchmarks/forecasts.py has many
    more races.
    """
    first_forecasts = []
    for seed, correlation in product(range(100, 105), forecasts.CORRELATIONS):
        race_forecasts = forecasts.forecasts_of_race("empirical", correlation, seed)[0]
        if race_forecasts:
            first_forecasts.append(race_forecasts[0])
    n_right = sum(first.is_right for first in first_forecasts)
    assert len(first_forecasts) >= 8
    assert n_right >= binom.ppf(0.01, len(first_forecasts), 0.8)


@pytest.mark.parametrize("alpha", [0.6, 0.95, 0.9999])
def test_scores_up_to_its_reach_are_equivalent_as_surely_as_alpha(alpha):
    width = np.linspace(0.01, 12, 5000)
    reach = _reach(width, alpha)
    is_never = reach == -1
    assert (2 * ndtr(width[is_never]) - 1 < alpha).all()
    p_equivalent = ndtr(width - reach) - ndtr(-width - reach)
    np.testing.assert_allclose(p_equivalent[~is_never], alpha, atol=1e-5)
    assert (np.diff(reach[~is_never]) > 0).all()


# The score of a pair and the half-width of the ROPE at one time, in standard deviations.
BELIEFS = {
    "above": (5.0, 0.1),
    "below": (-5.0, 0.1),
    "alike": (0.0, 4.0),
    "a no worse": (2.0, 2.0),
    "b no worse": (-2.0, 2.0),
    "unsure": (0.0, 0.1),
}
ALPHA = 0.99


def probabilities(names: tuple[str, ...]) -> DecisionTables:
    """The probabilities of a normal posterior with these beliefs, one for each time."""
    score, width = np.array([BELIEFS[name] for name in names]).T

    def table(of_first: np.ndarray, of_second: np.ndarray) -> np.ndarray:
        values = np.zeros((len(names), 2, 2))
        values[:, 0, 1] = of_first
        values[:, 1, 0] = of_second
        return values

    better = table(ndtr(score), ndtr(-score))
    p_alike = ndtr(width - score) - ndtr(-width - score)
    no_worse = table(ndtr(width + score), ndtr(width - score))
    lowest = better.min(axis=0)
    return DecisionTables(better, table(p_alike, p_alike), no_worse, lowest, lowest)


def open_by_the_documented_rule(resolution: Resolution, names: tuple[str, ...]) -> list[bool]:
    """Whether each time stays open according to the documentation of `resolution`."""
    if resolution != "strict":
        as_good_as_a = {"below", "alike"}
        as_good_as_b = {"above", "alike"}
        if resolution == "membership":
            as_good_as_a.add("b no worse")
            as_good_as_b.add("a no worse")
        if "above" in names and as_good_as_a & {*names}:
            return [False] * len(names)
        if "below" in names and as_good_as_b & {*names}:
            return [False] * len(names)
    return [name not in ("above", "below", "alike") for name in names]


def looked_at(rules: Rules, *rounds: tuple[str, ...]) -> np.ndarray:
    """The times of a pair that are open after looks of a forecast with these beliefs."""
    simulated = _SimulatedPair(np.full(len(rounds[0]), OPEN), rules)
    every_future = np.arange(N_FUTURES)
    for names in rounds:
        score, width = np.array([BELIEFS[name] for name in names]).T
        scores = np.tile(score, (N_FUTURES, 1))
        reach = _reach(width, rules.alpha)
        relations = shown_by_scores(scores, width, reach, _score_of(rules.alpha))
        simulated.look(every_future, relations)
    return simulated.is_open[0]


@pytest.mark.parametrize("resolution", ["membership", "crossing", "strict"])
def test_a_forecast_and_a_race_settle_a_pair_by_the_same_rule(resolution: Resolution):
    """All combinations of beliefs at three times."""
    rules = Rules(resolution=resolution, alpha=ALPHA)
    for names in product(BELIEFS, repeat=3):
        expected = open_by_the_documented_rule(resolution, names)
        in_forecast = looked_at(rules, names).tolist()
        in_race = (settled_codes(rules, probabilities(names))[0] == OPEN).tolist()
        assert in_forecast == expected, names
        assert in_race == expected, names


@pytest.mark.parametrize(
    ("resolution", "later", "is_open"),
    [
        ("membership", "b no worse", False),
        ("membership", "alike", False),
        ("membership", "a no worse", True),
        ("crossing", "b no worse", True),
        ("crossing", "alike", False),
        ("strict", "below", True),
    ],
)
def test_a_relation_of_an_earlier_look_still_counts(
    resolution: Resolution, later: str, is_open: bool
):
    rules = Rules(resolution=resolution, alpha=ALPHA)
    first = ("above", "unsure", "unsure")
    second = ("unsure", later, "unsure")
    assert looked_at(rules, first, second)[2] == is_open


def test_a_wider_resolution_ends_a_race_sooner():
    """A is better at the first time, B is nearly as good at the second, the third is even."""
    likely = {}
    for resolution in ("membership", "crossing", "strict"):
        rules = Rules(resolution=resolution, alpha=ALPHA)
        state = race.start("AB", (10.0, 20.0, 30.0), rules)
        settled = np.array([[ABOVE, OPEN, OPEN]], dtype=np.int8)
        state = replace(state, round=4, instances=64, batch=16, settled=settled)
        beliefs = tables({("A", "B"): [0.999, 0.3, 0.5]}, {("A", "B"): [1e-6, 0.6, 0.1]})
        prediction = forecast(state, rules, beliefs, 10_000, seed=1)
        assert prediction is not None
        likely[resolution] = prediction.likely
    assert likely["membership"] < likely["crossing"] < likely["strict"]


@pytest.mark.parametrize("guarantee", ["none", "pair", "anytime"])
def test_an_elimination_is_forecast_by_the_wealth_that_it_needs(guarantee: Guarantee):
    rules = Rules(alpha=0.95, guarantee=guarantee)
    state = after(4, 64, rules)
    scores = {
        "none": ndtri(0.95),
        "pair": proving_score(72, 0.05),
        "anytime": proving_score(72, 0.05 * 3 / np.pi**2),
    }
    assert _elimination_scores(state, rules, 72)[0, 1] == pytest.approx(scores[guarantee])


def test_a_pair_is_open_until_the_better_one_eliminates_the_other():
    """A is better at both times, surely enough to settle each, but not to eliminate B."""
    rules = Rules(alpha=ALPHA)
    simulated = _SimulatedPair(np.full(2, OPEN), rules)
    futures = np.arange(N_FUTURES)
    scores = np.tile([2.5, 2.0], (N_FUTURES, 1))
    is_shown = np.ones((N_FUTURES, 2), dtype=bool)
    relations = ShownRelations(is_shown, ~is_shown, ~is_shown, is_shown, ~is_shown)
    open_times = {1.9: [False, True], 2.2: [False, True], 3.0: [True, True]}
    for needed, expected in open_times.items():
        simulated.look(futures, relations)
        simulated.reopen(futures, scores, needed)
        assert simulated.is_open.tolist() == [expected] * N_FUTURES


def test_the_stronger_the_guarantee_the_later_the_end_that_is_forecast():
    likely = []
    for guarantee in ("none", "pair", "anytime"):
        rules = Rules(alpha=0.95, guarantee=guarantee)
        prediction = forecast(after(4, 64, rules), rules, pair(0.9), None, seed=1)
        assert prediction is not None
        assert prediction.likely is not None
        likely.append(prediction.likely)
    assert likely[0] < likely[1] < likely[2]


@pytest.mark.parametrize("n_duels", [10, 64, 1000])
@pytest.mark.parametrize("error", [0.05, 1e-3])
def test_the_score_that_proves_is_that_of_the_fewest_wins(n_duels: int, error: float):
    score = proving_score(n_duels, error)
    for wins in range(n_duels + 1):
        is_proven = log_wealth(np.array(wins), np.array(n_duels - wins)) >= -np.log(error)
        assert bool(is_proven) == ((2 * wins - n_duels) / np.sqrt(n_duels) >= score - 1e-9)
    assert proving_score(3, error) == np.inf


def open_choice(wins: int, n_duels: int, rng: np.random.Generator) -> OpenChoice:
    """The choice between two algorithms after some duels, whose win rate has a Beta posterior."""
    p_wins = rng.beta(0.5 + max(wins, n_duels - wins), 0.5 + min(wins, n_duels - wins), 2000)
    regret = np.maximum(1 - 2 * p_wins, 0).mean()
    return OpenChoice(("A", "B"), 10.0, 10.0, float(regret), float((p_wins > 0.5).mean()))


def with_choice(choice: OpenChoice, n_duels: int, rules: Rules, threshold: float) -> State:
    """A race in which the pair is settled, and the choice is open."""
    settled = np.full((1, 1), ALIKE, dtype=np.int8)
    question = ChoiceQuestion(None, threshold, open=(choice,))
    return after(4, n_duels, rules, settled=settled, choices=(question,))


def test_forecasts_of_choices_hold_the_problems_that_were_needed():
    rng = np.random.default_rng(3)
    rules = Rules(epsilon=0.0)
    threshold = 0.02
    most = 600
    is_right = []
    while len(is_right) < 60:
        duels = rng.random(64 + most) < rng.uniform(0.4, 0.6)
        choice = open_choice(int(duels[:64].sum()), 64, rng)
        if choice.regret is None or choice.regret <= threshold:
            continue
        prediction = forecast(with_choice(choice, 64, rules, threshold), rules, pair(0.5), most, 1)
        assert prediction is not None
        assert prediction.high is not None
        n_duels = 64
        regret = choice.regret
        while regret > threshold and n_duels < 64 + most:
            n_duels = min(n_duels + 16, 64 + most)
            regret = open_choice(int(duels[:n_duels].sum()), n_duels, rng).regret or 0.0
        is_right.append(prediction.low - 16 <= n_duels - 64 <= prediction.high + 16)
    assert np.mean(is_right) >= 0.8


def test_a_forecast_is_about_choices_alone_in_a_race_for_a_preference():
    rules = Rules(epsilon=0.0)
    rng = np.random.default_rng(0)
    state = with_choice(open_choice(40, 64, rng), 64, rules, 0.01)
    undecided = pair(0.5)
    of_choice = forecast(state, rules, undecided, None, 1)
    with_open_pair = replace(state, settled=np.full((1, 1), OPEN, dtype=np.int8))
    (question,) = state.choices
    for_preference = replace(with_open_pair, choices=(replace(question, preference="final"),))
    assert forecast(for_preference, rules, undecided, None, 1) == of_choice
    later = forecast(with_open_pair, rules, undecided, None, 1)
    assert of_choice is not None
    assert later is not None
    assert later.low > of_choice.low
    before_the_first_round = with_choice(OpenChoice(("A", "B"), 10.0, 10.0), 64, rules, 0.01)
    assert forecast(before_the_first_round, rules, undecided, None, 1) is not None
