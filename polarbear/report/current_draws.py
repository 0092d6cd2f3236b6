"""The candidates and the draws at the moment that a report describes."""

from __future__ import annotations

import numpy as np

from polarbear.report.context import ReportContext
from polarbear.selection.posterior_source import Basis


def draws_now(context: ReportContext) -> Basis | None:
    """The posterior's draws, if there are any of the moment the context looks at.

    A race keeps only the draws of its last round, so a look back has none.
    """
    basis = context.basis
    if basis is None:
        return None
    if basis.source == "race" and context.rounds[-1].record.posterior != basis.key:
        return None
    if basis.source == "infer" and context.rounds and _looks_back(context):
        return None
    return basis


def other_model(context: ReportContext) -> str | None:
    """The model that choices rest on, where the rounds of the race were decided by another."""
    basis = draws_now(context)
    is_other = basis is not None and basis.source == "infer" and bool(context.rounds)
    return basis.posterior.model if basis is not None and is_other else None


def still_in(context: ReportContext) -> tuple[str, ...]:
    """The candidates at the moment that the report describes."""
    if context.rounds:
        state = context.rounds[-1].state
        return tuple(
            name
            for name in context.algorithms
            if name in state.candidates or name not in state.algorithms
        )
    return context.candidates


def firsts_are_among_those_in(context: ReportContext) -> bool:
    """Whether first places are counted among the candidates, and an eliminated algorithm itself.

    Then the shares of all algorithms do not sum to one.
    """
    believed = context.believed
    return believed is not None and not np.allclose(believed.mean.sum(axis=0), 1, atol=0.01)


def _looks_back(context: ReportContext) -> bool:
    return context.rounds[-1].number != context.store.rounds.numbers()[-1]
