"""Which problems rounds have run each algorithm on, and who catches up on what it lacks."""

from dataclasses import replace

import numpy as np
import pytest

from polarbear.inference import ModelOptions
from polarbear.racing import (
    OPEN,
    ChoiceQuestion,
    Decisions,
    OpenChoice,
    RoundCoverage,
    RoundRecord,
    Rules,
    catching_up,
    horizons,
    start,
)
from polarbear.racing.coverage import Stretch
from polarbear.racing.race_settings import RaceSettings
from polarbear.racing.state import ABOVE, State

TIMES = [10.0, 100.0]


def a_round(first: int, drawn: int, **ran_to: float) -> RoundRecord:
    return RoundRecord(
        state=start(("a", "b"), TIMES, Rules()),
        decisions=Decisions(),
        first=first,
        drawn=drawn,
        ran_to=ran_to,
        evaluations={},
        threats={},
        instances_to_go=None,
        draws=0,
        problems=(),
        posterior="",
        settings=RaceSettings.of(Rules(), ModelOptions()),
    )


def race_of(names: str, instances: int, **settled: list[int]) -> State:
    """A race after a number of instances; pairs are open unless they are settled."""
    state = replace(start(tuple(names), TIMES, Rules()), instances=instances)
    rows = [settled.get(f"{a}{b}", [OPEN, OPEN]) for a, b in state.pairs]
    return replace(state, settled=np.array(rows, dtype=np.int8))


def test_each_problem_counts_once_with_the_latest_time_reached():
    coverage = RoundCoverage([a_round(0, 8, a=100.0, b=10.0), a_round(4, 6, b=100.0)])
    assert coverage.of("a") == [Stretch(0, 8, 100.0)]
    assert coverage.of("b") == [Stretch(0, 4, 10.0), Stretch(4, 8, 100.0), Stretch(8, 10, 100.0)]
    assert coverage.of("c") == []
    assert [coverage.until("b", index) for index in (0, 4, 9, 10)] == [10.0, 100.0, 100.0, 0.0]
    assert coverage.complete("b", 10.0) == 10
    assert coverage.complete("b", 100.0) == 0  # the first problem was run to 10 only
    assert coverage.complete("c", 10.0) == 0


def test_problems_after_a_gap_are_not_among_the_first():
    coverage = RoundCoverage([a_round(8, 8, a=10.0), a_round(0, 4, a=10.0)])
    assert coverage.complete("a", 10.0) == 4


def test_the_one_that_lacks_problems_of_an_open_pair_catches_up_from_the_first_of_them():
    coverage = RoundCoverage([a_round(0, 8, a=100.0, b=100.0), a_round(8, 8, a=100.0)])
    state = catching_up(race_of("ab", 16), coverage, is_exhausted=False)
    assert (state.joining, state.caught_up) == ("b", 8)
    coverage.add(a_round(8, 4, b=100.0))
    between = replace(state, caught_up=12)
    assert catching_up(between, coverage, is_exhausted=False) == between
    coverage.add(a_round(12, 4, b=100.0))
    arrived = replace(state, joining=None, caught_up=0)
    assert catching_up(arrived, coverage, is_exhausted=False) is arrived


def test_runs_that_ended_before_the_pair_is_open_are_lacking_too():
    coverage = RoundCoverage([a_round(0, 8, a=100.0, b=10.0)])
    state = catching_up(race_of("ab", 8), coverage, is_exhausted=False)
    assert (state.joining, state.caught_up) == ("b", 0)
    early_only = race_of("ab", 8, ab=[OPEN, ABOVE])
    assert catching_up(early_only, coverage, is_exhausted=False) is early_only


def test_settled_pairs_need_no_further_problems():
    coverage = RoundCoverage([a_round(0, 8, a=100.0, b=100.0), a_round(8, 8, a=100.0)])
    settled = race_of("ab", 16, ab=[ABOVE, ABOVE])
    assert catching_up(settled, coverage, is_exhausted=True) is settled


def test_both_sides_use_all_problems_of_the_race_where_no_other_one_may_be_drawn():
    """The two never ran on the last 8, since a third algorithm needed them alone."""
    records = [a_round(0, 8, a=100.0, b=100.0, c=100.0), a_round(8, 8, c=100.0)]
    crossed = {"ac": [ABOVE, ABOVE], "bc": [ABOVE, ABOVE]}
    state = race_of("abc", 16, **crossed)
    assert catching_up(state, RoundCoverage(records), is_exhausted=False) is state
    first = catching_up(state, RoundCoverage(records), is_exhausted=True)
    assert (first.joining, first.caught_up) == ("a", 8)
    records.append(a_round(8, 8, a=100.0))
    second = catching_up(state, RoundCoverage(records), is_exhausted=True)
    assert (second.joining, second.caught_up) == ("b", 8)
    records.append(a_round(8, 8, b=100.0))
    assert catching_up(state, RoundCoverage(records), is_exhausted=True) is state


@pytest.mark.parametrize("preference", [None, "at 100"])
def test_an_open_choice_is_between_algorithms_on_the_same_problems(preference: str | None):
    """The pair is settled, but the choice between the two is open."""
    records = [a_round(0, 8, a=100.0, b=100.0, c=100.0), a_round(8, 8, a=100.0, c=10.0)]
    settled = {pair: [ABOVE, ABOVE] for pair in ("ab", "ac", "bc")}
    choice = OpenChoice(("a", "b"), 10.0, 100.0)
    question = ChoiceQuestion(preference, 0.02, open=(choice,))
    state = replace(race_of("abc", 16, **settled), choices=(question,))
    behind = catching_up(state, RoundCoverage(records), is_exhausted=False)
    assert (behind.joining, behind.caught_up) == ("b", 8)
    assert horizons(behind, Rules(truncate=True)) == {"b": 100.0}
    records.append(a_round(8, 8, b=100.0))
    assert catching_up(state, RoundCoverage(records), is_exhausted=False) is state
    early = replace(question, open=(OpenChoice(("a", "c"), 10.0, 10.0),))
    assert (
        catching_up(replace(state, choices=(early,)), RoundCoverage(records), False).joining is None
    )


def test_a_race_for_a_preference_asks_about_no_pair():
    coverage = RoundCoverage([a_round(0, 8, a=100.0, b=100.0), a_round(8, 8, a=100.0)])
    state = race_of("ab", 16)
    for_preference = replace(state, choices=(ChoiceQuestion("at 100", 0.02),))
    assert catching_up(for_preference, coverage, is_exhausted=False) is for_preference
