"""A race on recorded values: the rounds of `polarbear race`, without a store and without runs.

The runs of a race are looked up in `values[instance, algorithm, time]`, smaller being better, in
their order. PolarBear decides which algorithm runs how far, and which one is eliminated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from polarbear import racing as race
from polarbear.inference import Posterior
from polarbear.inference.empirical.decisions import decide_by_duels
from polarbear.inference.model_options import CONCENTRATION
from polarbear.inference.relations import DecisionTables
from polarbear.racing import State
from polarbear.racing.choosing import judged, unanswered
from polarbear.racing.purpose import Purpose
from polarbear.racing.rules import Rules
from polarbear.rankings import rank
from polarbear.rankings.duels import ProblemDuels, duels_of

# A function from positions[instance, algorithm, time] and the state to the probabilities by which
# the race decides; None if they are not usable.
Tables = Callable[[np.ndarray, State], DecisionTables | None]


@dataclass(frozen=True)
class Round:
    """A decided round: the cost and the number of instances so far, and the candidates after it.

    ``horizons`` are the times up to which algorithms ran in this round.
    """

    spent: float
    instances: int
    candidates: tuple[str, ...]
    horizons: dict[str, float]


@dataclass(frozen=True)
class Choices:
    """What a race asks about the choice, and its posterior by positions of the algorithms.

    Without purposes it asks which algorithm to choose at each time, if the rules have a ``regret``.
    """

    posterior: Callable[[np.ndarray], Posterior]
    purposes: Sequence[Purpose] = ()


@dataclass(frozen=True)
class Replayed:
    """A replayed race: its final state, its rounds, and the values that it has used."""

    state: State
    rounds: tuple[Round, ...]
    present: np.ndarray
    duels: ProblemDuels


def by_duels(rules: Rules) -> Tables:
    """The probabilities of the default model."""

    def tables(positions: np.ndarray, state: State) -> DecisionTables:
        record = duels_of(positions).record()
        return decide_by_duels(record, rules.epsilon, CONCENTRATION)

    return tables


def replay(
    values: np.ndarray,
    names: Sequence[str],
    times: np.ndarray,
    rules: Rules,
    tables: Tables,
    heeds_duels: bool,
    cost: np.ndarray | None = None,
    choices: Choices | None = None,
    most: float = np.inf,
) -> Replayed:
    """Race until no question is open, all values are used, or no posterior is usable.

    Without ``choices`` it asks about pairs only. No round begins once ``most`` is spent. With
    ``heeds_duels``, the duels have to support what a Plackett-Luce model eliminates. ``cost[time]``
    is the cost of a run up to that time; without it, the cost is the time itself.
    """
    cost = np.asarray(times if cost is None else cost)
    state = race.start(names, np.asarray(times).tolist(), rules)
    if choices is not None:
        state = unanswered(state, choices.purposes, rules)
    present = np.zeros(values.shape, dtype=bool)
    spent = 0.0
    rounds = []
    positions = rank(values[:0], present[:0])
    while (
        race.open_questions(state)
        and spent < most
        and state.instances < len(values)
        and state.untrusted < race.MAX_UNTRUSTED_ROUNDS
    ):
        first = state.instances
        last = min(first + state.batch, len(values))
        horizons = race.horizons(state, rules)
        for name, until in horizons.items():
            steps = int(np.searchsorted(times, until)) + 1
            present[first:last, list(names).index(name), :steps] = True
            spent += (last - first) * float(cost[steps - 1])
        new_positions = rank(values[first:last], present[first:last])
        positions = np.concatenate([positions, new_positions])
        probabilities = tables(positions, state)
        has_record = heeds_duels or (probabilities is not None and probabilities.by_duels)
        duels = duels_of(positions)
        record = duels.record() if has_record else None
        state, _ = race.step(state, rules, last - first, probabilities, record)
        if choices is not None and probabilities is not None:
            posterior = choices.posterior(positions)
            state = judged(state, choices.purposes, rules, posterior, duels)
        rounds.append(Round(spent, last, state.candidates, horizons))
    return Replayed(state, tuple(rounds), present[: state.instances], duels_of(positions))
