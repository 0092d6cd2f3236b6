"""The classical view as a record: its fields are the keys of `polarbear compare --json`.

ERT is the expected running time to a target of an algorithm that is restarted until it succeeds:
the time that all runs spent until they reached the target, or until they ended without, divided by
the number of runs that reached it.
"""

from dataclasses import dataclass

import numpy as np

from polarbear.classical.attainment import TAILS, Aocc
from polarbear.classical.common_runs import Step, by_function
from polarbear.classical.disagreement import Disagreement, disagreements
from polarbear.classical.view import EafLead, Scale, View
from polarbear.errors import ReportError
from polarbear.numerics.arrays import Floats, spread
from polarbear.records import Record, optional_key
from polarbear.selection.posterior_source import Basis
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, percent, timed

MAX_TIMES = 5


@dataclass(frozen=True)
class Areas:
    """AOCC of an algorithm; ``first`` is the share of resamples in which its mean is highest."""

    mean: float
    low: float | None
    high: float | None
    median: float
    first: float


@dataclass(frozen=True)
class AoccRow(Areas):
    """AOCC of an algorithm over t, and over log t."""

    algorithm: str
    log_time: Areas


@dataclass(frozen=True)
class EcdfPoint:
    """The share of targets reached by a time, with its interval."""

    t: float
    share: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class EcdfRow:
    """The ECDF of an algorithm at a few times."""

    algorithm: str
    at: tuple[EcdfPoint, ...]


@dataclass(frozen=True)
class PairFacts:
    """The lead of each algorithm of a pair in the plane of times and targets; None if it has none.

    ``words`` has a sentence about each of them.
    """

    a: str
    b: str
    instances: int
    a_ahead: EafLead | None
    b_ahead: EafLead | None
    words: tuple[str, ...]


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


@dataclass(frozen=True, repr=False)
class Compared(Record):
    """AOCC and ECDF of every algorithm, the data they are based on, and notes for readers.

    ``pair`` and ``ert`` are present if they were requested, ``disagreements`` if there is a
    posterior; ``verdict`` states that there are none.
    """

    store: str
    axis: str
    instances: int
    instances_in_store: int
    instances_run_in_full: dict[str, int]
    more_in_common: tuple[Step, ...]
    left_out: tuple[str, ...]
    scale: Scale
    bootstrap: int
    seed: int
    aocc: tuple[AoccRow, ...]
    ecdf: tuple[EcdfRow, ...]
    notes: tuple[str, ...]
    pair: PairFacts | None = optional_key()
    ert: tuple[ErtRow, ...] | None = optional_key()
    disagreements: tuple[Disagreement, ...] | None = optional_key()
    verdict: str | None = None
    written: tuple[str, ...] = ()
    ROWS = "aocc"

    def one_line(self) -> str:
        first = self.aocc[0]
        return (
            f"{first.algorithm} has the highest mean AOCC, {first.mean:.3f}, of "
            f"{counted(len(self.aocc), 'algorithm')} on {counted(self.instances, 'instance')}"
        )

    def remarks(self) -> list[str]:
        return [
            f"scale: {self.scale.words}",
            *(self.pair.words if self.pair is not None else ()),
            *(f"the views disagree: {other.words}" for other in self.disagreements or ()),
            *([self.verdict] if self.verdict else []),
            *self.notes,
        ]


def compared(
    store: StoreOnDisk, view: View, pair: PairFacts | None = None, basis: Basis | None = None
) -> Compared:
    """The classical view in numbers, compared with a posterior if one is given."""
    common = view.common
    order = view.aocc.order()
    targets = view.options.ert
    differing = None
    verdict = None
    if basis is not None:
        differing, verdict = disagreements(view, basis)
    return Compared(
        store=str(store.path),
        axis=view.axis,
        instances=len(common.instances),
        instances_in_store=common.total,
        instances_run_in_full=common.full,
        more_in_common=common.steps,
        left_out=common.left_out,
        scale=view.scale,
        bootstrap=view.options.bootstrap,
        seed=view.options.seed,
        aocc=tuple(_aocc_row(view, a) for a in order),
        ecdf=tuple(EcdfRow(view.algorithms[a], _ecdf_points(view, a)) for a in order),
        notes=tuple(view.notes()),
        pair=pair,
        ert=None if targets is None else expected_running_times(store, view, targets),
        disagreements=None if differing is None else tuple(differing),
        verdict=verdict,
    )


def _aocc_row(view: View, a: int) -> AoccRow:
    areas = _areas(view.aocc, a)
    return AoccRow(
        mean=areas.mean,
        low=areas.low,
        high=areas.high,
        median=areas.median,
        first=areas.first,
        algorithm=view.algorithms[a],
        log_time=_areas(view.aocc_log, a),
    )


