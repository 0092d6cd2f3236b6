"""A sample of instances with the runs of all algorithms on them, for a closer look on the page."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np
import polars as pl

from polarbear.driver.inspect import better_in, repeating, sign_of, tolerance_of
from polarbear.report.context import ReportContext
from polarbear.report.page.packing import squeezed

MOST_INSTANCES = 60
MOST_NUMBERS = 60_000  # values in the sample, eight bytes each before they are compressed
FEWEST = 8  # instances, however many algorithms and times there are


def instance_sample(context: ReportContext) -> dict[str, Any] | None:
    """Instances with the most runs, and the best value so far of each run at each time.

    Instances are drawn at random, and an early stop of an algorithm does not depend on the values
    on an instance, so the instances with the most runs are a fair sample.
    """
    store = context.store
    runs = store.runs()
    if runs.is_empty():
        return None
    grid = store.on_grid(context.times, context.algorithms)
    _, n, times = grid.values.shape
    there = ~np.isnan(grid.values)
    several = np.flatnonzero(there.any(axis=2).sum(axis=1) > 1)
    if len(several) == 0:
        return None
    fit = max(FEWEST, min(MOST_INSTANCES, MOST_NUMBERS // (n * times)))
    fullest = np.argsort(-there[several].sum(axis=(1, 2)), kind="stable")
    kept = np.sort(several[fullest[:fit]])
    names = [grid.instances[i] for i in kept]
    sign = sign_of(store)
    mine = {
        (run["instance"], run["algorithm"]): run
        for run in runs.filter(pl.col("instance").is_in(names)).iter_rows(named=True)
    }
    values = np.where(np.isinf(grid.values[kept]), np.inf, sign * grid.values[kept])
    place = shlex.quote(str(store.path))
    return {
        "instances": names,
        "of": len(several),
        "better": better_in(store),
        "larger": sign < 0,
        "tolerance": tolerance_of(store),
        "runs": [[_run(mine.get((name, a))) for a in context.algorithms] for name in names],
        "show": f"polarbear show {place}",
        "run": repeating(store),
        "values": squeezed(values.astype("<f8").tobytes()),
    }


def _run(run: dict[str, Any] | None) -> list[Any] | None:
    """How a run ended, after how much, and its seed, which is too long for a number there."""
    return None if run is None else [run["status"], run["reached"], str(run["seed"])]
