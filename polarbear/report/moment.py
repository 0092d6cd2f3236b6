"""The moment a report looks at: who may be chosen then, and which draws are of it."""

from __future__ import annotations

import numpy as np

from polarbear.report.material import Material
from polarbear.select import Basis


def draws_now(material: Material) -> Basis | None:
    """The posterior's draws, if there are any of the moment the material looks at.

    A race keeps only the draws of its last round, so a look back has none.
    """
    basis = material.basis
    if basis is None:
        return None
    if basis.source == "race" and material.rounds[-1].record.posterior != basis.key:
        return None
    if basis.source == "infer" and material.rounds and _looks_back(material):
        return None
    return basis


def other_model(material: Material) -> str | None:
    """The model that choices rest on, where the rounds of the race were decided by another."""
    basis = draws_now(material)
    is_other = basis is not None and basis.source == "infer" and bool(material.rounds)
    return basis.posterior.model if basis is not None and is_other else None


def still_in(material: Material) -> tuple[str, ...]:
    """Who may be chosen, at the moment the material looks at."""
    if material.rounds:
        state = material.rounds[-1].state
        return tuple(
            name
            for name in material.algorithms
            if name in state.candidates or name not in state.algorithms
        )
    return material.candidates


def firsts_are_among_those_in(material: Material) -> bool:
    """Whether a share of firsts counts only those who are still in, and of one who is out itself.

    Then the shares of all do not sum to one.
    """
    believed = material.believed
    return believed is not None and not np.allclose(believed.mean.sum(axis=0), 1, atol=0.01)


def _looks_back(material: Material) -> bool:
    return material.rounds[-1].number != material.store.rounds.numbers()[-1]
