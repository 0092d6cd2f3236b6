"""The classical view of a store: ECDF, AOCC and EAF of the same runs, on one scale.

The scale makes values of different instances comparable. Progress is 0 at the easiest target and 1
at the hardest; it is negative before the easiest one is reached and above 1 beyond the hardest.
Share is the share of targets reached.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polarbear.classical import attainment, common_runs
from polarbear.classical.attainment import EAF_LEVELS, Aocc, Eaf, Ecdf, Resamples
from polarbear.classical.view_options import AUTO, USUAL_TARGETS, TargetRange, ViewOptions
from polarbear.errors import ReportError
from polarbear.numerics.arrays import Floats
from polarbear.problems import SUITES
from polarbear.problems.base import Kind
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, joined

SMALLEST_DISTANCE = 1e-8  # to a known optimum; closer ones count as this
LOG_SCALE_RATIO = 1e3  # of the worst to the best value, from which on the scale is logarithmic
OPTIMUM_TOLERANCE = 1e-8  # by which a value may be better than the optimum, relative to its size
FIGURE_TIMES = 120  # times between those of the grid, enough for the width of a figure


@dataclass(frozen=True)
class Scale:
    """Targets of each instance, as distances from ``origin``; without ``count`` all in between."""

    origin: Floats
    easiest: Floats
    hardest: Floats
    log: bool
    count: int | None
    has_common_targets: bool
    words: str

    def to_plain(self) -> dict[str, object]:
        """The keys of `polarbear compare --json`; no targets if instances have different ones."""
        ends = {"easiest": float(self.easiest[0]), "hardest": float(self.hardest[0])}
        targets = {**ends, "count": self.count} if self.has_common_targets else None
        return {"words": self.words, "log": self.log, "targets": targets}

    def progress(self, y: Floats, instance: np.ndarray) -> Floats:
        """The progress of each value; ``instance`` has the instance of each."""
        distance = y - self.origin[instance]
        first, last = self.easiest[instance], self.hardest[instance]
        if self.log:
            with np.errstate(divide="ignore"):
                distance = np.log10(np.maximum(distance, 0.0))
            first, last = np.log10(first), np.log10(last)
        span = first - last
        with np.errstate(invalid="ignore", divide="ignore"):
            made = (first - distance) / span
        # If all values of an instance are equal, there is one target, and all reach it.
        return np.asarray(np.where(span > 0, made, np.where(distance <= first, 1.0, -np.inf)))

    def share(self, progress: Floats) -> Floats:
        """The share of targets reached."""
        if self.count is None:
            return np.clip(progress, 0.0, 1.0)
        targets = np.linspace(0.0, 1.0, self.count)
        return np.searchsorted(targets, progress, side="right") / self.count

    def target(self, level: float) -> float | None:
        """The distance at a level of progress; None if instances have different targets."""
        if not self.has_common_targets:
            return None
        first, last = float(self.easiest[0]), float(self.hardest[0])
        return first ** (1 - level) * last**level if self.log else first + level * (last - first)


@dataclass(frozen=True)
class Lead:
    """Where in the plane of times and levels one algorithm leads another.

    ``most`` is the largest difference, of ``attained`` and ``attained_by_other``, at ``t`` and
    ``progress``; ``target`` is that distance if all instances have the same targets.
    """

    share_of_plane: float
    most: float
    t: float
    progress: float
    target: float | None
    attained: float
    attained_by_other: float


@dataclass(frozen=True)
class View:
    """The data of the classical view; statistics are computed on access.

    ``grid`` are the store's times, ``times`` these and more in between. ``progress`` has one number
    per point of the curves. ``optima`` are the best possible values as stored, None if unknown;
    ``per`` are the numbers by which times of instances were divided, None if they were not.
    ``eliminated`` are algorithms that are left out because the race eliminated them.
    """

    common: common_runs.CommonRuns
    curves: common_runs.Curves
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
        asked, common = self.options, self.common
        return attainment.resamples(common.problems, asked.bootstrap, asked.seed, common.weights)

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
        return attainment.ecdf(self.shares, self.drawn)

    @cached_property
    def aocc(self) -> Aocc:
        """The area over t: every moment has the same weight."""
        return attainment.aocc(self.curves, self.scale.share(self.progress), self.drawn)

    @cached_property
    def aocc_log(self) -> Aocc:
        """The area over log t: every order of magnitude has the same weight."""
        return attainment.aocc(self.curves, self.scale.share(self.progress), self.drawn, True)

    @cached_property
    def eaf(self) -> Eaf:
        progress = self.curves.on(self.times, self.progress, -np.inf)
        return attainment.eaf(progress, self.times, self.common.weights)

    def eaf_difference(self, a: str, b: str) -> Floats:
        """The difference[level, time] of the EAFs of a pair, positive where the first leads."""
        one, other = (self.eaf.attained[self.index(name)] for name in (a, b))
        return np.asarray(one - other)

    def lead(self, a: str, b: str) -> Lead | None:
        """Where in the plane of times and levels ``a`` leads ``b``; None if nowhere."""
        ahead = self.eaf_difference(a, b)
        if not (ahead > 0).any():
            return None
        scaled = np.log(self.times) if self.log_time else self.times
        weights = np.gradient(scaled) if len(scaled) > 1 else np.ones(1)
        k, time = np.unravel_index(int(ahead.argmax()), ahead.shape)
        level = float(EAF_LEVELS[k])
        return Lead(
            float(((ahead > 0).mean(axis=0) * weights).sum() / weights.sum()),
            float(ahead[k, time]),
            float(self.times[time]),
            level,
            self.scale.target(level),
            float(self.eaf.attained[self.index(a), k, time]),
            float(self.eaf.attained[self.index(b), k, time]),
        )

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
    store: StoreOnDisk, algorithms: Sequence[str] | None = None, options: ViewOptions | None = None
) -> View:
    """Read a store's runs for the classical view.

    One pass over the trajectories; memory and time are linear in the points of the compared runs.
    """
    options = options or ViewOptions()
    suite = store.settings.instances.suite
    if suite in SUITES and SUITES[suite].kind is Kind.SCORES:
        raise ReportError(
            f"the suite '{suite}' draws rankings only; differences of its values have no meaning, "
            "so there is no classical view"
        )
    if store.settings.trajectory == "last":
        raise ReportError(
            "the classical view needs best values so far; with `trajectory: last` values can get "
            "worse again, so there is none"
        )
    budget = store.settings.budget
    per = common_runs.dimensions(store, budget.axis) if options.per_dimension else None
    # The end of the grid is known for the largest dimension only.
    times = budget.times if not per else budget.times / max(per.values())
    span = (float(times[0]), float(times[-1]))
    common = common_runs.common_runs(store, span[1], algorithms, per)
    curves = common_runs.read_curves(store, common, span, per)
    optima = common_runs.known_optima(store, common.instances, options.optimum)
    scale = choose_scale(curves, options, optima, store.maximise)
    return View(
        common,
        curves,
        scale,
        options,
        budget.axis if per is None else common_runs.PER_DIMENSION,
        times,
        budget.suits_log_axis,
        scale.progress(curves.y, curves.instance_of_point),
        optima,
        per,
    )


def choose_scale(
    curves: common_runs.Curves, options: ViewOptions, optima: Floats | None, maximised: bool = False
) -> Scale:
    """The scale of the options; by default the usual targets if optima are known, else values seen.

    ``optima`` are the best possible values of the instances as stored; None if unknown.
    """
    targets = options.targets
    if optima is not None:
        _check_optima(curves, optima, maximised)
    if isinstance(targets, TargetRange):
        if optima is None:
            raise ReportError(
                "targets are distances from the best possible value, which is unknown for this "
                "store: add --optimum VALUE, or use --targets seen"
            )
        return _fixed(optima, targets, options)
    if targets == AUTO and optima is not None:
        return _fixed(optima, USUAL_TARGETS, options)
    return _seen(curves, optima, options)


def _fixed(optima: Floats, targets: TargetRange, options: ViewOptions) -> Scale:
    log = options.scale != "linear"
    if log and targets.hardest == 0:
        raise ReportError(
            "a logarithmic scale has no target at distance 0: name the hardest one, as in "
            "1e2:1e-8, or add --scale linear"
        )
    easiest, hardest = (np.full(len(optima), end) for end in (targets.easiest, targets.hardest))
    how = "evenly in the logarithm" if log else "evenly"
    many = "all in between count" if targets.count is None else f"{targets.count} of them"
    words = (
        f"targets are distances from the optimum, {targets.easiest:g} down to "
        f"{targets.hardest:g}, spaced {how} ({many}), the same on every instance; values "
        "beyond them count as the nearest target"
    )
    return Scale(optima, easiest, hardest, log, targets.count, True, words)


def _seen(curves: common_runs.Curves, optima: Floats | None, options: ViewOptions) -> Scale:
    best, worst = np.full(len(curves.instances), np.inf), np.full(len(curves.instances), -np.inf)
    np.minimum.at(best, curves.instance_of_point, curves.y)
    np.maximum.at(worst, curves.instance_of_point, curves.y)
    found = np.isfinite(best)
    least, largest = best[found], worst[found]
    if (least == largest).all():
        raise ReportError("on each instance all values are equal: there is nothing to compare")
    if optima is None and options.scale == "log" and least.min() <= 0:
        raise ReportError(
            f"a logarithmic scale needs values above 0, found {least.min():g}: add "
            "--optimum VALUE, or use --scale linear"
        )
    is_wide = least.min() > 0 and np.median(largest / least) >= LOG_SCALE_RATIO
    log = options.scale == "log" or (options.scale == "auto" and (optima is not None or is_wide))
    origin, of = np.zeros(len(best)), "the logarithm of the value" if log else "the value"
    smallest = -np.inf
    if log and optima is not None:
        origin, of, smallest = optima, "the log-distance to the optimum", SMALLEST_DISTANCE
    easiest, hardest = (
        np.where(found, np.maximum(y - origin, smallest), 1.0) for y in (worst, best)
    )
    words = (
        f"on each instance {of} is mapped to the span from the worst (0) to the best (1) of the "
        "compared algorithms: the numbers depend on which are compared, and a narrow span counts "
        "as much as a wide one"
    )
    return Scale(origin, easiest, hardest, log, None, False, words)


def _check_optima(curves: common_runs.Curves, optima: Floats, maximised: bool) -> None:
    at = optima[curves.instance_of_point]
    below = curves.y < at - OPTIMUM_TOLERANCE * np.maximum(1.0, np.abs(at))
    if below.any():
        sign = -1 if maximised else 1
        worst = int(np.argmin(np.where(below, curves.y - at, 0.0)))
        instance = curves.instances[int(curves.instance_of_point[worst])]
        raise ReportError(
            f"the value {sign * curves.y[worst]:g} on {instance} is better than the best possible, "
            f"{sign * at[worst]:g}: correct --optimum, or leave it out and use --targets seen"
        )
