"""The race without its runs: a state, and a pure step from beliefs to the next state.

A state knows who is in, who is out, and what is settled about each pair at each time. A round runs
those with something open (``horizons``), infers, and takes a ``step``. Nothing here draws, runs or
writes anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtr, ndtri

from polarbear import relations
from polarbear.errors import RaceError
from polarbear.relations import Joint, Pointwise
from polarbear.rules import Rules

# What is settled about a pair (a, b) at a time; as a checkpoint spells it.
OPEN, ABOVE, BELOW, ALIKE, CROSSING, OUT = range(6)
LETTERS = ".><=x-"

MUCH = 0.2  # a round that settles more than this share halves the batch
HANGS = 2.0  # Monte-Carlo errors from alpha within which a decision asks for more draws
PATIENCE = 3  # rounds in a row whose posterior could not be trusted, then the race stops


@dataclass(frozen=True)
class Elimination:
    """Who is out, because of whom, since when, and how sure that was."""

    algorithm: str
    by: str
    round: int
    instances: int
    probability: float


@dataclass(frozen=True)
class State:
    """Everything a race must remember from one round to the next.

    ``settled[pair, time]`` goes over ``pairs`` in their order. ``joining`` is a newcomer that runs
    on instances the others have seen, so far on the first ``caught_up`` of them; it ``entered``
    after that round.
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

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return list(combinations(self.algorithms, 2))

    @property
    def candidates(self) -> tuple[str, ...]:
        """Those who are not out: the anytime Pareto set as far as is known."""
        gone = {elimination.algorithm for elimination in self.eliminated}
        return tuple(name for name in self.algorithms if name not in gone)

    @property
    def open_pairs(self) -> list[tuple[str, str]]:
        """Pairs about which something is not settled."""
        is_open = (self.settled == OPEN).any(axis=1)
        return [pair for pair, found in zip(self.pairs, is_open, strict=True) if found]

    @property
    def unresolved(self) -> tuple[str, ...]:
        """Candidates with something open."""
        names = {name for pair in self.open_pairs for name in pair}
        return tuple(name for name in self.algorithms if name in names)

    @property
    def share_settled(self) -> float:
        """Settled pairs of all pairs: the paper's proportion of resolved algorithm pairs."""
        return float((self.settled != OPEN).all(axis=1).mean())

    def relation(self, a: str, b: str) -> np.ndarray:
        """What is settled about two algorithms over time, as seen from the first."""
        if self.algorithms.index(a) < self.algorithms.index(b):
            return np.asarray(self.settled[self.pairs.index((a, b))])
        mirror = np.array([OPEN, BELOW, ABOVE, ALIKE, CROSSING, OUT], dtype=np.int8)
        return np.asarray(mirror[self.settled[self.pairs.index((b, a))]])


@dataclass(frozen=True)
class Decisions:
    """What one round settled: eliminations, pairs done with, and how many pair-times of how many.

    ``reopened`` are pairs above at every time by the record of several rounds, but not in one
    posterior: their weakest time is looked at again.
    """

    eliminated: tuple[Elimination, ...] = ()
    settled_pairs: tuple[tuple[str, str], ...] = ()
    reopened: tuple[tuple[str, str], ...] = ()
    newly_settled: int = 0
    open_before: int = 0
    caught_up: str | None = None


def start(algorithms: Sequence[str], times: Sequence[float], rules: Rules) -> State:
    """A race in which nothing is known."""
    if len(algorithms) < 2:
        raise RaceError(
            f"a race needs at least two algorithms, found {len(algorithms)}; add another under "
            "'algorithms', or use `polarbear run` for one alone"
        )
    size = len(algorithms) * (len(algorithms) - 1) // 2
    settled = np.full((size, len(times)), OPEN, dtype=np.int8)
    return State(tuple(algorithms), tuple(map(float, times)), rules.batch.start, settled)


