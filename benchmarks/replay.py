"""A race on recorded values: the rounds of `polarbear race`, without a store and without runs.

The runs of a race are looked up in `values[instance, algorithm, time]`, smaller being better, in
their order. PolarBear decides which algorithm runs how far, and which one is eliminated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

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
from polarbear.rankings.duels import DuelRecord, ProblemDuels, duels_of


class Rankings(NamedTuple):
    """The rankings of a race so far, positions[instance, algorithm, time], and their duels."""

    positions: np.ndarray
    duels: DuelRecord


# A function from the rankings and the state to the probabilities by which the race decides; None
# if they are not usable.
Tables = Callable[[Rankings, State], DecisionTables | None]


@dataclass(frozen=True)
class Round:
    """A decided round: the cost, the runs and the number of instances so far, and the candidates.

    ``horizons`` are the times up to which algorithms ran in this round.
    """

    spent: float
    runs: int
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


@dataclass(frozen=True)
class Newcomer:
    """An algorithm that enters when the race has seen this number of instances, or is settled.

    It is the last one of the values.
    """

    after: int


def by_duels(rules: Rules) -> Tables:
    """The probabilities of the default model."""

    def tables(rankings: Rankings, state: State) -> DecisionTables:
        return decide_by_duels(rankings.duels, rules.epsilon, CONCENTRATION)

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
    newcomer: Newcomer | None = None,
) -> Replayed:
    """Race until no question is open, all values are used, or no posterior is usable.

    Without ``choices`` it asks about pairs only. No round begins once ``most`` is spent. With
    ``heeds_duels``, the duels have to support what a Plackett-Luce model eliminates. ``cost[time]``
    is the cost of a run up to that time; without it, the cost is the time itself.
    """
    cost = np.asarray(times if cost is None else cost)
    starters = names if newcomer is None else names[:-1]
    recorded = _RecordedRuns(values)
    state = race.start(starters, np.asarray(times).tolist(), rules)
    if choices is not None:
        state = unanswered(state, choices.purposes, rules)
    spent = 0.0
    runs = 0
    rounds = []
    while spent < most and state.untrusted < race.MAX_UNTRUSTED_ROUNDS:
        is_due = newcomer is not None and (
            not race.open_questions(state) or state.instances >= newcomer.after
        )
        if is_due and len(state.algorithms) < len(names):
            state = race.admit(state, names[-1], rules)
        last_possible = state.instances if state.joining else len(values)
        if not race.open_questions(state) or state.seen >= last_possible:
            break
        instances = slice(state.seen, min(state.seen + state.batch, last_possible))
        drawn = instances.stop - instances.start
        horizons = race.horizons(state, rules)
        steps = {
            list(names).index(name): int(np.searchsorted(times, until)) + 1
            for name, until in horizons.items()
        }
        spent += drawn * float(sum(cost[n_times - 1] for n_times in steps.values()))
        runs += drawn * len(steps)
        recorded.run(instances, steps)
        rankings = recorded.rankings(max(state.instances, instances.stop), len(state.algorithms))
        probabilities = tables(rankings, state)
        has_record = heeds_duels or (probabilities is not None and probabilities.by_duels)
        record = rankings.duels if has_record else None
        state, _ = race.step(state, rules, drawn, probabilities, record)
        if choices is not None and probabilities is not None:
            posterior = choices.posterior(rankings.positions)
            duels = duels_of(rankings.positions)
            state = judged(state, choices.purposes, rules, posterior, duels)
        rounds.append(Round(spent, runs, instances.stop, state.candidates, horizons))
    present = recorded.present[: state.instances]
    return Replayed(state, tuple(rounds), present, recorded.all_duels(state.instances))


class _RecordedRuns:
    """The runs that a race has looked up: their rankings, and the sums of their duels.

    Duels are added up run by run, since most rounds of a long race add little to them.
    """

    def __init__(self, values: np.ndarray) -> None:
        self._values = values
        self.present = np.zeros(values.shape, dtype=bool)
        self._positions = rank(values, self.present)
        self._duels = duels_of(self._positions[:0]).record()

    def run(self, instances: slice, steps: dict[int, int]) -> None:
        """Run algorithms, by their index, up to a number of times each."""
        before = duels_of(self._positions[instances]).record()
        for algorithm, n_times in steps.items():
            self.present[instances, algorithm, :n_times] = True
        self._positions[instances] = rank(self._values[instances], self.present[instances])
        after = duels_of(self._positions[instances]).record()
        self._duels = replace(
            self._duels,
            wins=self._duels.wins + after.wins - before.wins,
            losses=self._duels.losses + after.losses - before.losses,
            draws=self._duels.draws + after.draws - before.draws,
            shared=self._duels.shared + after.shared - before.shared,
        )

    def rankings(self, n_instances: int, n_algorithms: int) -> Rankings:
        """The rankings of the first instances and algorithms."""
        duels = self._duels
        if n_algorithms < duels.algorithms:
            duels = _among_first(duels, n_algorithms)
        return Rankings(self._positions[:n_instances, :n_algorithms], duels)

    def all_duels(self, n_instances: int) -> ProblemDuels:
        """The duels on each of the first instances."""
        return duels_of(self._positions[:n_instances])


def _among_first(duels: DuelRecord, n_algorithms: int) -> DuelRecord:
    """The duels of the first algorithms with each other."""
    _, second = np.triu_indices(duels.algorithms, 1)
    is_among = second < n_algorithms
    return DuelRecord(
        wins=duels.wins[:, is_among],
        losses=duels.losses[:, is_among],
        draws=duels.draws[:, is_among],
        shared=duels.shared[:, is_among],
        algorithms=n_algorithms,
    )
