"""What a store holds, as plain facts for people, scripts and pipelines."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from polarbear.execution.outcome import Status
from polarbear.store.store import Store

FAILED = [status.value for status in Status if status.failed]

_ended_early = (pl.col("status") == Status.ENDED) & (pl.col("reached") < pl.col("budget"))


def by_algorithm(store: Store) -> list[dict[str, Any]]:
    """One entry an algorithm: its runs, its failures, and what it spent."""
    runs = store.runs()
    spent = store.all_runs().group_by("algorithm").agg(pl.col("evaluations", "seconds").sum())
    counts = (
        runs.group_by("algorithm")
        .agg(
            pl.len().alias("runs"),
            pl.col("status").is_in(FAILED).sum().alias("failed"),
            _ended_early.sum().alias("ended"),
            pl.col("invalid").sum(),
            pl.col("reached").max().alias("reached"),
        )
        .join(spent, on="algorithm")
    )
    known = {row["algorithm"]: row for row in counts.iter_rows(named=True)}
    empty = {name: 0 for name in counts.columns if name != "algorithm"}
    return [
        {"algorithm": name, **empty, **known.get(name, {})} for name in store.config["algorithms"]
    ]


def first_at(store: Store, t: float) -> dict[str, float]:
    """On which share of the instances all ran on each algorithm was best at t, ties shared."""
    grid = store.on_grid(np.array([t]))
    values = grid.values[:, :, 0]
    values = values[~np.isnan(values).any(axis=1)]
    if not len(values):
        return {}
    best = values == values.min(axis=1, keepdims=True)
    share = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return dict(zip(grid.algorithms, share.tolist(), strict=True))


def failures(store: Store) -> list[dict[str, Any]]:
    """Failed runs by algorithm, status and message, the most frequent first."""
    failed = store.runs().filter(pl.col("status").is_in(FAILED))
    grouped = failed.group_by("algorithm", "status", "message").agg(
        pl.len().alias("runs"), pl.col("instance").min().alias("example")
    )
    return grouped.sort(["runs", "algorithm"], descending=[True, False]).to_dicts()


def hosts(store: Store) -> list[dict[str, Any]]:
    """The machines runs were executed on, with how many runs and how loaded they were."""
    grouped = (
        store.runs()
        .group_by("host", "cpu")
        .agg(pl.len().alias("runs"), pl.col("load").mean().alias("mean_load"))
    )
    return grouped.sort("runs", descending=True).to_dicts()


def disk_use(store: Store) -> int:
    """Bytes of all files in the store."""
    return sum(path.stat().st_size for path in store.path.rglob("*") if path.is_file())