def admit(state: State, newcomer: str, rules: Rules) -> State:
    """Let a newcomer in: nothing is known about it, everything else stays as it is."""
    if newcomer in state.algorithms:
        raise RaceError(f"'{newcomer}' is in the race already")
    if state.joining:
        raise RaceError(f"'{newcomer}' must wait until '{state.joining}' has caught up")
    names = (*state.algorithms, newcomer)
    known = dict(zip(state.pairs, state.settled, strict=True))
    candidates = state.candidates
    rows = []
    for a, b in combinations(names, 2):
        fresh = OPEN if a in candidates else OUT
        rows.append(known.get((a, b), np.full(len(state.times), fresh, dtype=np.int8)))
    return replace(
        state,
        algorithms=names,
        settled=np.stack(rows),
        joining=newcomer,
        caught_up=0,
        entered=state.round,
        batch=rules.batch.start,
    )


def horizons(state: State, rules: Rules) -> dict[str, float]:
    """Who is to be run in the next round, and up to which time (tau_A of the paper).

    Joint elimination asks about all times at once, so there everybody runs to the end.
    """
    found = {}
    for name in (state.joining,) if state.joining else state.unresolved:
        is_open = np.zeros(len(state.times), dtype=bool)
        for other in state.candidates:
            if other != name:
                is_open |= state.relation(name, other) == OPEN
        if rules.elimination == "joint":
            is_open[-1] = True
        found[name] = state.times[int(np.flatnonzero(is_open)[-1])]
    return found


def step(
    state: State, rules: Rules, drawn: int, pointwise: Pointwise | None, joint: Joint | None = None
) -> tuple[State, Decisions]:
    """The next state, after a round on ``drawn`` further instances led to these beliefs.

    ``pointwise`` is None where the posterior could not be trusted: nothing is decided then.
    """
    if state.joining:
        state = replace(state, round=state.round + 1, caught_up=state.caught_up + drawn)
    else:
        state = replace(state, round=state.round + 1, instances=state.instances + drawn)
    if pointwise is None:
        state, arrived = _arrival(replace(state, untrusted=state.untrusted + 1))
        return state, Decisions(caught_up=arrived)
    before = state.settled == OPEN
    eliminated = _eliminations(state, rules, pointwise, joint)
    state = replace(state, eliminated=(*state.eliminated, *eliminated), untrusted=0)
    settled = _resolved(state, rules, pointwise)
    settled, reopened = _reopened(state, settled, pointwise)
    after = settled == OPEN
    newly, open_before = int((before & ~after).sum()), int(before[_judged(state)].sum())
    done = [
        pair
        for pair, was, still in zip(state.pairs, before.any(axis=1), after.any(axis=1), strict=True)
        if was and not still
    ]
    state = replace(state, settled=settled, batch=_next_batch(state, rules, newly, open_before))
    state, arrived = _arrival(state)
    return state, Decisions(
        eliminated, tuple(done), reopened, newly, open_before, caught_up=arrived
    )


def hanging(
    state: State, rules: Rules, pointwise: Pointwise, joint: Joint | None = None
) -> np.ndarray:
    """Times at which a decision hangs on the number of draws: bool[time].

    Something is about to be settled by a probability within two Monte-Carlo errors above alpha (not
    to settle it yet does no harm), or an elimination is within two on either side. Where a joint
    decision hangs, it is all times.
    """
    a, b = _indices(state)
    judged = _judged(state) & _both_in(state)
    near = np.zeros((len(state.times), len(a)), dtype=bool)
    for probability, error in (
        (pointwise.dominance[:, a, b], pointwise.dominance_error[:, a, b]),
        (pointwise.dominance[:, b, a], pointwise.dominance_error[:, b, a]),
        (pointwise.equivalence[:, a, b], pointwise.equivalence_error[:, a, b]),
    ):
        above = probability - rules.alpha
        near |= (above >= 0) & (above <= HANGS * error)
    near &= (state.settled == OPEN).T & judged
    times = np.asarray(near.any(axis=1))
    if rules.elimination == "joint" and joint is not None:
        for one, two in ((a, b), (b, a)):
            gap = np.abs(joint.dominance[one, two] - rules.alpha)
            if (judged & (gap <= HANGS * joint.dominance_error[one, two])).any():
                times[:] = True
    else:
        for one, two in ((a, b), (b, a)):
            weakest = pointwise.dominance[:, one, two].argmin(axis=0)
            pair = np.arange(len(a))
            gap = np.abs(pointwise.dominance[weakest, one, two] - rules.alpha)
            error = pointwise.dominance_error[weakest, one, two]
            times[weakest[pair[judged & (gap <= HANGS * error)]]] = True
    return times


