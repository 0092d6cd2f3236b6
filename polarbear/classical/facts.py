"""The classical view as records: their fields are the keys of `polarbear compare --json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from polarbear.classical.aocc import Aocc
from polarbear.classical.common_runs import Step
from polarbear.classical.disagreement import Note, agreement, disagreements
from polarbear.classical.eaf import Lead
from polarbear.classical.ert import Ert
from polarbear.classical.view import View
from polarbear.numerics.arrays import Floats
from polarbear.plain import asked
from polarbear.select import Basis
from polarbear.wording import percent, timed

SHOWN_TIMES = 5


@dataclass(frozen=True)
class Targets:
    """Distances from the optimum that count; ``count`` is None where all in between do."""

    easiest: float
    hardest: float
    count: int | None


@dataclass(frozen=True)
class ScaleUsed:
    """How progress was measured; ``targets`` is None where each instance has its own."""

    words: str
    log: bool
    targets: Targets | None


@dataclass(frozen=True)
class Areas:
    """AOCC of an algorithm; ``first`` is how often its mean is the highest of the resamples."""

    mean: float
    low: float | None
    high: float | None
    median: float
    first: float


@dataclass(frozen=True)
class AoccRow:
    """AOCC of an algorithm, with time as it is and over log t."""

    algorithm: str
    mean: float
    low: float | None
    high: float | None
    median: float
    first: float
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
class ErtPoint:
    """ERT to a target: None where no run reached it; an end that is None is not bounded."""

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


@dataclass(frozen=True)
class LeadFacts:
    """Where one of a pair is ahead by the most; ``target`` is known where all have the same."""

    share_of_plane: float
    most: float
    t: float
    progress: float
    target: float | None


@dataclass(frozen=True)
class PairFacts:
    """Where in the plane of times and targets each of a pair is ahead; None where nowhere."""

    a: str
    b: str
    instances: int
    a_ahead: LeadFacts | None
    b_ahead: LeadFacts | None
    words: tuple[str, ...]


@dataclass(frozen=True)
class OtherOrder:
    """A pair, or a first place, that the posterior sees the other way round."""

    about: str
    classical_prefers: str
    posterior_prefers: str
    words: str
    why: str


@dataclass(frozen=True)
class Compared:
    """AOCC and ECDF of every algorithm, on what they rest, and what to know about them.

    ``pair`` and ``ert`` are there where they were asked for. Where there is a posterior,
    ``disagreements`` has what it sees differently, and ``verdict`` says it if that is nothing.
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
    disagreements: tuple[OtherOrder, ...] | None = asked()
    verdict: str | None = asked(beside="disagreements")
    written: tuple[str, ...] = ()


def compared(view: View, store: str) -> Compared:
    """The classical view in numbers; ``store`` is the folder it was read from."""
    order, at = view.aocc.order(), shown_times(view)
    return Compared(
        store=store,
        axis=view.axis,
        instances=len(view.common.instances),
        instances_in_store=view.common.total,
        instances_run_in_full=view.common.full,
        more_in_common=view.common.steps,
        left_out=view.common.left,
        scale=ScaleUsed(view.scale.words, view.scale.log, _targets(view)),
        bootstrap=view.options.bootstrap,
        seed=view.options.seed,
        aocc=tuple(
            AoccRow(
                view.algorithms[a],
                **vars(_areas(view.aocc, a)),
                log_time=_areas(view.aocc_log, a),
            )
            for a in order
        ),
        ecdf=tuple(EcdfRow(view.algorithms[a], _points(view, a, at)) for a in order),
        notes=tuple(view.notes()),
    )


def with_pair(told: Compared, view: View, a: str, b: str) -> Compared:
    """The same with where each of a pair is ahead; ``view`` is of these two alone."""
    one, other = view.eaf_difference(a, b).leads
    pair = PairFacts(
        a=a,
        b=b,
        instances=len(view.common.instances),
        a_ahead=_lead(view, one),
        b_ahead=_lead(view, other),
        words=(lead_words(view, a, b, one), lead_words(view, b, a, other)),
    )
    return replace(told, pair=pair)


def with_ert(told: Compared, view: View, targets: Sequence[float], found: list[Ert]) -> Compared:
    """The same with expected running times, best mean AOCC first in each group."""
    rows = [
        ErtRow(
            one.group,
            view.algorithms[a],
            one.runs,
            tuple(
                ErtPoint(
                    target,
                    _finite(one.ert[a, k]),
                    _finite(one.low[a, k]),
                    _finite(one.high[a, k]),
                    int(one.reached[a, k]),
                )
                for k, target in enumerate(targets)
            ),
        )
        for one in found
        for a in view.aocc.order()
    ]
    return replace(told, ert=tuple(rows))


def with_posterior(told: Compared, view: View, basis: Basis) -> Compared:
    """The same with what the posterior sees differently, or that it does not."""
    notes = disagreements(view, basis)
    return replace(
        told,
        disagreements=tuple(_other_order(note) for note in notes),
        verdict=None if notes else agreement(view, basis),
    )


def shown_times(view: View) -> Floats:
    """A few times of the grid, both ends among them."""
    count = min(SHOWN_TIMES, len(view.grid))
    places = np.unique(np.linspace(0, len(view.grid) - 1, count).round().astype(int))
    return np.asarray(view.grid[places])


def lead_words(view: View, name: str, other: str, lead: Lead | None) -> str:
    """One sentence on where one of a pair is ahead of the other."""
    if lead is None:
        return f"{name} is nowhere ahead of {other}"
    where = (
        f"target {view.scale.target(lead.level):.2g}"
        if view.scale.everywhere_the_same
        else f"progress {lead.level:.2f}"
    )
    return (
        f"{name} is ahead of {other} on {percent(lead.share_of_plane)} of the plane of times and "
        f"targets, by the most at {timed(lead.time, view.axis)} and {where}: attained by "
        f"{percent(lead.own)} of its runs against {percent(lead.other)}"
    )


def _areas(found: Aocc, a: int) -> Areas:
    return Areas(
        float(found.mean[a]),
        _number(found.low[a]),
        _number(found.high[a]),
        float(found.median[a]),
        float(found.first[a]),
    )


def _points(view: View, a: int, at: Floats) -> tuple[EcdfPoint, ...]:
    ecdf = view.ecdf
    return tuple(
        EcdfPoint(
            float(t), float(ecdf.mean[a, k]), _number(ecdf.low[a, k]), _number(ecdf.high[a, k])
        )
        for t, k in zip(at, np.searchsorted(view.times, at), strict=True)
    )


def _lead(view: View, lead: Lead | None) -> LeadFacts | None:
    if lead is None:
        return None
    target = view.scale.target(lead.level) if view.scale.everywhere_the_same else None
    return LeadFacts(lead.share_of_plane, lead.most, lead.time, lead.level, target)


def _targets(view: View) -> Targets | None:
    scale = view.scale
    if not scale.everywhere_the_same:
        return None
    return Targets(float(scale.easiest[0]), float(scale.hardest[0]), scale.count)


def _other_order(note: Note) -> OtherOrder:
    return OtherOrder(note.about, note.a, note.b, note.words, note.why)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
