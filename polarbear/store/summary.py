"""What a store holds: its runs by algorithm, its failures, the machines they ran on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from polarbear.execution.status import Status
from polarbear.store.rows import Rows
from polarbear.store.store import Store

FAILED = [status.value for status in Status if status.failed]


@dataclass(frozen=True)
class AlgorithmRuns:
    """The runs of one algorithm, and what it spent.

    ``ended`` are those that ended by themselves before their budget, ``reached`` is the last time
    of any, ``invalid`` counts objective values that were not finite, and ``spent`` is the cost of
    all of them in what the axis counts.
    """

    algorithm: str
    runs: int = 0
    failed: int = 0
    ended: int = 0
    invalid: int = 0
    reached: float = 0
    evaluations: int = 0
    seconds: float = 0
    spent: float = 0


class Failure(NamedTuple):
    """Failed runs of one algorithm that say the same; ``example`` is an instance they failed on."""

    algorithm: str
    status: str
    message: str
    runs: int
    example: str


class HostRuns(NamedTuple):
    """A machine that runs were executed on."""

    host: str
    cpu: str
    runs: int
    mean_load: float


class Weights(NamedTuple):
    """How many instances there are, how many they count as, the least weight and the greatest."""

    instances: int
    total: float
    least: float
    most: float


class AsideRuns(NamedTuple):
    """Runs of one algorithm that were set aside for one reason."""

    algorithm: str
    reason: str
    runs: int


def weights(store: Store) -> Weights | None:
    """What the instances of a store count as; None where each counts as one."""
    found = store.weights()
    if not found:
        return None
    others = len(store.rows_of_instances()) - len(found)
    each = [*found.values(), *[1.0] * others]
    return Weights(len(each), sum(each), min(each), max(each))


def set_aside(store: Store) -> list[AsideRuns]:
    """Runs that do not count, by algorithm and reason."""
    grouped = store.rows_set_aside().by("algorithm", "reason")
    found = [AsideRuns(name, reason, len(rows)) for (name, reason), rows in grouped.items()]
    return sorted(found, key=lambda aside: (aside.algorithm, aside.reason))


def by_algorithm(store: Store) -> list[AlgorithmRuns]:
    """One entry an algorithm, in the order of the configuration."""
    counting, every = store.rows_of_runs().by("algorithm"), store.rows_of_all_runs().by("algorithm")
    return [
        _told(name, counting[name,], every[name,]) if (name,) in counting else AlgorithmRuns(name)
        for name in store.config["algorithms"]
    ]


def _told(name: str, counting: Rows, every: Rows) -> AlgorithmRuns:
    ends = counting.tuples("status", "reached", "budget")
    return AlgorithmRuns(
        name,
        runs=len(counting),
        failed=sum(status in FAILED for status in counting["status"]),
        ended=sum(how == Status.ENDED and reached < budget for how, reached, budget in ends),
        invalid=sum(counting["invalid"]),
        reached=max(counting["reached"]),
        evaluations=sum(every["evaluations"]),
        seconds=sum(every["seconds"]),
        spent=sum(every["reached"]),
    )


def first_at(store: Store, t: float) -> dict[str, float]:
    """On which share of the instances all ran on each algorithm was best at t, ties shared.

    An instance with a weight counts as so many.
    """
    grid, weight = store.on_grid(np.array([t])), store.weights()
    values = grid.values[:, :, 0]
    there = ~np.isnan(values).any(axis=1)
    values = values[there]
    if not len(values):
        return {}
    best = values == values.min(axis=1, keepdims=True)
    weights = np.array([weight.get(instance, 1.0) for instance in grid.instances])[there]
    share = np.average(best / best.sum(axis=1, keepdims=True), axis=0, weights=weights)
    return dict(zip(grid.algorithms, share.tolist(), strict=True))


def failures(store: Store) -> list[Failure]:
    """Failed runs by algorithm, status and message, the most frequent first."""
    runs = store.rows_of_runs()
    failed = runs.where([status in FAILED for status in runs["status"]])
    grouped = failed.by("algorithm", "status", "message")
    found = [
        Failure(name, status, message, len(rows), min(rows["instance"]))
        for (name, status, message), rows in grouped.items()
    ]
    return sorted(found, key=lambda failure: (-failure.runs, failure.algorithm))


def hosts(store: Store) -> list[HostRuns]:
    """The machines runs were executed on, with how many runs and how loaded they were."""
    grouped = store.rows_of_runs().by("host", "cpu")
    found = [
        HostRuns(host, cpu, len(rows), sum(rows["load"]) / len(rows))
        for (host, cpu), rows in grouped.items()
    ]
    return sorted(found, key=lambda host: -host.runs)


def disk_use(store: Store) -> int:
    """Bytes of all files in the store."""
    return sum(path.stat().st_size for path in store.path.rglob("*") if path.is_file())