def instances_to_go(state: State, rules: Rules, pointwise: Pointwise) -> int:
    """A rough guess at how many more instances settle everything, if beliefs stay as they are.

    Each pair-time is taken as a normal posterior whose spread falls with the square root of the
    number of instances; it is settled by dominance or by equivalence, whichever comes first.
    """
    is_open = (state.settled == OPEN).any(axis=1)
    if not is_open.any():
        return 0
    a, b = (index[is_open] for index in _indices(state))
    above = np.clip(pointwise.dominance[:, a, b], 1e-6, 1 - 1e-6)
    alike = np.clip(pointwise.equivalence[:, a, b], 1e-6, 1 - 1e-6)
    threshold = float(ndtri(min(rules.alpha, 1 - 1e-6)))
    shift = np.abs(ndtri(above))
    low, high = np.zeros_like(shift), np.full_like(shift, 1e3)
    for _ in range(60):  # the ROPE's half-width in standard deviations that gives P(equivalent)
        middle = (low + high) / 2
        more = ndtr(middle - shift) - ndtr(-middle - shift) < alike
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    by_dominance = (threshold / np.maximum(shift, 1e-2)) ** 2
    by_equivalence = (threshold / np.maximum(high - shift, 1e-2)) ** 2
    factor = np.minimum(by_dominance, by_equivalence)
    factor[(state.settled != OPEN).T[:, is_open]] = 1.0
    needed = factor.max(axis=0)
    if rules.resolution == "crossing":
        ever_above = np.where(above > 0.5, by_dominance, np.inf).min(axis=0)
        ever_below = np.where(above < 0.5, by_dominance, np.inf).min(axis=0)
        other = np.minimum(by_equivalence.min(axis=0), np.maximum(ever_above, ever_below))
        needed = np.minimum(needed, np.maximum(np.minimum(ever_above, ever_below), other))
    seen = state.caught_up if state.joining else state.instances
    return max(1, int(np.ceil((needed.max() - 1) * seen)))


def to_plain(state: State) -> dict[str, Any]:
    """A state as a checkpoint keeps it: plain, readable, the same to the byte for the same race."""
    return {
        "algorithms": list(state.algorithms),
        "times": list(state.times),
        "round": state.round,
        "instances": state.instances,
        "batch": state.batch,
        "candidates": list(state.candidates),
        "eliminated": [vars(elimination) for elimination in state.eliminated],
        "joining": state.joining,
        "caught_up": state.caught_up,
        "entered": state.entered,
        "untrusted": state.untrusted,
        "pairs": [
            {"a": a, "b": b, "settled": "".join(LETTERS[code] for code in row)}
            for (a, b), row in zip(state.pairs, state.settled, strict=True)
        ],
    }


def from_plain(plain: Mapping[str, Any]) -> State:
    """A state from its checkpoint."""
    rows = [[LETTERS.index(letter) for letter in pair["settled"]] for pair in plain["pairs"]]
    return State(
        algorithms=tuple(plain["algorithms"]),
        times=tuple(plain["times"]),
        batch=plain["batch"],
        settled=np.array(rows, dtype=np.int8),
        round=plain["round"],
        instances=plain["instances"],
        eliminated=tuple(Elimination(**entry) for entry in plain["eliminated"]),
        joining=plain["joining"],
        caught_up=plain["caught_up"],
        entered=plain["entered"],
        untrusted=plain["untrusted"],
    )


def _indices(state: State) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(len(state.algorithms), 1)


