"""The classical view of a store: ECDF, AOCC and EAF of the same runs, on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polarbear.classical import attainment_function
from polarbear.classical.attainment_function import Eaf, EafDifference
from polarbear.classical.common_runs import CommonRuns, Curves, common_runs, read_curves
from polarbear.classical.ecdf_aocc import Aocc, Ecdf, Resamples, aocc, ecdf, resamples
from polarbear.classical.instance_facts import PER_DIMENSION, dimensions, known_optima
from polarbear.classical.scale import Scale, choose_scale
from polarbear.classical.view_options import ViewOptions
from polarbear.errors import ReportError
from polarbear.numerics.arrays import Floats
from polarbear.problems import SUITES
from polarbear.problems.base import Kind
from polarbear.settings.grid import EVALUATIONS, Budget, Spaced
from polarbear.store import Store
from polarbear.wording import counted, joined

FIGURE_TIMES = 120  # times between those of the grid, enough for the width of a figure
LEVELS = 100  # levels of progress in the EAF


@dataclass(frozen=True)
class View:
    """The data of the classical view; statistics are computed on access.

    ``grid`` are the store's times, ``times`` these and more in between. ``progress`` has one number
    per point of the curves (see `scale`). ``optima`` are the best possible values as stored, None
    if unknown; ``per`` are the numbers by which times of instances were divided, None if they were
    not. ``eliminated`` are algorithms that are left out because the race eliminated them.
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
    eliminated: tuple[str, ...] = ()

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
        between = (np.geomspace if self.log_time else np.linspace)(first, last, FIGURE_TIMES)
        if self.axis == EVALUATIONS:
            between = np.round(between)
        return np.union1d(self.grid, between[(between > first) & (between < last)])

    def shares_at(self, times: Floats) -> Floats:
        """The share of targets each run had reached: [instance, algorithm, time]."""
        return self.curves.on(times, self.scale.share(self.progress), 0.0)

    @cached_property
    def shares(self) -> Floats:
        return self.shares_at(self.times)

    @cached_property
    def ecdf(self) -> Ecdf:
        return ecdf(self.times, self.shares, self.drawn)

    @cached_property
    def aocc(self) -> Aocc:
        """The area over t: every moment has the same weight."""
        return aocc(self.curves, self.scale.share(self.progress), self.drawn, log_time=False)

    @cached_property
    def aocc_log(self) -> Aocc:
        """The area over log t: every order of magnitude has the same weight."""
        return aocc(self.curves, self.scale.share(self.progress), self.drawn, log_time=True)

    @cached_property
    def eaf(self) -> Eaf:
        levels = np.arange(1, LEVELS + 1) / LEVELS
        progress = self.curves.on(self.times, self.progress, -np.inf)
        return attainment_function.eaf(progress, self.times, levels, self.common.weights)

    def eaf_difference(self, a: str, b: str) -> EafDifference:
        scaled = np.log(self.times) if self.log_time else self.times
        weights = np.gradient(scaled) if len(scaled) > 1 else np.ones(1)
        pair = (self.index(a), self.index(b))
        return attainment_function.difference(self.eaf, pair, weights, self.scale.target)

    def contours(self, name: str) -> dict[float, Floats]:
        """For 25, 50 and 75 % of an algorithm's runs, the points (t, level) they have attained."""
        return self.eaf.contours[self.index(name)]

    def divisor(self, instance: str) -> int:
        return 1 if self.per is None else self.per[instance]

    def index(self, name: str) -> int:
        return self.algorithms.index(name)

    def notes(self) -> list[str]:
        """Notes for readers on what the numbers are based on."""
        notes = self.common.notes()
        if self.eliminated:
            notes.append(
                "the Pareto set of the race is compared, which has more instances in common; "
                f"`--algorithms all` includes {joined(self.eliminated)}"
            )
        if (self.shares[:, :, -1] == 0).all():
            notes.append("no run reaches even the easiest target: widen --targets")
        elif (self.shares[:, :, 0] == 1).all():
            notes.append("every run has reached all targets from the start: make --targets harder")
        equal = int((self.scale.easiest == self.scale.hardest).sum())
        if equal:
            notes.append(
                f"on {equal} of {counted(len(self.scale.easiest), 'instance')} all values are "
                "equal: every algorithm has reached all targets there"
            )
        if len(self.grid) == 1:
            notes.append("the grid has one time only: AOCC is the share of targets reached by then")
        return notes


def view(
    store: Store, algorithms: Sequence[str] | None = None, options: ViewOptions | None = None
) -> View:
    """Read a store's runs for the classical view.

    One pass over the trajectories; memory and time are linear in the points of the compared runs.
    """
    options = options or ViewOptions()
    _check_values_are_comparable(store)
    budget = Budget.model_validate(store.config["budget"])
    per = dimensions(store, budget.axis) if options.per_dimension else None
    # The end of the grid is known for the largest dimension only.
    times = budget.times if not per else budget.times / max(per.values())
    span = (float(times[0]), float(times[-1]))
    common = common_runs(store, span[1], algorithms, per)
    curves = read_curves(store, common, span, per)
    optima = known_optima(store, common.instances, options.optimum)
    scale = choose_scale(curves, options, optima, store.maximise)
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


def _check_values_are_comparable(store: Store) -> None:
    suite = store.config["instances"]["suite"]
    if suite in SUITES and SUITES[suite].kind is Kind.SCORES:
        raise ReportError(
            f"the suite '{suite}' draws rankings only; differences of its values have no meaning, "
            "so there is no classical view"
        )
    if store.config.get("trajectory") == "last":
        raise ReportError(
            "the classical view needs best values so far; with `trajectory: last` values can get "
            "worse again, so there is none"
        )
