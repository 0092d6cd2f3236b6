"""What is open, for whom, and until when, compared with a search through every pair and time."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polarbear import racing as race
from polarbear.racing import ABOVE, ALIKE, BELOW, OPEN, ChoiceQuestion, OpenChoice, State, Topic
from polarbear.racing.rules import Rules

NAMES = ("A", "B", "C", "D")
TIMES = (1.0, 2.0, 3.0, 4.0, 5.0)
RULES = Rules(truncate=True)


@st.composite
def states(draw: st.DrawFn) -> State:
    codes = st.integers(0, 5)
    settled = draw(st.lists(st.lists(codes, min_size=5, max_size=5), min_size=6, max_size=6))
    choices = draw(st.lists(open_choices(), max_size=3))
    preference = draw(st.sampled_from([None, "uniform"]))
    questions = (ChoiceQuestion(preference, 0.1, open=tuple(choices)),) if choices else ()
    return replace(
        race.start(NAMES, TIMES, RULES),
        settled=np.array(settled, dtype=np.int8),
        instances=16,
        joining=draw(st.sampled_from([None, None, "C"])),
        choices=questions,
    )


@st.composite
def open_choices(draw: st.DrawFn) -> OpenChoice:
    algorithms = draw(st.lists(st.sampled_from(NAMES), min_size=2, unique=True))
    last = draw(st.sampled_from(TIMES))
    return OpenChoice(tuple(algorithms), TIMES[0], last)


def is_needed(state: State, name: str, t: float) -> bool:
    """Whether some question that is asked needs a run of an algorithm at a time."""
    if state.joining not in (None, name):
        return False
    if any(
        name in choice.algorithms and choice.first <= t <= choice.last
        for question in state.choices
        for choice in question.open
    ):
        return True
    if any(question.preference is not None for question in state.choices):
        return False
    return any(
        name in pair and state.relation(*pair)[state.times.index(t)] == OPEN for pair in state.pairs
    )


@settings(deadline=None)
@given(states())
def test_every_algorithm_runs_to_the_last_time_at_which_something_needs_it(state: State):
    expected = {}
    for name in NAMES:
        needed_times = [t for t in TIMES if is_needed(state, name, t)]
        if needed_times:
            expected[name] = max(needed_times)
    assert race.horizons(state, RULES) == expected
    to_the_end = race.horizons(state, Rules(truncate=False))
    assert to_the_end == dict.fromkeys(expected, TIMES[-1])
    assert bool(race.open_questions(state)) == bool(expected)


@pytest.mark.parametrize(
    ("codes", "topic"),
    [
        ([ABOVE, OPEN, ABOVE], Topic.ELIMINATION),
        ([OPEN, BELOW, BELOW], Topic.ELIMINATION),
        ([OPEN, OPEN, OPEN], Topic.MEMBERSHIP),
        ([ABOVE, ALIKE, OPEN], Topic.MEMBERSHIP),
        ([ABOVE, BELOW, OPEN], Topic.MEMBERSHIP),
    ],
)
def test_a_pair_is_about_elimination_while_only_one_was_shown_to_be_better(codes, topic):
    state = race.start(("A", "B"), (1.0, 2.0, 3.0), RULES)
    state = replace(state, settled=np.array([codes], dtype=np.int8))
    (question,) = race.open_questions(state)
    assert question.topic == topic
    assert question.algorithms == ("A", "B")
