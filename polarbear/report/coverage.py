"""The number of instances on which each algorithm ran up to each time."""

from __future__ import annotations

import numpy as np
import polars as pl

from polarbear.execution.outcome import Status
from polarbear.report.context import ReportContext


def instances_at(context: ReportContext) -> dict[str, np.ndarray] | None:
    """The number of instances each algorithm was compared on at each time; None without runs.

    A race records it. Otherwise it follows from the runs: one that stopped early or failed keeps
    its last best value and counts at later times, too.
    """
    times = context.times
    if context.rounds:
        found = {name: np.zeros(len(times), dtype=int) for name in context.algorithms}
        for entry in context.rounds:
            for name, horizon in entry.record.ran_to.items():
                found[name] += entry.record.drawn * (times <= horizon)
        return found
    runs = context.store.runs()
    if runs.is_empty():
        return None
    reached = pl.when(pl.col("status") == Status.BUDGET).then(pl.col("reached")).otherwise(np.inf)
    runs = runs.with_columns(reached.alias("until"))
    return {
        name: (until[:, None] >= times).sum(axis=0)
        for name in context.algorithms
        for until in [runs.filter(pl.col("algorithm") == name)["until"].to_numpy()]
    }
