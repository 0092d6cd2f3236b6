"""Helpers that make small stores from given trajectories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polarbear.config.stored_settings import StoredSettings
from polarbear.execution.host import Where
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.formats.imported_runs import ImportedAlgorithm
from polarbear.problems.base import Instance
from polarbear.store import StoreOnDisk
from polarbear.store.runs import FinishedRun


@dataclass(frozen=True)
class Run:
    """A trajectory, and the status in which the run ended."""

    t: Sequence[float]
    y: Sequence[float]
    status: Status = Status.ENDED
    reached: float | None = None


def make_store(
    path: Path,
    runs: Mapping[str, Sequence[Run | None]],
    grid: Any = (1.0, 10.0, 100.0),
    axis: str = "evaluations",
    instances: Mapping[str, Any] | None = None,
    specs: Sequence[Mapping[str, Any]] | None = None,
) -> StoreOnDisk:
    """A store of the given runs: runs[algorithm][instance], None where there was no run."""
    n_instances = max(len(row) for row in runs.values())
    plain = {
        "seed": 0,
        "algorithms": {name: {"use": "imported"} for name in runs},
        "instances": dict(instances or {"suite": "imported", "maximise": False}),
        "budget": {"axis": axis, "grid": grid if isinstance(grid, dict) else list(grid)},
        "execution": {},
    }
    store = StoreOnDisk.create(path, StoredSettings.from_plain(plain))
    new_instances = [
        Instance(i, f"i{i:03}", specs[i] if specs else {"imported": i}) for i in range(n_instances)
    ]
    finished_runs = []
    for name, row in runs.items():
        for i, run in enumerate(row):
            if run is not None:
                outcome = _outcome(name, new_instances[i], run)
                finished_runs.append(FinishedRun.of(outcome, workers=0))
    with store.writing():
        store.add_instances(new_instances, store.settings.instances.suite)
        store.add_runs(finished_runs)
    return store


def _outcome(name: str, instance: Instance, run: Run) -> Outcome:
    last = float(run.t[-1]) if len(run.t) else 0.0
    reached = last if run.reached is None else run.reached
    return Outcome(
        Task(ImportedAlgorithm(name=name), instance, seed=0, budget=reached),
        run.status,
        "",
        np.array(run.t, dtype=float),
        np.array(run.y, dtype=float),
        evaluations=0,
        reached=reached,
        seconds=0.0,
        invalid=0,
        started=0.0,
        where=Where("test"),
    )


def random_runs(
    seed: int, names: Sequence[str], instances: int, last: float = 100.0, points: int = 12
) -> dict[str, list[Run]]:
    """Improving trajectories of positive values, with a few points at random times each."""
    rng = np.random.default_rng(seed)
    runs: dict[str, list[Run]] = {}
    for rank, name in enumerate(names):
        runs[name] = []
        for _ in range(instances):
            count = int(rng.integers(1, points + 1))
            t = np.unique(np.exp(rng.uniform(np.log(0.5), np.log(last), count)))
            y = np.sort(10 ** rng.uniform(-6 - rank, 3, len(t)))[::-1]
            runs[name].append(Run(t.tolist(), y.tolist()))
    return runs


def value_at(run: Run, time: float) -> float:
    """The best value a run had found by a time, looked up point by point."""
    best = np.inf
    for t, y in zip(run.t, run.y, strict=True):
        if t <= time:
            best = y
    return best
