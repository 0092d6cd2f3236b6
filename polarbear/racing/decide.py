"""A pure step from the probabilities of one round to the next state of a race."""

from dataclasses import replace
from itertools import combinations

import numpy as np

from polarbear.errors import RaceError
from polarbear.inference.relations import DecisionTables
from polarbear.racing.pair_evidence import PairEvidence
from polarbear.racing.rules import Rules
from polarbear.racing.settling import ShownRelations, settled_relations
from polarbear.racing.state import (
    ABOVE,
    BELOW,
    OPEN,
    OUT,
    Decisions,
    Elimination,
    State,
)
from polarbear.rankings.duels import DuelRecord

LARGE_SHARE = 0.2  # a round that settles more than this share halves the batch
MARGIN = 2.0  # Monte-Carlo errors from alpha within which a decision needs more draws
MAX_UNTRUSTED_ROUNDS = 3  # in a row; then the race stops


def admit(
    state: State, newcomer: str, rules: Rules, contract_times: np.ndarray | None = None
) -> State:
    """Add an algorithm about which nothing is known, with its contract times if it has any."""
    if newcomer in state.algorithms:
        raise RaceError(f"'{newcomer}' is in the race already")
    if state.joining:
        raise RaceError(f"'{newcomer}' must wait until '{state.joining}' has caught up")
    names = (*state.algorithms, newcomer)
    codes = dict(zip(state.pairs, state.settled, strict=True))
    for name in state.algorithms:
        code = OPEN if name in state.candidates else OUT
        codes[name, newcomer] = np.full(len(state.times), code, dtype=np.int8)
    contracts = dict(state.contracts)
    if contract_times is not None:
        contracts[newcomer] = tuple(contract_times.tolist())
    return replace(
        state,
        algorithms=names,
        contracts=contracts,
        settled=np.stack([codes[pair] for pair in combinations(names, 2)]),
        joining=newcomer,
        caught_up=0,
        entered=state.round,
        batch=rules.batch.start,
    )


def step(
    state: State,
    rules: Rules,
    drawn: int,
    tables: DecisionTables | None,
    duels: DuelRecord | None = None,
) -> tuple[State, Decisions]:
    """The next state, after a round on ``drawn`` further instances led to these probabilities.

    ``tables`` is None where the posterior is not usable: then nothing is decided. Where the record
    of ``duels`` is given, nothing is settled on fewer problems than a recommendation needs, and the
    duels alone have to support what a Plackett-Luce model eliminates. A guarantee needs it.
    """
    if state.joining:
        state = replace(state, round=state.round + 1, caught_up=state.caught_up + drawn)
    else:
        state = replace(state, round=state.round + 1, instances=state.instances + drawn)
    if tables is None:
        state, arrived = _arrival(replace(state, untrusted=state.untrusted + 1))
        return state, Decisions(caught_up=arrived)
    evidence = PairEvidence.of(duels)
    proven = evidence.proven(rules, state.initial)
    was_open = state.settled == OPEN
    dominates, withheld = _dominances(state, rules, tables, evidence, proven)
    cycles = _cycles(state, dominates)
    eliminated = _eliminations(state, tables, evidence, dominates, cycles)
    state = replace(state, eliminated=(*state.eliminated, *eliminated), untrusted=0)
    state, reinstated = _reinstate(state, tables, cycles)
    settled = _resolved(state, rules, tables, evidence)
    in_cycle = {pair for cycle in cycles for pair in combinations(cycle, 2)}
    settled, reopened = _reopened(state, settled, tables, proven, in_cycle)
    is_open = settled == OPEN
    newly_settled = int((was_open & ~is_open).sum())
    open_before = int(was_open[_of_pairs(_compared(state))].sum())
    is_closed = was_open.any(axis=1) & ~is_open.any(axis=1)
    batch = _next_batch(state, rules, newly_settled, open_before)
    state, arrived = _arrival(replace(state, settled=settled, batch=batch))
    return state, Decisions(
        eliminated=tuple(e for e in eliminated if e.algorithm not in reinstated),
        settled_pairs=tuple(
            pair for pair, closed in zip(state.pairs, is_closed, strict=True) if closed
        ),
        reopened=reopened,
        newly_settled=newly_settled,
        open_before=open_before,
        caught_up=arrived,
        withheld=tuple(pair for pair in withheld if pair[0] in state.candidates),
        cycles=cycles,
        reinstated=reinstated,
    )


def needs_more_draws(
    state: State, rules: Rules, drawn: int, tables: DecisionTables, duels: DuelRecord | None = None
) -> bool:
    """Whether a decision of this round is within the Monte-Carlo error of its probability."""
    if tables.errors is None:
        return False
    lower = tables.shifted(-MARGIN)
    upper = replace(tables, dominates=tables.shifted(MARGIN).dominates)
    after, _ = step(state, rules, drawn, tables, duels)
    after_lower, _ = step(state, rules, drawn, lower, duels)
    after_upper, _ = step(state, rules, drawn, upper, duels)
    return (
        after_lower.candidates != after.candidates
        or after_lower.open_pairs != after.open_pairs
        or after_upper.candidates != after.candidates
    )


