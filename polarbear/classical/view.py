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

SMALLEST_DISTANCE = 1e-8  # Values that are closer to a known optimum count as this far from it.
LOG_SCALE_RATIO = 1e3  # The scale is logarithmic if worst / best value is at least this.
OPTIMUM_TOLERANCE = 1e-8  # A value may be better than the optimum by this share of its size.
FIGURE_TIMES = 120  # Times that are added to those of the grid, for smooth lines in figures.


@dataclass(frozen=True)
class Scale:
    """The targets of each instance, as distances from ``origin``.

    There are ``count`` targets from the easiest to the hardest; without ``count``, every distance
    between the two is a target.
    """

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
        easiest = self.easiest[instance]
        hardest = self.hardest[instance]
        if self.log:
            with np.errstate(divide="ignore"):
                distance = np.log10(np.maximum(distance, 0.0))
            easiest = np.log10(easiest)
            hardest = np.log10(hardest)
        span = easiest - hardest
        with np.errstate(invalid="ignore", divide="ignore"):
            progress = (easiest - distance) / span
        # If all values of an instance are equal, there is one target, and all reach it.
        at_single_target = np.where(distance <= easiest, 1.0, -np.inf)
        return np.asarray(np.where(span > 0, progress, at_single_target))

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
        easiest = float(self.easiest[0])
        hardest = float(self.hardest[0])
        if self.log:
            return float(easiest ** (1 - level) * hardest**level)
        return easiest + level * (hardest - easiest)


@dataclass(frozen=True)
class EafLead:
    """The part of the plane of times and levels in which one algorithm's EAF exceeds another's.

    ``most`` is the largest difference of ``attained`` and ``attained_by_other``, which is at ``t``
    and ``progress``; ``target`` is the distance there if all instances have the same targets.
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
    ``eliminated`` are algorithms that are left out because the race eliminated them, ``dominated``
    is the number of those left out because another one is better at each time, ``contracts`` are
    those that were run with several budgets.
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
    dominated: int = 0
    contracts: tuple[str, ...] = ()

    @property
    def algorithms(self) -> tuple[str, ...]:
        return self.common.algorithms

    @cached_property
    def drawn(self) -> Resamples:
        return attainment.resamples(
            self.common.problems, self.options.bootstrap, self.options.seed, self.common.weights
        )

    @cached_property
    def times(self) -> Floats:
        first, last = self.curves.span
        if self.log_time:
            between = np.geomspace(first, last, FIGURE_TIMES)
        else:
            between = np.linspace(first, last, FIGURE_TIMES)
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
        return np.asarray(self.eaf.attained[self.index(a)] - self.eaf.attained[self.index(b)])

    def lead(self, a: str, b: str) -> EafLead | None:
        """The lead of ``a`` over ``b``; None if it is nowhere ahead."""
        difference = self.eaf_difference(a, b)
        is_ahead = difference > 0
        if not is_ahead.any():
            return None
        scaled_times = np.log(self.times) if self.log_time else self.times
        weights = np.gradient(scaled_times) if len(scaled_times) > 1 else np.ones(1)
        k, time = np.unravel_index(int(difference.argmax()), difference.shape)
        level = float(EAF_LEVELS[k])
        return EafLead(
            share_of_plane=float((is_ahead.mean(axis=0) * weights).sum() / weights.sum()),
            most=float(difference[k, time]),
            t=float(self.times[time]),
            progress=level,
            target=self.scale.target(level),
            attained=float(self.eaf.attained[self.index(a), k, time]),
            attained_by_other=float(self.eaf.attained[self.index(b), k, time]),
        )

    def index(self, name: str) -> int:
        return self.algorithms.index(name)

    def notes(self) -> list[str]:
        """Notes for readers on what the numbers are based on."""
        notes = self.common.notes()
        if self.contracts:
            names = joined(self.contracts)
            notes.append(
                f"{names}: of several runs with their own budgets the best so far counts here, "
                "which is more than a run reaches that is given this budget; rankings do not do so"
            )
        if self.eliminated:
            notes.append(
                "the algorithms that the race has not eliminated are compared, which have more "
                "instances in common; "
                f"`--algorithms all` includes {joined(self.eliminated)}"
            )
        if self.dominated:
            notes.append(
                f"{counted(len(self.algorithms), 'algorithm')} compared; {self.dominated} others, "
                "for which another one is better at each time, are left out: `--algorithms all` "
                "includes them"
            )
        if (self.shares[:, :, -1] == 0).all():
            notes.append("no run reaches even the easiest target: widen --targets")
        elif (self.shares[:, :, 0] == 1).all():
            notes.append("every run has reached all targets from the start: make --targets harder")
        n_equal = int((self.scale.easiest == self.scale.hardest).sum())
        if n_equal:
            notes.append(
                f"on {n_equal} of {counted(len(self.scale.easiest), 'instance')} all values are "
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
        common=common,
        curves=curves,
        scale=scale,
        options=options,
        axis=budget.axis if per is None else common_runs.PER_DIMENSION,
        grid=times,
        log_time=budget.suits_log_axis,
        progress=scale.progress(curves.y, curves.instance_of_point),
        optima=optima,
        per=per,
        contracts=tuple(name for name in common.algorithms if name in store.settings.contracts),
    )


def choose_scale(
    curves: common_runs.Curves, options: ViewOptions, optima: Floats | None, maximised: bool = False
) -> Scale:
    """The scale that the options ask for.

    By default it has the usual targets if the optima are known, otherwise the range of the values.
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
        return _scale_of_targets(optima, targets, options)
    if targets == AUTO and optima is not None:
        return _scale_of_targets(optima, USUAL_TARGETS, options)
    return _scale_of_values(curves, optima, options)