def _areas(aocc: Aocc, a: int) -> Areas:
    return Areas(
        mean=float(aocc.mean[a]),
        low=_number(aocc.low[a]),
        high=_number(aocc.high[a]),
        median=float(aocc.median[a]),
        first=float(aocc.first[a]),
    )


def _ecdf_points(view: View, a: int) -> tuple[EcdfPoint, ...]:
    """The ECDF at a few times of the grid, including both ends."""
    chosen = spread(len(view.grid), MAX_TIMES)
    points = []
    for k in np.searchsorted(view.times, view.grid[chosen]):
        point = EcdfPoint(
            t=float(view.times[k]),
            share=float(view.ecdf.mean[a, k]),
            low=_number(view.ecdf.low[a, k]),
            high=_number(view.ecdf.high[a, k]),
        )
        points.append(point)
    return tuple(points)


def pair_facts(view: View, a: str, b: str) -> PairFacts:
    """The lead of each algorithm of a pair, from the classical view of the two."""
    a_ahead = view.lead(a, b)
    b_ahead = view.lead(b, a)
    words = (_lead_words(view, a, b, a_ahead), _lead_words(view, b, a, b_ahead))
    return PairFacts(a, b, len(view.common.instances), a_ahead, b_ahead, words)


def _lead_words(view: View, name: str, other: str, lead: EafLead | None) -> str:
    """A sentence on the lead of an algorithm over another one."""
    if lead is None:
        return f"{name} is nowhere ahead of {other}"
    level = f"progress {lead.progress:.2f}" if lead.target is None else f"target {lead.target:.2g}"
    return (
        f"{name} is ahead of {other} on {percent(lead.share_of_plane)} of the plane of times and "
        f"targets, most at {timed(lead.t, view.axis)} and {level}: attained by "
        f"{percent(lead.attained)} of its runs against {percent(lead.attained_by_other)}"
    )


def expected_running_times(
    store: StoreOnDisk, view: View, targets: tuple[float, ...]
) -> tuple[ErtRow, ...]:
    """ERT on all instances, and for each function and dimension if there are several.

    Algorithms are in the order of their mean AOCC. ``targets`` are distances from the optimum.
    """
    spent, reached = _time_to_targets(store, view, np.array(targets))
    groups: dict[str | None, list[int]] = {None: list(range(len(spent)))}
    functions = by_function(store, view.common.instances)
    if len(functions) > 1:
        groups.update(functions)
    weights = np.ones(len(spent)) if view.common.weights is None else view.common.weights
    rows = []
    for group, members in groups.items():
        hits = reached[members]
        # The first row has all instances, the others are resamples.
        counts = np.concatenate([weights[None], view.drawn.times])[:, members]
        with np.errstate(divide="ignore", invalid="ignore"):
            ert = np.tensordot(counts, spent[members], 1) / np.tensordot(counts, hits, 1)
        n_problems = len({view.common.problems[i] for i in members})
        if n_problems > 1:
            # ERT is infinite in resamples without a hit, which cannot be interpolated, and NaN in
            # those without an instance of the group.
            low = np.nanquantile(ert[1:], TAILS[0], axis=0, method="lower")
            high = np.nanquantile(ert[1:], TAILS[1], axis=0, method="higher")
        else:
            low = np.full(ert.shape[1:], np.nan)
            high = low
        n_reached = hits.sum(axis=0)
        for a in view.aocc.order():
            points = tuple(
                ErtPoint(
                    target=target,
                    ert=_number(ert[0, a, k]),
                    low=_number(low[a, k]),
                    high=_number(high[a, k]),
                    reached=int(n_reached[a, k]),
                )
                for k, target in enumerate(targets)
            )
            rows.append(ErtRow(group, view.algorithms[a], len(members), points))
    return tuple(rows)


def _time_to_targets(store: StoreOnDisk, view: View, targets: Floats) -> tuple[Floats, np.ndarray]:
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
    spent = np.zeros(shape)
    reached = np.zeros(shape, dtype=bool)
    for run, t, y in store.trajectories(view.algorithms):
        if run.instance not in row:
            continue
        i = row[run.instance]
        a = view.index(run.algorithm)
        per = 1 if view.per is None else view.per[run.instance]
        # Values decrease; targets that were not reached get the index behind the last point.
        y = np.minimum.accumulate(y)  # that of a contract algorithm may get worse
        first_point = np.searchsorted(-y, -(view.optima[i] + targets), side="left")
        time_of_hit = np.append(t, np.inf)[first_point] / per
        is_hit = time_of_hit <= end
        reached[i, a] = is_hit
        spent[i, a] = np.where(is_hit, time_of_hit, min(run.reached / per, end))
    return spent, reached


def _number(value: float) -> float | None:
    """A number for JSON; None if it is unknown or unbounded."""
    return float(value) if np.isfinite(value) else None
