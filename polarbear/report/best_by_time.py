"""P(best at t) of the candidates, at the moment that a report describes."""

from __future__ import annotations

import numpy as np

from polarbear.inference.strongest_rival import p_best_at_each_time
from polarbear.report.context import ReportContext, once
from polarbear.report.current_draws import draws_now, still_in


@once
def p_best(context: ReportContext) -> tuple[tuple[str, ...], np.ndarray]:
    """The candidates, and P(best at t)[time, algorithm] among them, by duels."""
    names = still_in(context)
    basis = draws_now(context)
    if basis is not None:
        names = tuple(name for name in basis.algorithms if name in names)
        items = [basis.algorithms.index(name) for name in names]
        return names, p_best_at_each_time(basis.posterior, items)
    believed = context.believed
    assert believed is not None
    names = tuple(name for name in believed.algorithms if name in names)
    return names, believed.best[[believed.place(name) for name in names]].T


def problems_behind(context: ReportContext) -> int | None:
    """The lowest number of problems that two candidates share at any time."""
    basis = draws_now(context)
    if basis is None or basis.posterior.shared is None:
        return context.race.instances if context.race is not None else None
    items = [basis.algorithms.index(name) for name in p_best(context)[0]]
    shared = [basis.posterior.problems_shared(a, b) for a in items for b in items if a < b]
    return min((int(one.min()) for one in shared if one is not None), default=None)
