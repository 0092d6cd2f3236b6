"""The failed runs of a store, by their messages."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from polarbear.execution.outcome import Status
from polarbear.store.store import Store

FAILED = [status.value for status in Status if status.failed]


class Failure(NamedTuple):
    """Failed runs of one algorithm with the same message; ``example`` is one of their instances."""

    algorithm: str
    status: str
    message: str
    runs: int
    example: str


def failures(store: Store) -> list[Failure]:
    """Failed runs by algorithm, status and message, the most frequent first."""
    failed = store.runs().filter(pl.col("status").is_in(FAILED))
    grouped = failed.group_by("algorithm", "status", "message", maintain_order=True)
    found = grouped.agg(runs=pl.len(), example=pl.col("instance").min())
    ordered = found.sort("runs", "algorithm", descending=[True, False], maintain_order=True)
    return [Failure(*row) for row in ordered.iter_rows()]
