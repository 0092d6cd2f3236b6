"""The trajectories of the compared runs in one array, cut to the span of the grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from polarbear.classical.common_runs import CommonRuns
from polarbear.errors import ReportError
from polarbear.numerics.arrays import Floats
from polarbear.store import Store


@dataclass(frozen=True)
class Curves:
    """Best-so-far step functions as concatenated points, one run after the other.

    Run ``instance * len(algorithms) + algorithm`` has the points ``starts[run]`` up to
    ``starts[run + 1]``. Its first point is at the start of the span, or where it found its first
    value; the others are improvements.
    """

    instances: tuple[str, ...]
    algorithms: tuple[str, ...]
    span: tuple[float, float]
    starts: np.ndarray
    t: Floats
    y: Floats

    @property
    def runs(self) -> int:
        return len(self.starts) - 1

    @property
    def run_of_point(self) -> np.ndarray:
        return np.repeat(np.arange(self.runs), np.diff(self.starts))

    @property
    def instance_of_point(self) -> np.ndarray:
        return np.asarray(self.run_of_point // len(self.algorithms))

    def on(self, times: Floats, values: Floats, before: float) -> Floats:
        """Each run's value at increasing times: [instance, algorithm, time].

        ``values`` has one number per point; ``before`` is the value before the first point.
        """
        first = np.searchsorted(times, self.t)  # the first time at which a point counts
        seen = np.flatnonzero(first < len(times))
        point = np.full((self.runs, len(times)), -1)
        point[self.run_of_point[seen], first[seen]] = seen  # the last of several before a time
        np.maximum.accumulate(point, axis=1, out=point)
        found = np.where(point >= 0, values[point], before)
        return found.reshape(len(self.instances), len(self.algorithms), len(times))


def read_curves(
    store: Store,
    common: CommonRuns,
    span: tuple[float, float],
    per: Mapping[str, int] | None = None,
) -> Curves:
    """Read the compared runs; ``per`` has the number by which times of an instance are divided."""
    first, last = span
    row = {instance: i for i, instance in enumerate(common.instances)}
    column = {name: a for a, name in enumerate(common.algorithms)}
    runs = len(row) * len(column)
    empty = np.empty(0)
    found: list[tuple[Floats, Floats]] = [(empty, empty)] * runs
    for run, t, y in store.trajectories(common.algorithms):
        if run.instance not in row:
            continue
        if per is not None:
            t = t / per[run.instance]
        start = max(int(np.searchsorted(t, first, side="right")) - 1, 0)
        stop = int(np.searchsorted(t, last, side="right"))
        number = row[run.instance] * len(column) + column[run.algorithm]
        found[number] = (np.maximum(t[start:stop], first), y[start:stop])
    starts = np.concatenate([[0], np.cumsum([len(t) for t, _ in found])])
    curves = Curves(
        common.instances,
        common.algorithms,
        span,
        starts,
        np.concatenate([t for t, _ in found]),
        np.concatenate([y for _, y in found]),
    )
    if not len(curves.y):
        raise ReportError(
            f"no compared run in {store.path} found a value up to {last:g}: there is nothing to "
            "compare"
        )
    if not np.isfinite(curves.y).all():
        bad = curves.y[~np.isfinite(curves.y)][0]
        raise ReportError(
            f"a trajectory in {store.path} has the value {bad}; expected finite numbers: run or "
            "import it again"
        )
    return curves
