"""What is settled about a pair: by the race where both ran in it, otherwise by the posterior."""

from __future__ import annotations

import numpy as np

from polarbear import racing as race
from polarbear.inference import relations
from polarbear.inference.relations import DecisionTables
from polarbear.racing import State, Verdict
from polarbear.racing.state import MIRROR
from polarbear.rankings.duels import place_of_pair
from polarbear.report.context import ReportContext, once
from polarbear.wording import probability_entry


def verdict(context: ReportContext, a: str, b: str) -> Verdict:
    """What is settled about two algorithms over all times."""
    state = _race_of(context, a, b)
    if state is not None:
        return race.verdict_on(state, a, b)
    return race.verdict(_by_posterior(context, a, b))


def decided(context: ReportContext, a: str, b: str) -> float | None:
    """How probable it was that a is better than b when a put b out; None where it did not."""
    state = _race_of(context, a, b)
    for gone in state.eliminated if state is not None else ():
        if (gone.by, gone.algorithm) == (a, b):
            return gone.probability
    return None


def decided_otherwise(context: ReportContext, a: str, b: str, now: float) -> float | None:
    """What a decision rested on, where that reads otherwise than what is believed now."""
    then = decided(context, a, b)
    same = then is None or probability_entry(then) == probability_entry(now)
    return None if same else then


def codes(context: ReportContext, a: str, b: str) -> np.ndarray:
    """What is settled about two algorithms at each time."""
    state = _race_of(context, a, b)
    return _by_posterior(context, a, b) if state is None else state.relation(a, b)


def _race_of(context: ReportContext, a: str, b: str) -> State | None:
    if not context.rounds:
        return None
    state = context.rounds[-1].state
    return state if {a, b} <= set(state.algorithms) else None


def _by_posterior(context: ReportContext, a: str, b: str) -> np.ndarray:
    """What a race would settle by this posterior alone."""
    basis, rules = context.basis, context.rules
    assert basis is not None
    pair = place_of_pair(
        basis.algorithms.index(a), basis.algorithms.index(b), len(basis.algorithms)
    )
    found = race.settled_codes(rules, _tables(context))[pair]
    in_order = basis.algorithms.index(a) < basis.algorithms.index(b)
    return np.asarray(found if in_order else MIRROR[found])


@once
def _tables(context: ReportContext) -> DecisionTables:
    """The probabilities of the posterior that settle pairs."""
    assert context.basis is not None
    rules = context.rules
    return relations.decision_tables(context.basis.posterior, rules.epsilon, "pointwise")
