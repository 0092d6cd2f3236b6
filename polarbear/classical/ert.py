"""ERT: the expected running time to a target of an algorithm that is restarted until it succeeds.

It is the time that all runs spent until they reached the target, or until they ended without,
divided by the number of runs that reached it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.classical.ecdf_aocc import TAILS
from polarbear.classical.instance_facts import by_function
from polarbear.classical.view import View
from polarbear.errors import ReportError
from polarbear.numerics.arrays import Floats
from polarbear.store import Store


@dataclass(frozen=True)
class ErtPoint:
    """ERT to a target, None if no run reached it; an end of the interval is None if unbounded."""

    target: float
    ert: float | None
    low: float | None
    high: float | None
    reached: int


@dataclass(frozen=True)
class ErtRow:
    """ERT of an algorithm on a group of instances; ``group`` is None for all of them."""

    group: str | None
    algorithm: str
    runs: int
    at: tuple[ErtPoint, ...]


def expected_running_times(
    store: Store, view: View, targets: tuple[float, ...]
) -> tuple[ErtRow, ...]:
    """ERT on all instances, and for each function and dimension if there are several.

    Algorithms are in the order of their mean AOCC. ``targets`` are distances from the optimum.
    """
    spent, reached = _time_to_targets(store, view, np.array(targets))
    groups: dict[str | None, list[int]] = {None: list(range(len(view.common.instances)))}
    functions = by_function(store, view.common.instances)
    if len(functions) > 1:
        groups.update(functions)
    rows = []
    for group, members in groups.items():
        inside = np.zeros((len(spent), 1, 1))
        inside[members] = 1.0
        ert, low, high = _ert(view, spent * inside, reached * inside, members)
        hits = (reached * inside).sum(axis=0).astype(int)
        for a in view.aocc.order():
            points = tuple(
                ErtPoint(target, _finite(mean), _finite(lower), _finite(upper), int(count))
                for target, mean, lower, upper, count in zip(
                    targets, ert[a], low[a], high[a], hits[a], strict=True
                )
            )
            rows.append(ErtRow(group, view.algorithms[a], len(members), points))
    return tuple(rows)


def _time_to_targets(store: Store, view: View, targets: Floats) -> tuple[Floats, np.ndarray]:
    """The time each run spent until a target or its end, and whether it reached the target.

    Both are [instance, algorithm, target] and count times within the grid only.
    """
    if view.optima is None:
        raise ReportError(
            "ERT counts the time to a distance from the best possible value, which is unknown for "
            "this store: add --optimum VALUE"
        )
    row = {instance: i for i, instance in enumerate(view.common.instances)}
    end = view.curves.span[1]
    shape = (len(row), len(view.algorithms), len(targets))
    spent, reached = np.zeros(shape), np.zeros(shape, dtype=bool)
    for run, t, y in store.trajectories(view.algorithms):
        i = row.get(run.instance)
        if i is None:
            continue
        a, per = view.index(run.algorithm), view.divisor(run.instance)
        first = np.searchsorted(-y, -(view.optima[i] + targets), side="left")
        hit = np.append(t, np.inf)[first] / per
        reached[i, a] = hit <= end
        spent[i, a] = np.where(hit <= end, hit, min(run.reached / per, end))
    return spent, reached


def _ert(
    view: View, spent: Floats, reached: Floats, members: list[int]
) -> tuple[Floats, Floats, Floats]:
    """ERT[algorithm, target] with its 95 % interval, which is NaN if there is one problem only."""
    weights = view.common.weights
    each = np.ones(len(spent)) if weights is None else weights
    with np.errstate(divide="ignore", invalid="ignore"):
        ert = np.tensordot(each, spent, 1) / np.tensordot(each, reached, 1)
        resampled = view.drawn.means(spent) / view.drawn.means(reached)
    if len({view.common.problems[i] for i in members}) < 2:
        return ert, np.full_like(ert, np.nan), np.full_like(ert, np.nan)
    # Resamples may be infinite, which cannot be interpolated, or lack the group's instances (NaN).
    low = np.nanquantile(resampled, TAILS[0], axis=0, method="lower")
    high = np.nanquantile(resampled, TAILS[1], axis=0, method="higher")
    return ert, low, high


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
