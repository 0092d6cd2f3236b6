"""Stores with numbers that are easily changed by rounding, and the content of stores."""

from pathlib import Path
from typing import Any

import numpy as np

from polarbear.execution.outcome import Status
from polarbear.store import StoreOnDisk
from tests.classical.helpers import Run, make_store

Trajectories = dict[tuple[str, str], tuple[list[float], list[float], float]]


def numbered_store(path: Path, maximise: bool = False, last: int = 500) -> StoreOnDisk:
    """Two algorithms on three functions in two dimensions; digits that are easily lost."""
    rng = np.random.default_rng(7)
    specs: list[dict[str, Any]] = [
        {"imported": i, "function": f, "dimension": d, "instance": n, "problem": f"f{f}-d{d}-i{n}"}
        for i, (f, d, n) in enumerate((f, d, n) for f in (1, 3, 20) for d in (2, 5) for n in (1, 4))
    ]
    if not maximise:
        specs = [{**spec, "optimum": 0.0} for spec in specs]
    runs: dict[str, list[Run]] = {"one": [], "it's two": []}
    for name in runs:
        for i in range(len(specs)):
            t = np.unique(np.append(rng.integers(2, last - 10, 9), [1] if i % 2 else []))
            y = np.sort(10 ** rng.uniform(-12, 3, len(t)))[::-1] / 3
            ended = i % 3 == 0
            status = Status.ENDED if ended else Status.BUDGET
            reached = float(t[-1] if ended else last)
            runs[name].append(Run(t.tolist(), y.tolist(), status, reached))
    return make_store(
        path,
        runs,
        grid=(10.0, 100.0, float(last)),
        instances={"suite": "imported", "maximise": maximise},
        specs=specs,
    )


def trajectories(store: StoreOnDisk, by_problem: bool = False) -> Trajectories:
    """The times, values and end of each stored run."""
    problems = store.problems()
    return {
        (run.algorithm, problems[run.instance] if by_problem else run.instance): (
            t.tolist(),
            y.tolist(),
            run.reached,
        )
        for run, t, y in store.trajectories()
    }
