"""ERT: how much running time it takes, on average, until a target is reached.

What all runs spent until they reached it, or until they ended without, divided by the number of
runs that reached it: the mean time to the target of an algorithm that is started again and again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.classical.bootstrap import LEVEL
from polarbear.classical.instance_facts import by_function
from polarbear.classical.view import View
from polarbear.errors import ReportError
from polarbear.numerics.arrays import Floats
from polarbear.store import Store


@dataclass(frozen=True)
class Spent:
    """What each run spent until it reached a target or ended: spent[instance, algorithm, target].

    ``reached`` says where it did. Both count within the grid.
    """

    spent: Floats
    reached: np.ndarray


@dataclass(frozen=True)
class Ert:
    """ERT[algorithm, target] on a group of instances, infinite where no run reached the target.

    ``group`` is None for all instances together. Ends of the interval are NaN where one problem
    is all there is, and infinite where too many resamples hold no run that reached the target.
    """

    group: str | None
    ert: Floats
    low: Floats
    high: Floats
    reached: np.ndarray
    runs: int


def spent_until(store: Store, view: View, targets: Floats) -> Spent:
    """Look up when each compared run reached each distance from the optimum."""
    if view.optima is None:
        raise ReportError(
            "ERT counts the time to a distance from the best possible value, which this store "
            "does not know: give it with --optimum"
        )
    place = {instance: i for i, instance in enumerate(view.common.instances)}
    column = {name: a for a, name in enumerate(view.algorithms)}
    last = view.curves.span[1]
    shape = (len(place), len(column), len(targets))
    spent, reached = np.zeros(shape), np.zeros(shape, dtype=bool)
    for run, t, y in store.trajectories(view.algorithms):
        i = place.get(run["instance"])
        if i is None:
            continue
        a, per = column[run["algorithm"]], view.divisor(run["instance"])
        first = np.searchsorted(-y, -(view.optima[i] + targets), side="left")
        hit = np.append(t, np.inf)[first] / per
        reached[i, a] = hit <= last
        spent[i, a] = np.where(hit <= last, hit, min(run["reached"] / per, last))
    return Spent(spent, reached)


def expected_running_times(store: Store, view: View, targets: Floats) -> list[Ert]:
    """On all instances together, then for each function and dimension where there are several."""
    found = spent_until(store, view, targets)
    parts: dict[str | None, list[int]] = {None: list(range(len(view.common.instances)))}
    functions = by_function(store, view.common.instances)
    if len(functions) > 1:
        parts.update(functions)
    return [_ert(view, found, group, places) for group, places in parts.items()]


def _ert(view: View, found: Spent, group: str | None, places: list[int]) -> Ert:
    inside = np.zeros((len(found.spent), 1, 1))
    inside[list(places)] = 1.0
    spent, reached = found.spent * inside, found.reached * inside
    weights = view.common.weights
    each = np.ones_like(inside) if weights is None else weights[:, None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        ert = (each * spent).sum(axis=0) / (each * reached).sum(axis=0)
        again = view.drawn.means(spent) / view.drawn.means(reached)
    several = len({view.common.problems[i] for i in places}) > 1
    low, high = _interval(again) if several else (np.full_like(ert, np.nan),) * 2
    return Ert(group, ert, low, high, reached.sum(axis=0).astype(int), len(places))


def _interval(again: Floats) -> tuple[Floats, Floats]:
    """The central 95 % of resamples; those without an instance of the group say nothing.

    Between a number and infinity lies nothing, so each end is one of the resamples.
    """
    tail = (1 - LEVEL) / 2
    low = np.nanquantile(again, tail, axis=0, method="lower")
    high = np.nanquantile(again, 1 - tail, axis=0, method="higher")
    return low, high
