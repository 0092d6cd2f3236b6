"""On how many instances each algorithm was seen, and up to which time."""

from __future__ import annotations

import numpy as np
import polars as pl

from polarbear.execution.status import Status
from polarbear.report.material import Material


def instances_at(material: Material) -> dict[str, np.ndarray] | None:
    """How many instances each algorithm was compared on at each time; None without runs.

    A race tells it itself; otherwise it follows from the runs: whoever ended by itself or failed
    keeps its last best, and is there at later times, too.
    """
    times = material.times
    if material.rounds:
        found = {name: np.zeros(len(times), dtype=int) for name in material.algorithms}
        for entry in material.rounds:
            for name, horizon in entry.record.ran_to.items():
                found[name] += entry.record.drawn * (times <= horizon)
        return found
    runs = material.store.runs()
    if runs.is_empty():
        return None
    reached = pl.when(pl.col("status") == Status.BUDGET).then(pl.col("reached")).otherwise(np.inf)
    runs = runs.with_columns(reached.alias("until"))
    return {
        name: (until[:, None] >= times).sum(axis=0)
        for name in material.algorithms
        for until in [runs.filter(pl.col("algorithm") == name)["until"].to_numpy()]
    }