def _compared(state: State) -> np.ndarray:
    """Pairs that a round may settle; only the newcomer's while one catches up: bool[a, b]."""
    if state.joining is None:
        return ~np.eye(len(state.algorithms), dtype=bool)
    is_new = np.array(state.algorithms) == state.joining
    return np.asarray(is_new[:, None] ^ is_new)


def _both_candidates(state: State) -> np.ndarray:
    """Pairs of candidates: bool[a, b]."""
    inside = np.isin(state.algorithms, state.candidates)
    return np.outer(inside, inside)


def _of_pairs(table: np.ndarray) -> np.ndarray:
    """The part of a table [a, b] in the order of a state's pairs: [pair]."""
    return np.asarray(table[np.triu_indices(len(table), 1)])


def _dominances(
    state: State,
    rules: Rules,
    tables: DecisionTables,
    evidence: PairEvidence,
    proven: np.ndarray | None,
) -> tuple[np.ndarray, tuple[tuple[str, str], ...]]:
    """Algorithms that dominate another one with the required confidence: bool[a, b].

    Also returns the pairs (b, a) for which the model says so but the duels do not support it.
    """
    may_dominate = _compared(state)
    if evidence.is_enough is not None:
        may_dominate &= evidence.is_enough.all(axis=0)
    if proven is not None:
        may_dominate &= proven.all(axis=0)
    if rules.guarantee == "anytime":
        return may_dominate, ()
    by_model = tables.dominates >= rules.alpha
    if evidence.duels is None or tables.by_duels:
        return by_model & may_dominate, ()
    supported = evidence.supported()
    refused = np.argwhere(by_model & ~supported & _compared(state) & _both_candidates(state))
    names = state.algorithms
    withheld = tuple(sorted((names[b], names[a]) for a, b in refused))
    return by_model & supported & may_dominate, withheld


def _cycles(state: State, dominates: np.ndarray) -> tuple[tuple[str, ...], ...]:
    """Groups of algorithms that dominate each other in a cycle.

    Cycles through an algorithm that was eliminated from outside of its group do not count.
    """
    index = {name: i for i, name in enumerate(state.algorithms)}
    eliminator = {index[out.algorithm]: index[out.by] for out in state.eliminated}
    considered = state.candidates if state.joining else state.algorithms
    is_considered = np.isin(state.algorithms, considered)
    while True:
        path = reached(dominates & np.outer(is_considered, is_considered))
        mutual = path & path.T
        from_outside = [i for i, by in eliminator.items() if is_considered[i] and not mutual[i, by]]
        if not from_outside:
            break
        is_considered[from_outside] = False
    groups = {tuple(np.flatnonzero(row).tolist()) for row in mutual if row.any()}
    return tuple(tuple(state.algorithms[i] for i in group) for group in sorted(groups))


def _eliminations(
    state: State,
    tables: DecisionTables,
    evidence: PairEvidence,
    dominates: np.ndarray,
    cycles: tuple[tuple[str, ...], ...],
) -> tuple[Elimination, ...]:
    """Eliminations of this round, whatever the order of the algorithms.

    No algorithm of a cycle eliminates another one of it.
    """
    names = state.algorithms
    beats = dominates & _both_candidates(state)
    for cycle in cycles:
        in_cycle = np.isin(names, cycle)
        beats &= ~np.outer(in_cycle, in_cycle)
    is_beaten = np.asarray(beats.any(axis=0))
    probability = tables.dominates
    eliminations = []
    for i in np.flatnonzero(is_beaten):
        # The eliminator is a surviving one if possible, and the surest.
        by = max(
            np.flatnonzero(beats[:, i]),
            key=lambda j: (not is_beaten[j], probability[j, i], -j),
        )
        elimination = Elimination(
            algorithm=names[i],
            by=names[by],
            round=state.round,
            instances=state.seen,
            probability=float(tables.estimate[by, i]),
            sceptical=float(tables.dominates[by, i]),
            wealth=evidence.wealth(by, i),
        )
        eliminations.append(elimination)
    return tuple(eliminations)


def _reinstate(
    state: State, tables: DecisionTables, cycles: tuple[tuple[str, ...], ...]
) -> tuple[State, tuple[str, ...]]:
    """Take back eliminations that a cycle of dominances has made doubtful.

    Algorithms return that are in a cycle with their eliminator. Otherwise, following eliminators
    from an eliminated algorithm leads to a candidate. If the algorithm is ahead of this candidate
    at every time, it returns, and more instances decide between the two.
    """
    if state.joining:
        return state, ()
    reinstated = _doubtful(state, tables, cycles)
    if not reinstated:
        return state, ()
    remaining = tuple(out for out in state.eliminated if out.algorithm not in reinstated)
    state = replace(state, eliminated=remaining)
    is_back = np.isin(state.algorithms, reinstated)
    reopened = _of_pairs(_both_candidates(state) & (is_back[:, None] | is_back))
    settled = np.where(reopened[:, None] & (state.settled == OUT), OPEN, state.settled)
    return replace(state, settled=settled.astype(np.int8)), reinstated


