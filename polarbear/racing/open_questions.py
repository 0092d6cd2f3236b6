"""What is open in a race, for which algorithms, and until which time.

The next round, the forecast, speculative runs and the status of a race all ask here.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from polarbear.racing.rules import Rules
from polarbear.racing.state import ABOVE, BELOW, OPEN, State


class Topic(StrEnum):
    """What a question is about.

    It is whether one algorithm of a pair eliminates the other (it was shown to be better, and
    nothing else was shown), whether both belong to the Pareto set, or which algorithm to choose.
    """

    ELIMINATION = "elimination"
    MEMBERSHIP = "membership"
    CHOICE = "choice"


class OpenQuestion(NamedTuple):
    """A question that further runs of these algorithms, up to the time ``until``, can answer."""

    topic: Topic
    algorithms: tuple[str, ...]
    until: float


def open_questions(state: State) -> list[OpenQuestion]:
    """The open questions of a race: of pairs, in their order, then of choices.

    A race for preferences asks only about these. While a newcomer catches up on the instances of
    earlier rounds, only it makes runs.
    """
    questions = [] if state.is_for_preferences else _questions_of_pairs(state)
    questions += [
        OpenQuestion(Topic.CHOICE, choice.algorithms, choice.last)
        for question in state.choices
        for choice in question.open
    ]
    if state.joining is None:
        return questions
    return [
        question._replace(algorithms=(state.joining,))
        for question in questions
        if state.joining in question.algorithms
    ]


def _questions_of_pairs(state: State) -> list[OpenQuestion]:
    """The questions about pairs that are not settled at some time."""
    questions = []
    for pair, codes in zip(state.pairs, state.settled, strict=True):
        open_times = np.flatnonzero(codes == OPEN)
        if len(open_times):
            topic = _topic(codes)
            questions.append(OpenQuestion(topic, pair, state.times[open_times[-1]]))
    return questions


def _topic(codes: np.ndarray) -> Topic:
    """The topic of a pair that is open at some time."""
    shown_relations = set(codes[codes != OPEN].tolist())
    return Topic.ELIMINATION if shown_relations in ({ABOVE}, {BELOW}) else Topic.MEMBERSHIP


def horizons(state: State, rules: Rules) -> dict[str, float]:
    """The algorithms to run in the next round, and up to which time: the paper's tau_A.

    An algorithm runs up to the last time at which a question needs it; without truncation it runs
    to the end.
    """
    until: dict[str, float] = {}
    for question in open_questions(state):
        horizon = state.times[-1] if rules.truncate is False else question.until
        for name in question.algorithms:
            until[name] = max(until.get(name, 0.0), horizon)
    return {name: until[name] for name in state.algorithms if name in until}
