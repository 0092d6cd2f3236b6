"""A pure step from beliefs to the next state of a race; nothing here draws, runs or writes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from polarbear.errors import RaceError
from polarbear.inference import relations
from polarbear.inference.relations import Joint, Pointwise
from polarbear.racing.aims import aims_of
from polarbear.racing.guarantee import proven_better, shown_by_duels
from polarbear.racing.record import Decisions
from polarbear.racing.rules import Rules
from polarbear.racing.state import ABOVE, ALIKE, BELOW, CROSSING, OPEN, OUT, Elimination, State

MUCH = 0.2  # a round that settles more than this share halves the batch
HANGS = 2.0  # Monte-Carlo errors from alpha within which a decision asks for more draws
HEEDED = 0.9  # how sure the duels alone must be where a model of all rankings decides
PATIENCE = 3  # rounds in a row whose posterior could not be trusted, then the race stops


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
        aims=(),
        caught_up=0,
        entered=state.round,
        batch=rules.batch.start,
    )


def horizons(state: State, rules: Rules) -> dict[str, float]:
    """Who is to be run in the next round, and up to which time: tau_A of the paper, or where the
    pairs of an algorithm are about to cross (`aims.py`), if that is less.

    Where runs are not to be truncated, everybody runs to the end.
    """
    found: dict[str, float] = {}
    for pair, codes, aim in zip(state.pairs, state.settled, state.aim_of_each_pair, strict=True):
        is_open = np.flatnonzero(codes == OPEN)
        if not len(is_open):
            continue
        until = state.times[int(is_open[-1])] if aim is None else aim
        for name in pair if state.joining is None else {state.joining} & {*pair}:
            found[name] = max(found.get(name, 0.0), until)
    if rules.truncate is False:
        found = dict.fromkeys(found, state.times[-1])
    return {name: found[name] for name in state.algorithms if name in found}


def step(
    state: State,
    rules: Rules,
    drawn: int,
    pointwise: Pointwise | None,
    joint: Joint | None = None,
    duels: np.ndarray | None = None,
) -> tuple[State, Decisions]:
    """The next state, after a round on ``drawn`` further instances led to these beliefs.

    ``pointwise`` is None where the posterior could not be trusted: nothing is decided then.
    ``duels[time, a, b]`` is how often a was ranked before b. Where it is given, nobody is put out
    whom their duels alone do not show to be worse, if less surely; a guarantee asks for it.
    """
    if state.joining:
        state = replace(state, round=state.round + 1, caught_up=state.caught_up + drawn)
    else:
        state = replace(state, round=state.round + 1, instances=state.instances + drawn)
    if pointwise is None:
        state, arrived = _arrival(replace(state, untrusted=state.untrusted + 1))
        return state, Decisions(caught_up=arrived)
    before = state.settled == OPEN
    eliminated, withheld = _eliminations(state, rules, pointwise, joint, duels)
    state = replace(state, eliminated=(*state.eliminated, *eliminated), untrusted=0)
    settled = _resolved(state, rules, pointwise)
    settled[_can_wait(state, rules, pointwise).T & _both_in(state)[:, None]] = OPEN
    proven = None
    if rules.guarantee == "anytime" and duels is not None:
        proven = proven_better(duels, rules.alpha)
    settled, reopened = _reopened(state, settled, pointwise, proven)
    after = settled == OPEN
    newly, open_before = int((before & ~after).sum()), int(before[_judged(state)].sum())
    done = [
        pair
        for pair, was, still in zip(state.pairs, before.any(axis=1), after.any(axis=1), strict=True)
        if was and not still
    ]
    state = replace(state, settled=settled, batch=_next_batch(state, rules, newly, open_before))
    state = replace(state, aims=aims_of(state, rules, pointwise, joint))
    state, arrived = _arrival(state)
    return state, Decisions(
        eliminated, tuple(done), reopened, newly, open_before, arrived, withheld
    )


def hanging(
    state: State, rules: Rules, pointwise: Pointwise, joint: Joint | None = None
) -> np.ndarray:
    """Where a decision hangs on the number of draws: bool[time, pair]."""
    settling = settling_hangs(state, rules, pointwise)
    return np.asarray(settling | elimination_hangs(state, rules, pointwise, joint))


def settling_hangs(state: State, rules: Rules, pointwise: Pointwise) -> np.ndarray:
    """Where something is about to be settled by a probability within two Monte-Carlo errors above
    alpha, and with it how far a pair is to be run: bool[time, pair]."""
    near = _near(state, rules, pointwise) & ~_can_wait(state, rules, pointwise)
    if rules.resolution == "membership":
        near |= _membership_hangs(state, rules, pointwise)
    return np.asarray(near & _judged(state) & _both_in(state))


def _membership_hangs(state: State, rules: Rules, pointwise: Pointwise) -> np.ndarray:
    """Where one of an open pair, the other being better somewhere, is as good only by a probability
    within two Monte-Carlo errors above alpha, and at no time more surely: bool[time, pair]."""
    assert pointwise.no_worse is not None
    assert pointwise.no_worse_error is not None
    a, b = _indices(state)
    above = relations.dominates(pointwise, rules.alpha)
    found = np.zeros((len(state.times), len(a)), dtype=bool)
    for one, two in ((a, b), (b, a)):
        beyond = pointwise.no_worse[:, two, one] - rules.alpha
        sure = beyond >= HANGS * pointwise.no_worse_error[:, two, one]
        found |= (beyond >= 0) & ~sure.any(axis=0) & above[:, one, two].any(axis=0)
    return np.asarray(found & (state.settled == OPEN).any(axis=1))


def elimination_hangs(
    state: State, rules: Rules, pointwise: Pointwise, joint: Joint | None = None
) -> np.ndarray:
    """Where an elimination is within two Monte-Carlo errors on either side: bool[time, pair]; of a
    joint one it is all times."""
    a, b = _indices(state)
    near = np.zeros((len(state.times), len(a)), dtype=bool)
    for one, two in ((a, b), (b, a)):
        if rules.elimination == "joint" and joint is not None:
            gap = np.abs(joint.dominance[one, two] - rules.alpha)
            near |= gap <= HANGS * joint.dominance_error[one, two]
        else:
            weakest = pointwise.dominance[:, one, two].argmin(axis=0)
            gap = np.abs(pointwise.dominance[weakest, one, two] - rules.alpha)
            pairs = np.flatnonzero(gap <= HANGS * pointwise.dominance_error[weakest, one, two])
            near[weakest[pairs], pairs] = True
    return np.asarray(near & _judged(state) & _both_in(state))


def about_to_go(
    state: State, rules: Rules, pointwise: Pointwise, joint: Joint | None = None
) -> np.ndarray:
    """Pairs of whom one is so surely better that the other may be put out: bool[pair]."""
    a, b = _indices(state)
    sure = _over_all_times(rules, pointwise, joint) >= rules.alpha
    return np.asarray((sure[a, b] | sure[b, a]) & _judged(state) & _both_in(state))


def _over_all_times(rules: Rules, pointwise: Pointwise, joint: Joint | None) -> np.ndarray:
    """The probability of being better that puts somebody out, if it is high enough: [a, b]."""
    if rules.elimination != "joint":
        return np.asarray(pointwise.dominance.min(axis=0))
    if joint is None:
        raise RaceError("joint elimination asks for beliefs over all times at once")
    return joint.dominance


def _near(state: State, rules: Rules, pointwise: Pointwise) -> np.ndarray:
    """What is open and would be settled by a probability so near alpha that more draws might say
    otherwise: bool[time, pair]."""
    a, b = _indices(state)
    near = np.zeros((len(state.times), len(a)), dtype=bool)
    for probability, error in (
        (pointwise.dominance[:, a, b], pointwise.dominance_error[:, a, b]),
        (pointwise.dominance[:, b, a], pointwise.dominance_error[:, b, a]),
        (pointwise.equivalence[:, a, b], pointwise.equivalence_error[:, a, b]),
    ):
        above = probability - rules.alpha
        near |= (above >= 0) & (above < HANGS * error)
    return np.asarray(near & (state.settled == OPEN).T)


def _can_wait(state: State, rules: Rules, pointwise: Pointwise) -> np.ndarray:
    """Of what is so near alpha, that on which nothing hangs: bool[time, pair].

    By strict resolution a pair is run up to the last time at which it is open. What is settled
    before that changes no run: it stays open, and the next round looks again.
    """
    near = _near(state, rules, pointwise)
    if rules.resolution != "strict":
        return np.zeros_like(near)
    still_open = (_resolved(state, rules, pointwise) == OPEN).T
    later = np.flip(np.logical_or.accumulate(np.flip(still_open, axis=0), axis=0), axis=0)
    return np.asarray(near & later)


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
    state: State,
    rules: Rules,
    pointwise: Pointwise,
    joint: Joint | None,
    duels: np.ndarray | None,
) -> tuple[tuple[Elimination, ...], tuple[tuple[str, str], ...]]:
    """Who is out, and whom only the duels keep in.

    Whatever the order of the list, and never all of a circle of dominances.
    """
    probability = _over_all_times(rules, pointwise, joint)
    n = len(state.algorithms)
    a, b = _indices(state)
    pairs = _judged(state) & _both_in(state)
    compared = np.zeros((n, n), dtype=bool)
    compared[a[pairs], b[pairs]] = compared[b[pairs], a[pairs]] = True
    asked = compared & (probability >= rules.alpha)
    beats, held = asked, np.zeros_like(asked)
    if rules.guarantee == "anytime":
        if duels is None:
            raise RaceError("a guarantee rests on the record of duels, which is not given")
        beats = compared & proven_better(duels, rules.alpha).all(axis=0)
    elif duels is not None:
        beats = asked & (shown_by_duels(duels) >= HEEDED).all(axis=0)
        held = asked & ~beats
    beats = beats & ~reached(beats).T  # in a circle each would be out by another
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
    held &= ~gone
    withheld = [(state.algorithms[i], state.algorithms[by]) for by, i in np.argwhere(held)]
    return tuple(out), tuple(sorted(withheld))


def reached(steps: np.ndarray) -> np.ndarray:
    """Who is reached from whom by one step or several: bool[from, to]."""
    known = steps.copy()
    for through in range(len(known)):
        known |= known[:, through, np.newaxis] & known[through]
    return known


def codes(above: np.ndarray, alike: np.ndarray, as_good: np.ndarray | None = None) -> np.ndarray:
    """What is settled about each pair by what is certain at each time: int8[pair, time].

    ``above[time, a, b]`` and ``alike[time, a, b]`` say where a dominates b, where they tie;
    ``as_good`` where a is as good at least, if that settles a pair for all times.
    """
    a, b = np.triu_indices(above.shape[1], 1)
    found = np.full((len(a), len(above)), OPEN, dtype=np.int8)
    found[alike[:, a, b].T] = ALIKE
    found[above[:, a, b].T] = ABOVE  # dominance comes before equivalence
    found[above[:, b, a].T] = BELOW
    if as_good is not None:
        found[(found == OPEN) & relations.crosses(above, as_good)[a, b][:, None]] = CROSSING
    return found


def as_good_by(
    rules: Rules, above: np.ndarray, alike: np.ndarray, pointwise: Pointwise
) -> np.ndarray | None:
    """Where a is certain to be as good as b at least, in the sense that settles a pair for all
    times, where the rules know one: bool[time, a, b]."""
    if rules.resolution == "strict":
        return None
    if rules.resolution == "crossing":
        return np.asarray(above | alike)
    return relations.as_good(pointwise, rules.alpha)


def _resolved(state: State, rules: Rules, pointwise: Pointwise) -> np.ndarray:
    """What is settled now: what was, what these beliefs add, and all about those who are out."""
    above = relations.dominates(pointwise, rules.alpha)
    alike = relations.equivalent(pointwise, rules.alpha)
    found = codes(above, alike, as_good_by(rules, above, alike, pointwise))
    judged = _judged(state)[:, None]
    settled = np.where((state.settled == OPEN) & judged, found, state.settled)
    return np.where((settled == OPEN) & ~_both_in(state)[:, None], OUT, settled).astype(np.int8)


def _reopened(
    state: State, settled: np.ndarray, pointwise: Pointwise, proven: np.ndarray | None
) -> tuple[np.ndarray, tuple[tuple[str, str], ...]]:
    """Keep open what is above at every time by its record and yet not out: its weakest time, and
    where being out asks for a proof, all times that lack it."""
    settled = settled.copy()
    a, b = _indices(state)
    judged = _judged(state) & _both_in(state)
    again = []
    for code, one, two in ((ABOVE, a, b), (BELOW, b, a)):
        for pair in np.flatnonzero((settled == code).all(axis=1) & judged):
            weakest = pointwise.dominance[:, one[pair], two[pair]].argmin()
            settled[pair, weakest] = OPEN
            if proven is not None:
                settled[pair, ~proven[:, one[pair], two[pair]]] = OPEN
            again.append(state.pairs[pair])
    return settled, tuple(again)


def _next_batch(state: State, rules: Rules, newly: int, open_before: int) -> int:
    batch = state.batch
    if newly == 0:
        batch *= 2
    elif newly > MUCH * open_before:
        batch //= 2
    return rules.batch.within(batch, state.caught_up if state.joining else state.instances)


def _arrival(state: State) -> tuple[State, str | None]:
    """End of a newcomer's catching up: it is out, has nothing open, or has seen all instances."""
    name = state.joining
    if name is None or (name in state.unresolved and state.caught_up < state.instances):
        return state, None
    return replace(state, joining=None, caught_up=0), name