def _scale_of_targets(optima: Floats, targets: TargetRange, options: ViewOptions) -> Scale:
    """The scale with the same targets on every instance, as distances from its optimum."""
    log = options.scale != "linear"
    if log and targets.hardest == 0:
        raise ReportError(
            "a logarithmic scale has no target at distance 0: name the hardest one, as in "
            "1e2:1e-8, or add --scale linear"
        )
    spacing = "evenly in the logarithm" if log else "evenly"
    number = "all in between count" if targets.count is None else f"{targets.count} of them"
    words = (
        f"targets are distances from the optimum, {targets.easiest:g} down to "
        f"{targets.hardest:g}, spaced {spacing} ({number}), the same on every instance; values "
        "beyond them count as the nearest target"
    )
    return Scale(
        origin=optima,
        easiest=np.full(len(optima), targets.easiest),
        hardest=np.full(len(optima), targets.hardest),
        log=log,
        count=targets.count,
        has_common_targets=True,
        words=words,
    )


def _scale_of_values(
    curves: common_runs.Curves, optima: Floats | None, options: ViewOptions
) -> Scale:
    """The scale from the worst to the best value of the compared runs on each instance."""
    best = np.full(len(curves.instances), np.inf)
    worst = np.full(len(curves.instances), -np.inf)
    np.minimum.at(best, curves.instance_of_point, curves.y)
    np.maximum.at(worst, curves.instance_of_point, curves.y)
    has_values = np.isfinite(best)
    if (best[has_values] == worst[has_values]).all():
        raise ReportError("on each instance all values are equal: there is nothing to compare")
    least = best[has_values].min()
    if optima is None and options.scale == "log" and least <= 0:
        raise ReportError(
            f"a logarithmic scale needs values above 0, found {least:g}: add --optimum VALUE, or "
            "use --scale linear"
        )
    log = options.scale == "log"
    if options.scale == "auto":
        ratios = worst[has_values] / best[has_values] if least > 0 else np.zeros(1)
        log = optima is not None or bool(np.median(ratios) >= LOG_SCALE_RATIO)
    if log and optima is not None:
        origin = optima
        smallest = SMALLEST_DISTANCE
        mapped = "the log-distance to the optimum"
    else:
        origin = np.zeros(len(best))
        smallest = -np.inf
        mapped = "the logarithm of the value" if log else "the value"
    words = (
        f"on each instance {mapped} is mapped to the span from the worst (0) to the best (1) of "
        "the compared algorithms: the numbers depend on which are compared, and a narrow span "
        "counts as much as a wide one"
    )
    return Scale(
        origin=origin,
        easiest=np.where(has_values, np.maximum(worst - origin, smallest), 1.0),
        hardest=np.where(has_values, np.maximum(best - origin, smallest), 1.0),
        log=log,
        count=None,
        has_common_targets=False,
        words=words,
    )


def _check_optima(curves: common_runs.Curves, optima: Floats, maximised: bool) -> None:
    """Refuse optima that a value of the runs is better than."""
    optimum_of_point = optima[curves.instance_of_point]
    tolerance = OPTIMUM_TOLERANCE * np.maximum(1.0, np.abs(optimum_of_point))
    is_better = curves.y < optimum_of_point - tolerance
    if is_better.any():
        sign = -1 if maximised else 1
        excess = np.where(is_better, curves.y - optimum_of_point, 0.0)
        worst = int(np.argmin(excess))
        instance = curves.instances[int(curves.instance_of_point[worst])]
        raise ReportError(
            f"the value {sign * curves.y[worst]:g} on {instance} is better than the best possible, "
            f"{sign * optimum_of_point[worst]:g}: correct --optimum, or leave it out and use "
            "--targets seen"
        )
