"""Repeats a stored run and compares the two trajectories."""

import json
from dataclasses import dataclass

import numpy as np

from polarbear.config.configuration import Config
from polarbear.errors import ReportError
from polarbear.execution.outcome import Executor, Task
from polarbear.facts.run_details import instance_row
from polarbear.problems.base import Instance
from polarbear.rankings import Improvements
from polarbear.records import Record
from polarbear.settings.options import unknown
from polarbear.store import StoreOnDisk


@dataclass(frozen=True, repr=False)
class Repeated(Record):
    """A repeated run, and whether it equals the stored one.

    ``differs_from`` is the time of the first different improvement; None if there is none.
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


def task_of(config: Config, store: StoreOnDisk, algorithm: str, instance: str) -> Task:
    """The task of a stored run, of a contract algorithm that of the one with the most budget."""
    by_name = {configured.name: configured for configured in config.algorithms}
    if algorithm not in by_name:
        raise ReportError(f"{unknown('algorithm', algorithm, by_name)} (in the configuration)")
    row = instance_row(store, instance)
    runs = store.runs().filter(algorithm=algorithm, instance=instance)
    if runs.is_empty():
        raise ReportError(f"{store.path} has no run of '{algorithm}' on '{instance}' to repeat")
    run = runs.sort("budget").row(-1, named=True)
    drawn = Instance(row["index"], instance, json.loads(row["spec"]))
    return Task(by_name[algorithm], drawn, run["seed"], run["budget"])


def repeat(config: Config, store: StoreOnDisk, task: Task, pool: Executor) -> Repeated:
    """Repeat a run and compare it with the stored one; nothing is written."""
    (outcome,) = pool.run([task])
    name = task.algorithm.name
    instance = task.instance.id
    stored_improvements = next(
        improvements
        for run, improvements in store.run_improvements([name])
        if run.instance == instance and run.budget == task.budget
    )
    differs_from = first_difference(stored_improvements, outcome.improvements)
    feasible = outcome.improvements.feasible()
    values = (store.sign * feasible.values).tolist()
    return Repeated(
        algorithm=name,
        instance=instance,
        seed=task.seed,
        axis=config.budget.axis,
        status=outcome.status.value,
        message=outcome.message,
        reached=float(outcome.reached),
        best=values[-1] if values and store.n_objectives == 1 else None,
        t=tuple(feasible.times.tolist()),
        y=tuple(values),
        same=differs_from is None,
        differs_from=differs_from,
    )


def first_difference(a: Improvements, b: Improvements) -> float | None:
    """The time at which two trajectories first differ; None if they are equal."""
    for point_of_a, point_of_b in zip(_with_end(a), _with_end(b), strict=False):
        if point_of_a != point_of_b:
            return float(min(point_of_a[0], point_of_b[0]))
    return None


def _with_end(improvements: Improvements) -> list[tuple[float, float, float]]:
    """The points of a trajectory and one at infinity, so that a shorter one differs there."""
    return [*improvements.points(), (np.inf, np.inf, np.inf)]
