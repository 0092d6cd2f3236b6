"""The classical view of a store: ECDF, AOCC and EAF of the same runs, on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polarbear.classical import eaf as attaining
from polarbear.classical.aocc import Aocc, aocc
from polarbear.classical.bootstrap import Resamples, resamples
from polarbear.classical.common_runs import CommonRuns, common_runs
from polarbear.classical.curves import Curves, read_curves
from polarbear.classical.eaf import Eaf, EafDifference
from polarbear.classical.ecdf import Ecdf, ecdf
from polarbear.classical.instance_facts import PER_DIMENSION, dimensions, known_optima
from polarbear.classical.options import ViewOptions
from polarbear.classical.scale import Scale, choose_scale
from polarbear.errors import ReportError
from polarbear.numerics.arrays import Floats
from polarbear.problems import SUITES
from polarbear.problems.base import Kind
from polarbear.settings.grid import EVALUATIONS, Budget, Spaced
from polarbear.store import Store
from polarbear.wording import counted, joined

FINE = 120  # times that are looked at beside the grid's, as many as a figure has room for
LEVELS = 100  # targets of the plane


@dataclass(frozen=True)
class View:
    """Everything the classical view says is computed from these, when it is asked for.

    ``grid`` are the store's times, ``times`` these and more in between: runs are known there, too.
    ``progress`` has one number a point of the curves (scale.py says what it is). ``optima`` are the
    best possible values as stored, None where unknown; ``per`` is what times of an instance were
    divided by, None where they are as they were.
    """

    common: CommonRuns
    curves: Curves
    scale: Scale
    options: ViewOptions
    axis: str
    grid: Floats
    log_time: bool
    progress: Floats
    optima: Floats | None = None
    per: Mapping[str, int] | None = None
    put_out: tuple[str, ...] = ()  # by the race, and for that left out here

    @property
    def algorithms(self) -> tuple[str, ...]:
        return self.common.algorithms

    @cached_property
    def drawn(self) -> Resamples:
        common, options = self.common, self.options
        return resamples(common.problems, options.bootstrap, options.seed, common.weights)

    @cached_property
    def times(self) -> Floats:
        first, last = self.curves.span
        between = (np.geomspace if self.log_time else np.linspace)(first, last, FINE)
        if self.axis == EVALUATIONS:
            between = np.round(between)
        inside = between[(between > first) & (between < last)]
        return np.union1d(self.grid, inside)

    @cached_property
    def shares(self) -> Floats:
        """The share of targets each run had reached: [instance, algorithm, time]."""
        return self.curves.on(self.times, self.scale.share(self.progress), 0.0)

    @cached_property
    def ecdf(self) -> Ecdf:
        return ecdf(self.times, self.shares, self.drawn)

    @cached_property
    def aocc(self) -> Aocc:
        """The area with time as it is: every moment counts the same."""
        return aocc(self.curves, self.scale.share(self.progress), self.drawn, log_time=False)

    @cached_property
    def aocc_log(self) -> Aocc:
        """The area over log t: every order of magnitude counts the same."""
        return aocc(self.curves, self.scale.share(self.progress), self.drawn, log_time=True)

    @cached_property
    def eaf(self) -> Eaf:
        levels = np.arange(1, LEVELS + 1) / LEVELS
        held = self.curves.on(self.times, self.progress, -np.inf)
        return attaining.counted(held, self.times, levels, self.common.weights)

    def eaf_difference(self, a: str, b: str) -> EafDifference:
        pair = (self.index(a), self.index(b))
        scaled = np.log(self.times) if self.log_time else self.times
        weights = np.gradient(scaled) if len(scaled) > 1 else np.ones(1)
        return attaining.difference(self.eaf, pair, (a, b), weights)

    def contours(self, name: str) -> dict[float, Floats]:
        return attaining.contours(self.curves, self.progress, self.index(name))

    def divisor(self, instance: str) -> int:
        return 1 if self.per is None else self.per[instance]

    def index(self, name: str) -> int:
        return self.algorithms.index(name)

    def notes(self) -> list[str]:
        """What a reader should know before trusting the numbers."""
        made = self.common.notes()
        if self.put_out:
            made.append(
                "of a race the Pareto set is compared, which has more instances in common; "
                f"`--algorithms all` takes {joined(self.put_out)} in, too"
            )
        last = self.shares[:, :, -1]
        if (last == 0).all():
            made.append("no run reaches even the easiest target: widen --targets")
        elif (self.shares[:, :, 0] == 1).all():
            made.append("every run has reached all targets from the start: make --targets harder")
        equal = int((self.scale.easiest == self.scale.hardest).sum())
        if equal:
            made.append(
                f"on {equal} of {counted(len(self.scale.easiest), 'instance')} all values are "
                "equal: every algorithm has reached all targets there"
            )
        if len(self.grid) == 1:
            made.append("the grid has one time only: AOCC is the share of targets reached by then")
        return made


def view(
    store: Store, algorithms: Sequence[str] | None = None, options: ViewOptions | None = None
) -> View:
    """Read a store's runs for the classical view.

    One pass over the trajectories; memory and time are linear in the points of the compared runs.
    """
    options = options or ViewOptions()
    _check_values_mean_something(store)
    budget = Budget.model_validate(store.config["budget"])
    per = dimensions(store, budget.axis) if options.per_dimension else None
    # Of the largest dimension the end of the grid is all that is known.
    times = budget.times if not per else budget.times / max(per.values())
    span = (float(times[0]), float(times[-1]))
    common = common_runs(store, span[1], algorithms, per)
    curves = read_curves(store, common, span, per)
    optima = known_optima(store, common.instances, options.optimum)
    maximised = bool(store.config["instances"].get("maximise"))
    scale = choose_scale(curves, options, optima, maximised)
    return View(
        common,
        curves,
        scale,
        options,
        budget.axis if per is None else PER_DIMENSION,
        times,
        isinstance(budget.grid, Spaced) and budget.grid.spacing == "log",
        scale.progress(curves.y, curves.instance_of_point),
        optima,
        per,
    )


def _check_values_mean_something(store: Store) -> None:
    suite = store.config["instances"]["suite"]
    if suite in SUITES and SUITES[suite].kind is Kind.SCORES:
        raise ReportError(
            f"the suite '{suite}' draws only who is ahead of whom; how far ahead means nothing "
            "there, so there is no classical view"
        )
    if store.config.get("trajectory") == "last":
        raise ReportError(
            "the classical view is of best values so far; with `trajectory: last` values can get "
            "worse again, so there is none"
        )
