"""The values of runs on a grid: of one run, and of the runs of a contract algorithm together."""

from collections.abc import Sequence

import numpy as np

from polarbear.config.execution import KEEPS
from polarbear.execution.outcome import STOPPED, Status
from polarbear.numerics.arrays import Floats
from polarbear.settings.contract import reached
from polarbear.store.runs import StoredRun

StoredTrajectory = tuple[StoredRun, Floats, Floats]  # a run, with its times and values


def best_so_far(
    t: Floats, y: Floats, status: str, reached: float, times: Floats, failed: str = KEEPS
) -> Floats:
    """The values of a run on a grid: +inf before its first, NaN where it is absent.

    ``failed`` is the rank of a failed run after its end: it keeps its best, is last or absent.
    """
    best = np.concatenate([[np.inf], y])[np.searchsorted(t, times, side="right")]
    if status in STOPPED:
        best[times > reached] = np.nan  # it was stopped from outside: absent, not last
    elif failed != KEEPS and Status(status).failed:
        best[times > reached] = np.inf if failed == "last" else np.nan
    return best


def final_values(
    runs: Sequence[StoredTrajectory], contract_times: Floats, failed: str = KEEPS
) -> Floats:
    """The final value of the run for each contract time; NaN where it is missing or absent."""
    values = np.full(len(contract_times), np.nan)
    for run, t, y in runs:
        position = np.flatnonzero(contract_times == run.budget)
        if len(position):
            end = np.array([run.budget])
            values[position] = best_so_far(t, y, run.status, run.reached, end, failed)
    return values


def composed(
    runs: Sequence[StoredTrajectory], contract_times: Floats, grid: Floats, failed: str = KEEPS
) -> StoredTrajectory:
    """The runs of a contract algorithm on one instance as one trajectory, which may get worse.

    It has the final value of each run at its contract time, as far as no run is missing. Like any
    trajectory it holds only values that were found.
    """
    values = final_values(runs, contract_times, failed)
    end = reached(contract_times, ~np.isnan(values), grid)
    times = contract_times[contract_times <= end]
    values = values[: len(times)]
    before = np.concatenate([[np.nan], values[:-1]]) if len(values) else values
    is_change = np.isfinite(values) & (values != before)
    longest = max((run for run, _, _ in runs), key=lambda run: run.budget)
    run = longest._replace(
        budget=float(grid[-1]),
        status=Status.BUDGET,
        message="",
        reached=end,
        best=float(values[is_change][-1]) if is_change.any() else None,
        points=int(is_change.sum()),
        evaluations=sum(run.evaluations for run, _, _ in runs),
        invalid=sum(run.invalid for run, _, _ in runs),
        seconds=sum(run.seconds for run, _, _ in runs),
    )
    return run, times[is_change], values[is_change]
