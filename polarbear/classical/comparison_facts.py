"""The classical view as a record: its fields are the keys of `polarbear compare --json`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.classical.attainment_function import Lead
from polarbear.classical.common_runs import Step
from polarbear.classical.disagreement import Disagreement, disagreements
from polarbear.classical.ecdf_aocc import Aocc
from polarbear.classical.ert import ErtRow, expected_running_times
from polarbear.classical.view import View
from polarbear.plain import Record, asked, html_table
from polarbear.selection.posterior_source import Basis
from polarbear.store import Store
from polarbear.wording import counted, percent, timed

MAX_TIMES = 5


@dataclass(frozen=True)
class Targets:
    """Targets as distances from the optimum; ``count`` is None if all in between count."""

    easiest: float
    hardest: float
    count: int | None


@dataclass(frozen=True)
class ScaleUsed:
    """The scale of progress; ``targets`` is None if instances have different ones."""

    words: str
    log: bool
    targets: Targets | None


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
    """Where in the plane of times and targets each of a pair leads; None if nowhere."""

    a: str
    b: str
    instances: int
    a_ahead: Lead | None
    b_ahead: Lead | None
    words: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Compared(Record):
    """AOCC and ECDF of every algorithm, the data they are based on, and notes for readers.

    ``pair`` and ``ert`` are present if they were requested. If there is a posterior, it has
    ``disagreements``, or ``verdict`` states that there are none.
    """

    store: str
    axis: str
    instances: int
    instances_in_store: int
    instances_run_in_full: dict[str, int]
    more_in_common: tuple[Step, ...]
    left_out: tuple[str, ...]
    scale: ScaleUsed
    bootstrap: int
    seed: int
    aocc: tuple[AoccRow, ...]
    ecdf: tuple[EcdfRow, ...]
    notes: tuple[str, ...]
    pair: PairFacts | None = asked()
    ert: tuple[ErtRow, ...] | None = asked()
    disagreements: tuple[Disagreement, ...] | None = asked()
    verdict: str | None = asked(beside="disagreements")
    written: tuple[str, ...] = ()

    def one_line(self) -> str:
        first = self.aocc[0]
        return (
            f"{first.algorithm} has the highest mean AOCC, {first.mean:.3f}, of "
            f"{counted(len(self.aocc), 'algorithm')} on {counted(self.instances, 'instance')}"
        )

    def _repr_html_(self) -> str:
        rows = [
            [row.algorithm, *(f"{value:.3f}" for value in (row.mean, row.median, row.first))]
            for row in self.aocc
        ]
        lines = [
            f"scale: {self.scale.words}",
            *(self.pair.words if self.pair is not None else ()),
            *(f"the views disagree: {other.words}" for other in self.disagreements or ()),
            *([self.verdict] if self.verdict else []),
            *(f"note: {note}" for note in self.notes),
        ]
        columns = ["algorithm", "mean AOCC", "median", "first in resamples"]
        return html_table(self.one_line(), columns, rows, lines)


def compared(
    store: Store, view: View, pair: PairFacts | None = None, basis: Basis | None = None
) -> Compared:
    """The classical view in numbers, compared with a posterior if one is given."""
    common, scale, order = view.common, view.scale, view.aocc.order()
    targets = Targets(float(scale.easiest[0]), float(scale.hardest[0]), scale.count)
    ert = view.options.ert
    found, verdict = (None, None) if basis is None else disagreements(view, basis)
    return Compared(
        store=str(store.path),
        axis=view.axis,
        instances=len(common.instances),
        instances_in_store=common.total,
        instances_run_in_full=common.full,
        more_in_common=common.steps,
        left_out=common.left,
        scale=ScaleUsed(scale.words, scale.log, targets if scale.has_common_targets else None),
        bootstrap=view.options.bootstrap,
        seed=view.options.seed,
        aocc=tuple(
            AoccRow(*_areas(view.aocc, a), view.algorithms[a], Areas(*_areas(view.aocc_log, a)))
            for a in order
        ),
        ecdf=tuple(EcdfRow(view.algorithms[a], _ecdf_points(view, a)) for a in order),
        notes=tuple(view.notes()),
        pair=pair,
        ert=None if ert is None else expected_running_times(store, view, ert),
        disagreements=None if found is None else tuple(found),
        verdict=verdict,
    )


def _areas(found: Aocc, a: int) -> tuple[float, float | None, float | None, float, float]:
    low, high = _number(found.low[a]), _number(found.high[a])
    return float(found.mean[a]), low, high, float(found.median[a]), float(found.first[a])


def _ecdf_points(view: View, a: int) -> tuple[EcdfPoint, ...]:
    """The ECDF at a few times of the grid, including both ends."""
    count = min(MAX_TIMES, len(view.grid))
    chosen = np.unique(np.linspace(0, len(view.grid) - 1, count).round().astype(int))
    ecdf = view.ecdf
    return tuple(
        EcdfPoint(
            float(view.times[k]),
            float(ecdf.mean[a, k]),
            _number(ecdf.low[a, k]),
            _number(ecdf.high[a, k]),
        )
        for k in np.searchsorted(view.times, view.grid[chosen])
    )


def pair_facts(view: View, a: str, b: str) -> PairFacts:
    """Where each of a pair leads, from the classical view of the two."""
    one, other = view.eaf_difference(a, b).leads
    words = (_lead_words(view, a, b, one), _lead_words(view, b, a, other))
    return PairFacts(a, b, len(view.common.instances), one, other, words)


def _lead_words(view: View, name: str, other: str, lead: Lead | None) -> str:
    """One sentence on where one of a pair leads the other."""
    if lead is None:
        return f"{name} is nowhere ahead of {other}"
    level = f"progress {lead.progress:.2f}" if lead.target is None else f"target {lead.target:.2g}"
    return (
        f"{name} is ahead of {other} on {percent(lead.share_of_plane)} of the plane of times and "
        f"targets, most at {timed(lead.t, view.axis)} and {level}: attained by "
        f"{percent(lead.attained)} of its runs against {percent(lead.attained_by_other)}"
    )


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