def _doubtful(
    state: State, tables: DecisionTables, cycles: tuple[tuple[str, ...], ...]
) -> tuple[str, ...]:
    """The eliminated algorithms that return."""
    index = {name: i for i, name in enumerate(state.algorithms)}
    eliminator = {out.algorithm: out.by for out in state.eliminated}
    is_ahead = np.asarray((tables.better > tables.better.swapaxes(1, 2)).all(axis=0))
    doubtful = []
    for name, by in eliminator.items():
        candidate = by
        while candidate in eliminator:
            candidate = eliminator[candidate]
        in_cycle = any(name in cycle and by in cycle for cycle in cycles)
        if in_cycle or (by in eliminator and is_ahead[index[name], index[candidate]]):
            doubtful.append(name)
    return tuple(doubtful)


def reached(steps: np.ndarray) -> np.ndarray:
    """The transitive closure of a relation: bool[from, to]."""
    closure = steps.copy()
    for through in range(len(closure)):
        closure |= closure[:, through, np.newaxis] & closure[through]
    return closure


def settled_codes(
    rules: Rules, tables: DecisionTables, is_enough: np.ndarray | None = None
) -> np.ndarray:
    """The relations that these probabilities settle, by the rules' resolution: int8[pair, time].

    ``is_enough[time, a, b]`` says where a pair has shared enough problems; None for everywhere.
    """
    a, b = np.triu_indices(tables.better.shape[1], 1)

    def is_sure(probabilities: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        is_high = probabilities >= rules.alpha
        if is_enough is not None:
            is_high &= is_enough
        return np.asarray(is_high[:, first, second].T)

    relations = ShownRelations(
        above=is_sure(tables.better, a, b),
        below=is_sure(tables.better, b, a),
        alike=is_sure(tables.equivalent, a, b),
        a_no_worse=is_sure(tables.no_worse, a, b),
        b_no_worse=is_sure(tables.no_worse, b, a),
    )
    return settled_relations(rules.resolution, relations)


def _resolved(
    state: State, rules: Rules, tables: DecisionTables, evidence: PairEvidence
) -> np.ndarray:
    """The settled relations: earlier decisions, this round's, and all pairs of the eliminated."""
    is_judged = (state.settled == OPEN) & _of_pairs(_compared(state))[:, None]
    codes = settled_codes(rules, tables, evidence.is_enough)
    settled = np.where(is_judged, codes, state.settled)
    is_moot = (settled == OPEN) & ~_of_pairs(_both_candidates(state))[:, None]
    return np.where(is_moot, OUT, settled).astype(np.int8)


def _reopened(
    state: State,
    settled: np.ndarray,
    tables: DecisionTables,
    proven: np.ndarray | None,
    in_cycle: set[tuple[str, str]],
) -> tuple[np.ndarray, tuple[tuple[str, str], ...]]:
    """Keep open the weakest time of pairs that are above at every time but not eliminated.

    With a guarantee, all times that lack a proof stay open. Pairs in a cycle are settled.
    """
    settled = settled.copy()
    reopened = []
    a, b = np.triu_indices(len(state.algorithms), 1)
    is_judged = _of_pairs(_compared(state) & _both_candidates(state))
    is_judged &= [pair not in in_cycle for pair in state.pairs]
    for code, better, worse in ((ABOVE, a, b), (BELOW, b, a)):
        for pair in np.flatnonzero((settled == code).all(axis=1) & is_judged):
            probability = tables.better[:, better[pair], worse[pair]]
            settled[pair, probability.argmin()] = OPEN
            if proven is not None:
                settled[pair, ~proven[:, better[pair], worse[pair]]] = OPEN
            reopened.append(state.pairs[pair])
    return settled, tuple(reopened)


def _next_batch(state: State, rules: Rules, newly_settled: int, open_before: int) -> int:
    """The number of instances of the next round."""
    batch = state.batch
    if newly_settled == 0:
        batch *= 2
    elif newly_settled > LARGE_SHARE * open_before:
        batch //= 2
    return rules.batch.within(batch, state.seen)


def _arrival(state: State) -> tuple[State, str | None]:
    """End the catching up of an algorithm that nothing needs, or that has seen all instances."""
    name = state.joining
    if name is None:
        return state, None
    has_open_choice = any(name in choice.algorithms for choice in state.open_choices)
    is_needed = name in state.candidates and (name in state.unresolved or has_open_choice)
    if is_needed and state.caught_up < state.instances:
        return state, None
    return replace(state, joining=None, caught_up=0), name
