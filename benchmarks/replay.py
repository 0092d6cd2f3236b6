"""A race on values that are there already: the rounds of `polarbear race`, without store or runs.

What a race would have run is looked up in `values[instance, algorithm, time]`, smaller being
better, in their order. Who runs how far, who is out and how large batches are, PolarBear decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from polarbear.racing.guarantee import record_of_duels

from polarbear import racing as race
from polarbear.inference.relations import Joint, Pointwise
from polarbear.racing import State
from polarbear.racing.rules import Rules
from polarbear.rankings import rank

Found = tuple[Pointwise | None, Joint | None]
Beliefs = Callable[[np.ndarray, State], Found]  # what is present[instance, algorithm, time]


@dataclass(frozen=True)
class Round:
    """What had been spent when a round was decided, by whom, on how many instances, who was left.

    ``horizons`` are the times up to which algorithms ran in this round: those not named did not.
    """

    spent: float
    instances: int
    left: tuple[str, ...]
    horizons: dict[str, float]


@dataclass(frozen=True)
class Replayed:
    """A race that was replayed: how it ended, its rounds, and which values it has looked at."""

    state: State
    rounds: tuple[Round, ...]
    present: np.ndarray


def replay(
    values: np.ndarray,
    names: Sequence[str],
    times: np.ndarray,
    rules: Rules,
    beliefs: Beliefs,
    heeds_duels: bool,
    cost: np.ndarray | None = None,
) -> Replayed:
    """Race until nothing is open, or all values are seen, or no posterior can be trusted.

    ``cost[time]`` is what a run up to that time costs, if it is not the time itself.
    """
    cost = np.asarray(times if cost is None else cost)
    state = race.start(names, np.asarray(times).tolist(), rules)
    present = np.zeros(values.shape, dtype=bool)
    spent, rounds = 0.0, []
    while (
        state.open_pairs
        and state.instances < len(values)
        and state.untrusted < race.MAX_UNTRUSTED_ROUNDS
    ):
        first, last = state.instances, min(state.instances + state.batch, len(values))
        horizons = race.horizons(state, rules)
        for name, until in horizons.items():
            steps = int(np.searchsorted(times, until)) + 1
            present[first:last, list(names).index(name), :steps] = True
            spent += (last - first) * float(cost[steps - 1])
        found = beliefs(present[:last], state)
        duels = record_of_duels(rank(values[:last], present[:last])) if heeds_duels else None
        state, _ = race.step(state, rules, last - first, *found, duels)
        rounds.append(Round(spent, last, state.candidates, horizons))
    return Replayed(state, tuple(rounds), present[: state.instances])
