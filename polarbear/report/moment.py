"""The moment a report looks at: who may be chosen then, and which draws are of it."""

from __future__ import annotations

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


def _looks_back(material: Material) -> bool:
    return material.rounds[-1].number != material.store.round_numbers()[-1]
