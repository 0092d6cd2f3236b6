"""One run of a store made again, and held against what is stored; nothing is written."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import polars as pl

from polarbear.config import Config
from polarbear.driver.looking import sign_of
from polarbear.errors import ReportError
from polarbear.execution.executor import Executor
from polarbear.execution.outcome import Task
from polarbear.numerics.arrays import Floats
from polarbear.plain import Record
from polarbear.problems.base import Instance
from polarbear.settings.options import unknown
from polarbear.store import Store


@dataclass(frozen=True, repr=False)
class Repeated(Record):
    """How a run went this time, and whether it went as the stored one did.

    ``differs_from`` is the time of the first improvement that is not the same; None if all are.
    """

    algorithm: str
    instance: str
    seed: int
    axis: str
    status: str
    message: str
    reached: float
    best: float | None
    t: tuple[float, ...]
    y: tuple[float, ...]
    same: bool
    differs_from: float | None

    def one_line(self) -> str:
        result = "the same" if self.same else f"different from {self.differs_from:g} on"
        return f"{self.algorithm} on {self.instance}: {result}"


def task_of(config: Config, store: Store, algorithm: str, instance: str) -> Task:
    """The stored run of an algorithm on an instance, as it was asked for."""
    named = {one.name: one for one in config.algorithms}
    if algorithm not in named:
        raise ReportError(f"{unknown('algorithm', algorithm, named)} (in the configuration)")
    known = store.instances()
    if instance not in known["instance"]:
        found = unknown("instance", instance, known["instance"].to_list())
        raise ReportError(f"{found} (in {store.path})")
    runs = store.runs().filter(
        (pl.col("algorithm") == algorithm) & (pl.col("instance") == instance)
    )
    if runs.is_empty():
        raise ReportError(f"{store.path} has no run of '{algorithm}' on '{instance}' to repeat")
    run = runs.row(0, named=True)
    row = known.row(by_predicate=pl.col("instance") == instance, named=True)
    drawn = Instance(row["index"], instance, json.loads(row["spec"]))
    return Task(named[algorithm], drawn, run["seed"], run["budget"])


def repeat(config: Config, store: Store, task: Task, pool: Executor) -> Repeated:
    """Make a run again."""
    (outcome,) = pool.run([task])
    name, instance, sign = task.algorithm.name, task.instance.id, sign_of(store)
    before = next((t, y) for run, t, y in store.trajectories([name]) if run.instance == instance)
    differs = first_difference(before, (outcome.times, outcome.values))
    values = (sign * outcome.values).tolist()
    return Repeated(
        algorithm=name,
        instance=instance,
        seed=task.seed,
        axis=config.budget.axis,
        status=outcome.status.value,
        message=outcome.message,
        reached=float(outcome.reached),
        best=values[-1] if values else None,
        t=tuple(outcome.times.tolist()),
        y=tuple(values),
        same=differs is None,
        differs_from=differs,
    )


def first_difference(one: tuple[Floats, Floats], two: tuple[Floats, Floats]) -> float | None:
    """From when on two trajectories are not the same; None if they always are."""
    a, b = np.column_stack(one), np.column_stack(two)
    both = min(len(a), len(b))
    unlike = np.flatnonzero((a[:both] != b[:both]).any(axis=1))
    if len(unlike):
        place = int(unlike[0])
        return float(min(a[place, 0], b[place, 0]))
    longer = a if len(a) > both else b
    return float(longer[both, 0]) if len(longer) > both else None
