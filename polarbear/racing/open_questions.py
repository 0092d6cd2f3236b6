"""What is open in a race, for which algorithms, and until which time.

The next round, the forecast, speculative runs and the status of a race all ask here.
"""

from __future__ import annotations

from collections.abc import Mapping
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


Budgets = Mapping[str, tuple[float, ...]]  # of the runs of each algorithm on an instance


class OpenQuestion(NamedTuple):
    """A question that further runs of these algorithms, up to the time ``until``, can answer.

    It is open at no time before ``since``.
    """

    topic: Topic
    algorithms: tuple[str, ...]
    until: float
    since: float = 0.0


def open_questions(state: State) -> list[OpenQuestion]:
    """The open questions of a race: of pairs, in their order, then of choices.

    A race for preferences asks only about these. While a newcomer catches up on the instances of
    earlier rounds, only it makes runs.
    """
    questions = [] if state.is_for_preferences else _questions_of_pairs(state)
    questions += [
        OpenQuestion(Topic.CHOICE, choice.algorithms, choice.last, choice.first)
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
    decided_at = state.decided_at
    for number, (pair, codes) in enumerate(zip(state.pairs, state.settled, strict=True)):
        open_times = np.flatnonzero(codes == OPEN)
        if decided_at is not None:
            open_times = decided_at[open_times, number]
        if len(open_times):
            first = state.times[open_times[0]]
            last = state.times[open_times[-1]]
            questions.append(OpenQuestion(_topic(codes), pair, last, first))
    return questions


def _topic(codes: np.ndarray) -> Topic:
    """The topic of a pair that is open at some time."""
    shown_relations = set(codes[codes != OPEN].tolist())
    return Topic.ELIMINATION if shown_relations in ({ABOVE}, {BELOW}) else Topic.MEMBERSHIP


def horizons(state: State, rules: Rules) -> dict[str, float]:
    """The algorithms to run in the next round, and up to which time: the paper's tau_A."""
    return {name: times[-1] for name, times in budgets(state, rules).items()}


def budgets(state: State, rules: Rules) -> dict[str, tuple[float, ...]]:
    """The algorithms to run in the next round, and the budgets of their runs on an instance.

    An algorithm runs up to the last time at which a question needs it; without truncation it runs
    to the end. A contract algorithm makes a run for each of its contract times at which a question
    may need one: the first of them is the last that is no later than the question.
    """
    needed: dict[str, set[float]] = {}
    for question in open_questions(state):
        since = question.since
        until = question.until
        if rules.truncate is False:
            since = state.times[0]
            until = state.times[-1]
        for name in question.algorithms:
            times = {until}
            if name in state.contracts:
                first = state.budget_at(name, max(since, state.times[0]))
                times = {time for time in state.contracts[name] if first <= time <= until}
            needed.setdefault(name, set()).update(times)
    return {
        name: tuple(sorted(needed[name])) if name in state.contracts else (max(needed[name]),)
        for name in state.algorithms
        if name in needed
    }
