"""What is settled about a pair: by the race where both ran in it, otherwise by the posterior."""

from __future__ import annotations

import numpy as np

from polarbear import racing as race
from polarbear.inference import relations
from polarbear.inference.relations import DecisionTables
from polarbear.racing import State, Verdict
from polarbear.racing.state import MIRROR
from polarbear.rankings.duels import place_of_pair
from polarbear.report.material import Material, once
from polarbear.wording import probability_entry


def verdict(material: Material, a: str, b: str) -> Verdict:
    """What is settled about two algorithms over all times."""
    state = _race_of(material, a, b)
    if state is not None:
        return race.verdict_on(state, a, b)
    return race.verdict(_by_posterior(material, a, b))


def decided(material: Material, a: str, b: str) -> float | None:
    """How probable it was that a is better than b when a put b out; None where it did not."""
    state = _race_of(material, a, b)
    for gone in state.eliminated if state is not None else ():
        if (gone.by, gone.algorithm) == (a, b):
            return gone.probability
    return None


def decided_otherwise(material: Material, a: str, b: str, now: float) -> float | None:
    """What a decision rested on, where that reads otherwise than what is believed now."""
    then = decided(material, a, b)
    same = then is None or probability_entry(then) == probability_entry(now)
    return None if same else then


def codes(material: Material, a: str, b: str) -> np.ndarray:
    """What is settled about two algorithms at each time."""
    state = _race_of(material, a, b)
    return _by_posterior(material, a, b) if state is None else state.relation(a, b)


def _race_of(material: Material, a: str, b: str) -> State | None:
    if not material.rounds:
        return None
    state = material.rounds[-1].state
    return state if {a, b} <= set(state.algorithms) else None


def _by_posterior(material: Material, a: str, b: str) -> np.ndarray:
    """What a race would settle by this posterior alone."""
    basis, rules = material.basis, material.rules
    assert basis is not None
    pair = place_of_pair(
        basis.algorithms.index(a), basis.algorithms.index(b), len(basis.algorithms)
    )
    found = race.settled_codes(rules, _tables(material))[pair]
    in_order = basis.algorithms.index(a) < basis.algorithms.index(b)
    return np.asarray(found if in_order else MIRROR[found])


@once
def _tables(material: Material) -> DecisionTables:
    """The probabilities of the posterior that settle pairs."""
    assert material.basis is not None
    rules = material.rules
    return relations.decision_tables(material.basis.posterior, rules.epsilon, "pointwise")
