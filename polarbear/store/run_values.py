"""Outcomes of runs on a grid: of one run, and of the runs of a contract algorithm together."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl

from polarbear.config.execution import KEEPS
from polarbear.execution.outcome import STOPPED, Status
from polarbear.numerics.arrays import Floats
from polarbear.rankings import Improvements
from polarbear.rankings.archives import front_array, fronts_at
from polarbear.rankings.outcomes import or_none, violations_of
from polarbear.settings.contract import reached
from polarbear.store.runs import StoredRun, concatenated

MAX_POINTS_AT_ONCE = 2**20  # points of runs that are put on a grid at once: bounds memory
StoredTrajectory = tuple[StoredRun, Improvements]


class OutcomesAtTimes(NamedTuple):
    """Outcomes of an algorithm on an instance at some times; violations are None if all are 0.

    With several objectives there is a front at each time, and a value is 0 where it has points.
    """

    values: Floats
    violations: Floats | None
    fronts: np.ndarray | None = None


def best_so_far(
    t: Floats, y: Floats, status: str, reached: float, times: Floats, failed: str = KEEPS
) -> Floats:
    """The values, or violations, of a run on a grid.

    They are +inf before its first, NaN where it is absent. ``failed`` is the rank of a failed run
    after its end: it keeps its best, is last or absent.
    """
    best = np.concatenate([[np.inf], y])[np.searchsorted(t, times, side="right")]
    if status in STOPPED:
        best[times > reached] = np.nan  # it was stopped from outside: absent, not last
    elif failed != KEEPS and Status(status).failed:
        best[times > reached] = np.inf if failed == "last" else np.nan
    return best


def outcomes_on_grid(
    run: StoredRun, improvements: Improvements, times: Floats, failed: str = KEEPS
) -> OutcomesAtTimes:
    """The outcomes of a run on a grid."""

    def at_times(column: Floats) -> Floats:
        return best_so_far(improvements.times, column, run.status, run.reached, times, failed)

    violations = improvements.violations
    violations_at_times = None if violations is None else at_times(violations)
    if improvements.n_objectives == 1:
        return OutcomesAtTimes(at_times(improvements.values), violations_at_times)
    values = at_times(np.zeros(len(improvements.times)))
    fronts = fronts_at(improvements, times)
    return OutcomesAtTimes(values, violations_at_times, front_array(fronts, values))


def values_on_grid(runs: pl.DataFrame, times: Floats, failed: str = KEEPS) -> Floats:
    """The values of many runs on a grid of increasing times: [run, time], as by `best_so_far`.

    A row has the columns t, y, status and reached of a run.
    """
    lengths = runs["t"].list.len().to_numpy().astype(int)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    t = concatenated(runs["t"])
    y = concatenated(runs["y"])
    values = np.empty((len(runs), len(times)))
    ends_of_blocks = np.searchsorted(starts, np.arange(0, starts[-1], MAX_POINTS_AT_ONCE))
    edges = np.unique([0, *ends_of_blocks, len(runs)])
    for first, end in pairwise(edges):
        points = slice(starts[first], starts[end])
        values[first:end] = _last_until(t[points], y[points], lengths[first:end], times)
    is_after_end = times > runs["reached"].to_numpy()[:, np.newaxis]
    is_stopped = runs["status"].is_in([status.value for status in STOPPED]).to_numpy()
    values[is_after_end & is_stopped[:, np.newaxis]] = np.nan
    if failed != KEEPS:
        failures = [status.value for status in Status if status.failed and status not in STOPPED]
        has_failed = runs["status"].is_in(failures).to_numpy()
        rank = np.inf if failed == "last" else np.nan
        values[is_after_end & has_failed[:, np.newaxis]] = rank
    return values


def _last_until(t: Floats, y: Floats, lengths: np.ndarray, times: Floats) -> Floats:
    """The last value of each run until each time, +inf before its first: [run, time].

    The points of a run follow those of the one before it, ``lengths`` has their numbers.
    """
    first_time = np.searchsorted(times, t)  # the first time of the grid at which a point counts
    is_inside = np.flatnonzero(first_time < len(times))
    run = np.repeat(np.arange(len(lengths)), lengths)
    last = np.full((len(lengths), len(times)), -1)
    # Of several points between two times of the grid the last one is assigned.
    last[run[is_inside], first_time[is_inside]] = is_inside
    np.maximum.accumulate(last, axis=1, out=last)
    return np.asarray(np.append(y, np.inf)[last])


def final_outcomes(
    runs: Sequence[StoredTrajectory], contract_times: Floats, failed: str = KEEPS
) -> OutcomesAtTimes:
    """The final outcome of the run for each contract time; NaN where it is missing or absent."""
    values = np.full(len(contract_times), np.nan)
    violations = np.full(len(contract_times), np.nan)
    for run, improvements in runs:
        position = np.flatnonzero(contract_times == run.budget)
        if len(position):
            end = np.array([run.budget])
            final = outcomes_on_grid(run, improvements, end, failed)
            values[position] = final.values
            violations[position] = violations_of(final.values)
            if final.violations is not None:
                violations[position] = final.violations
    is_constrained = any(improvements.violations is not None for _, improvements in runs)
    return OutcomesAtTimes(values, violations if is_constrained else None)


def composed(
    runs: Sequence[StoredTrajectory], contract_times: Floats, grid: Floats, failed: str = KEEPS
) -> StoredTrajectory:
    """The runs of a contract algorithm on one instance as one trajectory, which may get worse.

    It has the final outcome of each run at its contract time, as far as no run is missing. Like any
    trajectory it holds only outcomes that were found.
    """
    finals = final_outcomes(runs, contract_times, failed)
    end = reached(contract_times, ~np.isnan(finals.values), grid)
    times = contract_times[contract_times <= end]
    values = finals.values[: len(times)]
    is_change = np.isfinite(values) & _differs(values)
    violations = None
    if finals.violations is not None:
        violations = finals.violations[: len(times)]
        is_change = np.isfinite(values) & (_differs(values) | _differs(violations))
        violations = or_none(violations[is_change])
    improvements = Improvements(times[is_change], values[is_change], violations)
    feasible_values = improvements.feasible().values
    longest = max((run for run, _ in runs), key=lambda run: run.budget)
    run = longest._replace(
        budget=float(grid[-1]),
        status=Status.BUDGET,
        message="",
        reached=end,
        best=float(feasible_values[-1]) if len(feasible_values) else None,
        points=int(is_change.sum()),
        evaluations=sum(run.evaluations for run, _ in runs),
        invalid=sum(run.invalid for run, _ in runs),
        seconds=sum(run.seconds for run, _ in runs),
    )
    return run, improvements


def _differs(values: Floats) -> np.ndarray:
    """Whether each value differs from the one before it; the first one does."""
    return np.concatenate([np.ones(min(len(values), 1), dtype=bool), values[1:] != values[:-1]])
