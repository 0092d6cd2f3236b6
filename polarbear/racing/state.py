"""The state of a race between rounds: candidates, eliminations and settled pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polarbear.errors import RaceError

if TYPE_CHECKING:
    from polarbear.racing.rules import Rules

# The settled relation of a pair (a, b) at a time, and its letter in a checkpoint.
OPEN, ABOVE, BELOW, ALIKE, CROSSING, OUT = range(6)
LETTERS = ".><=x-"
MIRROR = np.array([OPEN, BELOW, ABOVE, ALIKE, CROSSING, OUT], dtype=np.int8)  # from b's side


class Elimination(NamedTuple):
    """An elimination: which algorithm, by which other one, when, and with what probability."""

    algorithm: str
    by: str
    round: int
    instances: int
    probability: float


@dataclass(frozen=True)
class State:
    """Everything a race keeps from one round to the next.

    ``settled[pair, time]`` has the pairs in the order of ``pairs``. ``joining`` is a newcomer that
    runs on instances the others have seen, so far on the first ``caught_up`` of them; it
    ``entered`` after that round. ``initial`` is the number of algorithms at the start.
    """

    algorithms: tuple[str, ...]
    times: tuple[float, ...]
    batch: int
    settled: np.ndarray
    round: int = 0
    instances: int = 0
    eliminated: tuple[Elimination, ...] = ()
    joining: str | None = None
    caught_up: int = 0
    entered: int = 0
    untrusted: int = 0
    initial: int = 0

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return list(combinations(self.algorithms, 2))

    @property
    def candidates(self) -> tuple[str, ...]:
        """Algorithms that are not eliminated: the anytime Pareto set as far as it is known."""
        gone = {elimination.algorithm for elimination in self.eliminated}
        return tuple(name for name in self.algorithms if name not in gone)

    @property
    def open_pairs(self) -> list[tuple[str, str]]:
        """Pairs that are not settled at some time."""
        is_open = (self.settled == OPEN).any(axis=1)
        return [pair for pair, found in zip(self.pairs, is_open, strict=True) if found]

    @property
    def unresolved(self) -> tuple[str, ...]:
        """Candidates with an open pair."""
        names = {name for pair in self.open_pairs for name in pair}
        return tuple(name for name in self.algorithms if name in names)

    @property
    def share_settled(self) -> float:
        """The share of settled pairs: the paper's proportion of resolved algorithm pairs."""
        return float((self.settled != OPEN).all(axis=1).mean())

    def relation(self, a: str, b: str) -> np.ndarray:
        """The settled relation of two algorithms at each time, as seen from the first."""
        if self.algorithms.index(a) < self.algorithms.index(b):
            return np.asarray(self.settled[self.pairs.index((a, b))])
        return np.asarray(MIRROR[self.settled[self.pairs.index((b, a))]])

    def to_plain(self) -> dict[str, Any]:
        """The state as its checkpoint stores it; the same race gives the same bytes."""
        return {
            "algorithms": list(self.algorithms),
            "times": list(self.times),
            "round": self.round,
            "instances": self.instances,
            "batch": self.batch,
            "candidates": list(self.candidates),
            "eliminated": [elimination._asdict() for elimination in self.eliminated],
            "joining": self.joining,
            "caught_up": self.caught_up,
            "entered": self.entered,
            "untrusted": self.untrusted,
            "initial": self.initial,
            "pairs": [
                {"a": a, "b": b, "settled": "".join(LETTERS[code] for code in row)}
                for (a, b), row in zip(self.pairs, self.settled, strict=True)
            ],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> State:
        """A state from its checkpoint."""
        rows = [[LETTERS.index(letter) for letter in pair["settled"]] for pair in plain["pairs"]]
        rest = {key: value for key, value in plain.items() if key not in ("candidates", "pairs")}
        changed = {
            "algorithms": tuple(plain["algorithms"]),
            "times": tuple(plain["times"]),
            "settled": np.array(rows, dtype=np.int8),
            "eliminated": tuple(Elimination(**entry) for entry in plain["eliminated"]),
        }
        return cls(**{**rest, **changed})


def start(algorithms: Sequence[str], times: Sequence[float], rules: Rules) -> State:
    """A race in which nothing is known."""
    if len(algorithms) < 2:
        raise RaceError(
            f"a race needs at least two algorithms, found {len(algorithms)}; add another under "
            "'algorithms', or use `polarbear run` for one alone"
        )
    size = len(algorithms) * (len(algorithms) - 1) // 2
    settled = np.full((size, len(times)), OPEN, dtype=np.int8)
    moments = tuple(map(float, times))
    return State(tuple(algorithms), moments, rules.batch.start, settled, initial=len(algorithms))


def horizons(state: State, rules: Rules) -> dict[str, float]:
    """The algorithms to run in the next round, and up to which time: the paper's tau_A.

    Without truncation each of them runs to the end.
    """
    found: dict[str, float] = {}
    for pair, codes in zip(state.pairs, state.settled, strict=True):
        is_open = np.flatnonzero(codes == OPEN)
        if not len(is_open):
            continue
        until = state.times[int(is_open[-1])]
        for name in pair if state.joining is None else {state.joining} & {*pair}:
            found[name] = max(found.get(name, 0.0), until)
    if rules.truncate is False:
        found = dict.fromkeys(found, state.times[-1])
    return {name: found[name] for name in state.algorithms if name in found}