def _judged(state: State) -> np.ndarray:
    """Pairs that a round may settle: while a newcomer catches up, only its own: bool[pair]."""
    a, b = _indices(state)
    if state.joining is None:
        return np.ones(len(a), dtype=bool)
    newcomer = state.algorithms.index(state.joining)
    return np.asarray((a == newcomer) | (b == newcomer))


def _both_in(state: State) -> np.ndarray:
    """Pairs of candidates: bool[pair]."""
    a, b = _indices(state)
    is_in = np.array([name in state.candidates for name in state.algorithms])
    return np.asarray(is_in[a] & is_in[b])


def _eliminations(
    state: State, rules: Rules, pointwise: Pointwise, joint: Joint | None
) -> tuple[Elimination, ...]:
    """Who is out. Whatever the order of the list, and never all of a circle of dominances."""
    if rules.elimination == "joint":
        if joint is None:
            raise RaceError("joint elimination asks for beliefs over all times at once")
        probability = joint.dominance
    else:
        probability = pointwise.dominance.min(axis=0)
    n = len(state.algorithms)
    a, b = _indices(state)
    pairs = _judged(state) & _both_in(state)
    compared = np.zeros((n, n), dtype=bool)
    compared[a[pairs], b[pairs]] = compared[b[pairs], a[pairs]] = True
    beats = compared & (probability >= rules.alpha)
    _, circle = connected_components(beats, directed=True, connection="strong")
    beats &= circle[:, None] != circle[None, :]
    gone = np.asarray(beats.any(axis=0))
    out = []
    for i in np.flatnonzero(gone):
        by = max(np.flatnonzero(beats[:, i]), key=lambda j: (not gone[j], probability[j, i], -j))
        out.append(
            Elimination(
                state.algorithms[i],
                state.algorithms[by],
                state.round,
                state.caught_up if state.joining else state.instances,
                float(probability[by, i]),
            )
        )
    return tuple(out)


def _resolved(state: State, rules: Rules, pointwise: Pointwise) -> np.ndarray:
    """What is settled now: what was, what these beliefs add, and all about those who are out."""
    a, b = _indices(state)
    above = relations.dominates(pointwise, rules.alpha)
    alike = relations.equivalent(pointwise, rules.alpha)
    found = np.full(state.settled.shape, OPEN, dtype=np.int8)
    found[alike[:, a, b].T] = ALIKE
    found[above[:, a, b].T] = ABOVE  # dominance comes before equivalence
    found[above[:, b, a].T] = BELOW
    if rules.resolution == "crossing":
        crossing = relations.crosses(pointwise, rules.alpha)[a, b]
        found[(found == OPEN) & crossing[:, None]] = CROSSING
    judged = _judged(state)[:, None]
    settled = np.where((state.settled == OPEN) & judged, found, state.settled)
    return np.where((settled == OPEN) & ~_both_in(state)[:, None], OUT, settled).astype(np.int8)


def _reopened(
    state: State, settled: np.ndarray, pointwise: Pointwise
) -> tuple[np.ndarray, tuple[tuple[str, str], ...]]:
    """Keep open what is above at every time by its record and yet not out."""
    settled = settled.copy()
    a, b = _indices(state)
    judged = _judged(state) & _both_in(state)
    again = []
    for code, one, two in ((ABOVE, a, b), (BELOW, b, a)):
        for pair in np.flatnonzero((settled == code).all(axis=1) & judged):
            weakest = pointwise.dominance[:, one[pair], two[pair]].argmin()
            settled[pair, weakest] = OPEN
            again.append(state.pairs[pair])
    return settled, tuple(again)


def _next_batch(state: State, rules: Rules, newly: int, open_before: int) -> int:
    batch = state.batch
    if newly == 0:
        batch *= 2
    elif newly > MUCH * open_before:
        batch //= 2
    return min(max(batch, rules.batch.min), rules.batch.max)


def _arrival(state: State) -> tuple[State, str | None]:
    """End of a newcomer's catching up: it is out, has nothing open, or has seen all instances."""
    name = state.joining
    if name is None or (name in state.unresolved and state.caught_up < state.instances):
        return state, None
    return replace(state, joining=None, caught_up=0), name
