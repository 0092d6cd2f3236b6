"""Counts of a store's content: runs by algorithm, failures, weights, machines, disk use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polarbear.execution.host import IMPORTED
from polarbear.execution.outcome import ENDED_BY_ITSELF, Status
from polarbear.store.store import StoreOnDisk

FAILED = [status.value for status in Status if status.failed]


@dataclass(frozen=True)
class AlgorithmRuns:
    """The runs of one algorithm, and their cost.

    ``ended`` is the number of runs that ended by themselves before their budget, ``reached`` the
    last time of any run, ``invalid`` the number of objective values that were not finite, and
    ``spent`` the cost of all runs in units of the axis. ``evaluations`` and ``seconds`` are None if
    they are unknown, as for imported runs.
    """

    algorithm: str
    runs: int = 0
    failed: int = 0
    ended: int = 0
    invalid: int = 0
    reached: float = 0
    evaluations: int | None = 0
    seconds: float | None = 0
    spent: float = 0


class Failure(NamedTuple):
    """Failed runs of one algorithm with the same message; ``example`` is one of their instances."""

    algorithm: str
    status: str
    message: str
    runs: int
    example: str


class HostRuns(NamedTuple):
    """A machine, and the runs executed on it."""

    host: str
    cpu: str
    runs: int
    mean_load: float


class InstanceWeights(NamedTuple):
    """The number of instances, the sum of their weights, the smallest and the largest weight."""

    instances: int
    total: float
    least: float
    most: float


class AsideRuns(NamedTuple):
    """Runs of one algorithm that were set aside for one reason."""

    algorithm: str
    reason: str
    runs: int


def weights(store: StoreOnDisk) -> InstanceWeights | None:
    """The weights of the instances of a store; None if all are 1."""
    stored_weights = list(store.weights().values())
    if not stored_weights:
        return None
    n_without_weight = len(store.instances()) - len(stored_weights)
    all_weights = [*stored_weights, *[1.0] * n_without_weight]
    return InstanceWeights(len(all_weights), sum(all_weights), min(all_weights), max(all_weights))


def set_aside(store: StoreOnDisk) -> list[AsideRuns]:
    """Runs that do not count, by algorithm and reason."""
    grouped = store.set_aside.runs().group_by("algorithm", "reason").len()
    return [AsideRuns(*row) for row in grouped.sort("algorithm", "reason").iter_rows()]


def by_algorithm(store: StoreOnDisk) -> list[AlgorithmRuns]:
    """One entry per algorithm, in the order of the configuration."""
    return [AlgorithmRuns(**counts) for counts in counts_by_algorithm(store)]


def counts_by_algorithm(store: StoreOnDisk) -> list[dict[str, Any]]:
    """The fields of `AlgorithmRuns` for each algorithm; only the name for one without runs."""
    has_ended = pl.col("status").is_in([status.value for status in ENDED_BY_ITSELF])
    ended_early = has_ended & (pl.col("reached") < pl.col("budget"))
    runs_that_count = (
        store.runs()
        .group_by("algorithm")
        .agg(
            runs=pl.len(),
            failed=pl.col("status").is_in(FAILED).sum(),
            ended=ended_early.sum(),
            invalid=pl.col("invalid").sum(),
            reached=pl.col("reached").max(),
        )
    )
    is_known = (pl.col("host") != IMPORTED.host) | (pl.col("seconds") > 0)
    costs = pl.when(is_known.any()).then(pl.col("evaluations", "seconds").sum())
    spent = store.all_runs().group_by("algorithm").agg(costs, spent=pl.col("reached").sum())
    rows = runs_that_count.join(spent, on="algorithm").iter_rows(named=True)
    counts = {row["algorithm"]: row for row in rows}
    return [counts.get(name, {"algorithm": name}) for name in store.settings.algorithms]


def failures(store: StoreOnDisk) -> list[Failure]:
    """Failed runs by algorithm, status and message, the most frequent first."""
    failed = store.runs().filter(pl.col("status").is_in(FAILED))
    grouped = failed.group_by("algorithm", "status", "message", maintain_order=True)
    counts = grouped.agg(runs=pl.len(), example=pl.col("instance").min())
    ordered = counts.sort("runs", "algorithm", descending=[True, False], maintain_order=True)
    return [Failure(*row) for row in ordered.iter_rows()]


def first_at(store: StoreOnDisk, t: float) -> dict[str, float]:
    """The weighted share of common instances on which each algorithm is best at t; ties shared.

    There is none with several objectives, where no algorithm need be best.
    """
    if store.n_objectives > 1:
        return {}
    grid = store.on_grid(np.array([t]))
    is_common = grid.present[:, :, 0].all(axis=1)
    if not is_common.any():
        return {}
    is_best = grid.positions()[is_common, :, 0] == 0
    shares = is_best / is_best.sum(axis=1, keepdims=True)
    weight_of_instance = store.weights()
    weights = np.array([weight_of_instance.get(instance, 1.0) for instance in grid.instances])
    mean_shares = np.average(shares, axis=0, weights=weights[is_common])
    return dict(zip(grid.algorithms, mean_shares.tolist(), strict=True))


def hosts(store: StoreOnDisk) -> list[HostRuns]:
    """The machines that executed runs, with their number of runs and mean load."""
    grouped = store.runs().group_by("host", "cpu", maintain_order=True)
    counts = grouped.agg(runs=pl.len(), mean_load=pl.col("load").mean())
    ordered = counts.sort("runs", descending=True, maintain_order=True)
    return [HostRuns(*row) for row in ordered.iter_rows()]


def disk_use(store: StoreOnDisk) -> int:
    """Bytes of all files in the store."""
    return sum(path.stat().st_size for path in store.path.rglob("*") if path.is_file())
