"""Which problems the rounds of a race have run each algorithm on, and up to which time.

It follows from the checkpoints alone, and not from the runs in the store, so that a race that was
killed continues with the same rounds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from polarbear.racing.state import OPEN, RoundRecord, State


class Stretch(NamedTuple):
    """Neighbouring problems, from ``first`` to before ``stop``, and the time reached on each.

    ``at`` are the budgets of the runs of a contract algorithm on each, None for any other one.
    """

    first: int
    stop: int
    until: float
    at: frozenset[float] | None = None

    @property
    def length(self) -> int:
        return self.stop - self.first

    @property
    def spent(self) -> float:
        """The time that runs were allotted on all of the problems."""
        return self.length * (self.until if self.at is None else sum(sorted(self.at)))

    def reaches_at(self, state: State, name: str) -> np.ndarray:
        """At which times of a race there is a run of the algorithm that counts: bool[time]."""
        return np.array([self.reaches(state.budget_at(name, time)) for time in state.times])

    def reaches(self, time: float) -> bool:
        """Whether there is a run to this time, or a contract with this budget."""
        return self.until >= time if self.at is None else time in self.at


class RoundCoverage:
    """The problems that the rounds so far have run each algorithm on, in the order of the suite."""

    def __init__(self, records: Iterable[RoundRecord] = ()) -> None:
        self._stretches: defaultdict[str, list[Stretch]] = defaultdict(list)
        for record in records:
            self.add(record)

    def add(self, record: RoundRecord) -> None:
        """Take in the runs of a round."""
        for name, until in record.ran_to.items():
            budgets = (record.ran_at or {}).get(name)
            at = None if budgets is None else frozenset(budgets)
            stretch = Stretch(record.first, record.first + record.drawn, until, at)
            self._stretches[name].append(stretch)

    def of(self, name: str) -> list[Stretch]:
        """The problems that an algorithm was run on, each once, with the latest time reached."""
        stretches = self._stretches[name]
        ends = {end for stretch in stretches for end in (stretch.first, stretch.stop)}
        borders = sorted(ends)
        pieces = []
        for first, stop in pairwise(borders):
            until = self.until(name, first)
            if until > 0:
                pieces.append(Stretch(first, stop, until, self._budgets(name, first)))
        return pieces

    def until(self, name: str, index: int) -> float:
        """The time up to which an algorithm was run on a problem; 0 where it was not."""
        return max((stretch.until for stretch in self._on(name, index)), default=0.0)

    def is_run(self, state: State, name: str, index: int) -> np.ndarray:
        """At which times of a race a run of an algorithm on a problem was asked for: bool[time]."""
        is_run = np.zeros(len(state.times), dtype=bool)
        for stretch in self._on(name, index):
            is_run |= stretch.reaches_at(state, name)
        return is_run

    def _on(self, name: str, index: int) -> list[Stretch]:
        """The stretches of an algorithm that contain a problem."""
        return [
            stretch for stretch in self._stretches[name] if stretch.first <= index < stretch.stop
        ]

    def _budgets(self, name: str, index: int) -> frozenset[float] | None:
        """The budgets of all runs of a contract algorithm on a problem; None for another one."""
        budgets = [stretch.at for stretch in self._on(name, index) if stretch.at is not None]
        return frozenset().union(*budgets) if budgets else None

    def complete(self, name: str, time: float) -> int:
        """The number of first problems that an algorithm was run on up to a time or further.

        Of a contract algorithm these are the problems with a run that was given this time.
        """
        n_complete = 0
        for stretch in sorted(self._stretches[name], key=lambda stretch: stretch[:3]):
            if stretch.reaches(time) and stretch.first <= n_complete:
                n_complete = max(n_complete, stretch.stop)
        return n_complete


def catching_up(state: State, coverage: RoundCoverage, is_exhausted: bool) -> State:
    """The state in which an algorithm catches up on problems that its rivals were run on.

    A pair learns only from problems that both of its algorithms were run on. Where one algorithm of
    an open pair, or of an open choice, was run on more of the first problems than another one, the
    other one is run on these before both are run on further problems. If no further problem may be
    drawn (``is_exhausted``), all of them are run on all problems of the race.
    """
    if state.joining is not None:
        return state
    behind = _behind(state, coverage, is_exhausted)
    if not behind:
        return state
    name = min(behind, key=lambda name: (behind[name], state.algorithms.index(name)))
    return replace(state, joining=name, caught_up=behind[name])


def _behind(state: State, coverage: RoundCoverage, is_exhausted: bool) -> dict[str, int]:
    """Algorithms that lack problems of an open question, and the first problem that each lacks."""
    complete = cache(coverage.complete)  # many pairs ask for the same algorithm and time
    behind: dict[str, int] = {}
    for names, time in _compared(state):
        n_complete = {name: complete(name, state.budget_at(name, time)) for name in names}
        needed = state.instances if is_exhausted else max(n_complete.values())
        for name in names:
            if n_complete[name] < needed:
                behind[name] = min(behind.get(name, needed), n_complete[name])
    return behind


def _compared(state: State) -> Iterator[tuple[tuple[str, ...], float]]:
    """The algorithms of each open pair and choice, with the times up to which they are compared.

    A race for preferences asks about no pair.
    """
    if not state.is_for_preferences:
        decided_at = state.decided_at
        for number, (pair, codes) in enumerate(zip(state.pairs, state.settled, strict=True)):
            open_times = np.flatnonzero(codes == OPEN)
            if decided_at is not None:
                open_times = np.unique(decided_at[open_times, number])
            for index in open_times.tolist():
                yield pair, state.times[index]
    for choice in state.open_choices:
        yield choice.algorithms, choice.last
        for name in choice.algorithms:
            for time in state.contracts.get(name, ()):
                if state.budget_at(name, choice.first) <= time < choice.last:
                    yield (choice.algorithms, max(time, choice.first))
