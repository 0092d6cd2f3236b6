"""A race on values that are there already: the rounds of `polarbear race`, without store or runs.

The runs of a race are looked up in `values[instance, algorithm, time]`, smaller being better, in
their order. PolarBear decides which algorithm runs how far, and which one is eliminated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from polarbear import racing as race
from polarbear.inference.empirical.decisions import decide_by_duels
from polarbear.inference.model_options import CONCENTRATION
from polarbear.inference.relations import DecisionTables
from polarbear.racing import State
from polarbear.racing.rules import Rules
from polarbear.rankings import rank
from polarbear.rankings.duels import ProblemDuels, duels_of

# From positions[instance, algorithm, time] and the state to the probabilities that decide
Tables = Callable[[np.ndarray, State], DecisionTables | None]


@dataclass(frozen=True)
class Round:
    """What had been spent when a round was decided, on how many instances, and what was left.

    ``horizons`` are the times up to which algorithms ran in this round.
    """

    spent: float
    instances: int
    left: tuple[str, ...]
    horizons: dict[str, float]


@dataclass(frozen=True)
class Replayed:
    """A race that was replayed: its end, its rounds, and the values it has looked at."""

    state: State
    rounds: tuple[Round, ...]
    present: np.ndarray
    duels: ProblemDuels


def by_duels(rules: Rules) -> Tables:
    """The decisions of the default model."""

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
) -> Replayed:
    """Race until nothing is open, all values are seen, or no posterior is usable.

    ``cost[time]`` is the cost of a run up to that time, if it is not the time itself.
    """
    cost = np.asarray(times if cost is None else cost)
    state = race.start(names, np.asarray(times).tolist(), rules)
    present = np.zeros(values.shape, dtype=bool)
    spent, rounds = 0.0, []
    size, patience = len(values), race.MAX_UNTRUSTED_ROUNDS
    positions = rank(values[:0], present[:0])
    while state.open_pairs and state.instances < size and state.untrusted < patience:
        first, last = state.instances, min(state.instances + state.batch, size)
        horizons = race.horizons(state, rules)
        for name, until in horizons.items():
            steps = int(np.searchsorted(times, until)) + 1
            present[first:last, list(names).index(name), :steps] = True
            spent += (last - first) * float(cost[steps - 1])
        further = rank(values[first:last], present[first:last])
        positions = np.concatenate([positions, further])
        found = tables(positions, state)
        won = duels_of(positions).record().won() if heeds_duels else None
        state, _ = race.step(state, rules, last - first, found, won)
        rounds.append(Round(spent, last, state.candidates, horizons))
    return Replayed(state, tuple(rounds), present[: state.instances], duels_of(positions))
