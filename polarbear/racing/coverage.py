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
    """Neighbouring problems, from ``first`` to before ``stop``, and the time reached on each."""

    first: int
    stop: int
    until: float

    @property
    def length(self) -> int:
        return self.stop - self.first


class RoundCoverage:
    """The problems that the rounds so far have run each algorithm on, in the order of the suite."""

    def __init__(self, records: Iterable[RoundRecord] = ()) -> None:
        self._stretches: defaultdict[str, list[Stretch]] = defaultdict(list)
        for record in records:
            self.add(record)

    def add(self, record: RoundRecord) -> None:
        """Take in the runs of a round."""
        for name, until in record.ran_to.items():
            stretch = Stretch(record.first, record.first + record.drawn, until)
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
                pieces.append(Stretch(first, stop, until))
        return pieces

    def until(self, name: str, index: int) -> float:
        """The time up to which an algorithm was run on a problem; 0 where it was not."""
        times = [
            stretch.until
            for stretch in self._stretches[name]
            if stretch.first <= index < stretch.stop
        ]
        return max(times, default=0.0)

    def complete(self, name: str, time: float) -> int:
        """The number of first problems that an algorithm was run on up to a time or further."""
        n_complete = 0
        for stretch in sorted(self._stretches[name]):
            if stretch.until >= time and stretch.first <= n_complete:
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
        n_complete = {name: complete(name, time) for name in names}
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
        for pair, codes in zip(state.pairs, state.settled, strict=True):
            for index in np.flatnonzero(codes == OPEN).tolist():
                yield pair, state.times[index]
    for choice in state.open_choices:
        yield choice.algorithms, choice.last
