"""The instances that all compared algorithms ran in full, facts about them, and trajectories.

A race stops algorithms early. A mean over all instances would then compare different instances, so
the classical view uses complete cases. A race decides on these before they are run, so they are a
fair sample; but there may be few.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from pydantic import ValidationError

from polarbear.errors import PolarBearError, ReportError
from polarbear.execution.outcome import Status
from polarbear.numerics.arrays import Floats
from polarbear.problems import SUITES
from polarbear.problems.specs import DIMENSION, FUNCTION, OPTIMUM
from polarbear.settings.grid import EVALUATIONS
from polarbear.settings.options import unknown
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, short, time

PER_DIMENSION = f"{EVALUATIONS} per {DIMENSION}"
MIN_PROBLEMS = 10  # bootstrap intervals of fewer are too narrow


@dataclass(frozen=True)
class Step:
    """The number of instances in common if some algorithms are left out."""

    without: tuple[str, ...]
    instances: int


@dataclass(frozen=True)
class CommonRuns:
    """The compared algorithms and the instances they have in common.

    ``full`` counts the instances that each algorithm of the store ran to the end of the grid;
    ``left_out`` are algorithms without such an instance; ``steps`` show how the common instances
    grow with fewer algorithms; ``problems`` has the problem of each common instance; ``weights``
    are None if all are 1.
    """

    algorithms: tuple[str, ...]
    instances: tuple[str, ...]
    full: dict[str, int]
    left_out: tuple[str, ...]
    total: int
    steps: tuple[Step, ...]
    problems: tuple[str, ...]
    weights: Floats | None = None

    def notes(self) -> list[str]:
        """Notes for readers on the instances that are compared."""
        n_instances = len(self.instances)
        n_problems = len(set(self.problems))
        notes = []
        if n_instances < self.total:
            notes.append(
                f"the classical view uses {n_instances} of {counted(self.total, 'instance')}: "
                f"those that all {counted(len(self.algorithms), 'algorithm')} ran to the end of "
                "the grid"
            )
        if self.steps:
            gains = (f"without {', '.join(step.without)}: {step.instances}" for step in self.steps)
            notes.append(f"fewer algorithms have more instances in common ({'; '.join(gains)})")
        if self.left_out:
            names = ", ".join(self.left_out)
            notes.append(f"left out, with no run to the end of the grid: {names}")
        if self.weights is not None:
            notes.append(
                f"instances have weights, from {short(self.weights.min())} to "
                f"{short(self.weights.max())}: all statistics use them, except that medians count "
                "each run once"
            )
        if n_problems < n_instances:
            notes.append(
                f"the instances are seeds of {counted(n_problems, 'problem')}; intervals are about "
                "further problems"
            )
        unit = "instance" if n_problems == n_instances else "problem"
        if n_problems == 1:
            notes.append(f"there is one {unit} only, so there are no intervals")
        elif n_problems < MIN_PROBLEMS:
            notes.append(f"{counted(n_problems, unit)} are few: intervals are too narrow")
        return notes


def common_runs(
    store: StoreOnDisk,
    until: float,
    among: Sequence[str] | None = None,
    per: Mapping[str, int] | None = None,
) -> CommonRuns:
    """The instances run up to ``until`` by the algorithms ``among``, by default by all with any.

    ``per`` has the number by which times of each instance are divided.
    """
    stored_algorithms = tuple(store.settings.algorithms)
    for name in among or ():
        if name not in stored_algorithms:
            raise ReportError(f"{unknown('algorithm', name, stored_algorithms)} (in {store.path})")
    runs = store.compared_runs()
    if runs.is_empty() and not store.rankings().is_empty():
        raise ReportError(
            f"{store.path} has rankings without values; ECDF, AOCC and EAF need values: import the "
            "trajectories (--format table, ioh or coco)"
        )
    if runs.is_empty():
        raise ReportError(
            f"{store.path} has no runs yet; `polarbear run` or `polarbear race` makes some"
        )
    run_in_full = _run_in_full(runs, until, stored_algorithms, per)
    if among is None:
        requested = stored_algorithms
        names = tuple(name for name in requested if run_in_full[name])
    else:
        requested = tuple(name for name in stored_algorithms if name in among)
        names = requested
    if not names:
        raise ReportError(
            f"no run in {store.path} reaches the end of the grid ({time(until)}); the classical "
            "view needs some that do"
        )
    # Instances may have been lost with a damaged part, until they are drawn again.
    stored_instances = store.instances()["instance"].to_list()
    shared = set(stored_instances).intersection(*(run_in_full[name] for name in names))
    steps = _steps(names, run_in_full, len(shared))
    if not shared:
        counts = ", ".join(f"{name} {len(run_in_full[name])}" for name in names)
        remedy = ""
        if steps:
            others = ",".join(name for name in names if name not in steps[0].without)
            remedy = f"; --algorithms {others!r} has {steps[0].instances} in common"
        raise ReportError(
            f"no instance was run to the end of the grid by all of: {', '.join(names)} "
            f"(instances run in full: {counts}){remedy}"
        )
    instances = tuple(name for name in stored_instances if name in shared)
    problems = store.problems()
    stored_weights = store.weights()
    weights = np.array([stored_weights.get(instance, 1.0) for instance in instances])
    return CommonRuns(
        algorithms=names,
        instances=instances,
        full={name: len(run_in_full[name]) for name in stored_algorithms},
        left_out=tuple(name for name in requested if name not in names),
        total=runs["instance"].n_unique(),
        steps=steps,
        problems=tuple(problems.get(instance, instance) for instance in instances),
        weights=None if (weights == 1).all() else weights,
    )


def _run_in_full(
    runs: pl.DataFrame, until: float, algorithms: Sequence[str], per: Mapping[str, int] | None
) -> dict[str, set[str]]:
    """The instances that each algorithm ran up to ``until``, or on which it ended by itself."""
    reached = pl.col("reached")
    if per is not None:
        reached = reached / pl.col("instance").replace_strict(per, return_dtype=pl.Float64)
    is_cut_short = (pl.col("status") == Status.BUDGET) & (reached < until)
    instances: dict[str, set[str]] = {name: set() for name in algorithms}
    by_algorithm = runs.filter(~is_cut_short).group_by("algorithm").agg("instance")
    for name, instances_of_algorithm in by_algorithm.iter_rows():
        instances[name] = {*instances_of_algorithm}
    return instances


def share_more(store: StoreOnDisk, until: float, among: Sequence[str]) -> bool:
    """Whether some algorithms have more instances in common than all have."""
    counts = []
    for algorithms in (among, None):
        try:
            counts.append(len(common_runs(store, until, algorithms).instances))
        except ReportError:
            counts.append(0)
    return counts[0] > counts[1]


def _steps(
    names: tuple[str, ...], run_in_full: dict[str, set[str]], n_shared: int
) -> tuple[Step, ...]:
    """Remove the algorithm with the fewest instances, then the next, until a pair is left.

    Each step has more instances in common than the one before; all algorithms have ``n_shared``.
    """
    order = sorted(names, key=lambda name: len(run_in_full[name]))
    steps = []
    most_shared = n_shared
    for k in range(1, len(order) - 1):
        n_instances = len(set.intersection(*(run_in_full[name] for name in order[k:])))
        if n_instances > most_shared:
            steps.append(Step(tuple(order[:k]), n_instances))
            most_shared = n_instances
    return tuple(steps)


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
        first_time = np.searchsorted(times, self.t)  # the first time at which a point counts
        used_points = np.flatnonzero(first_time < len(times))
        # The index of the point that holds at each time; -1 before the first point. If several
        # points lie between two times, the assignment keeps the last.
        point_at_time = np.full((self.runs, len(times)), -1)
        point_at_time[self.run_of_point[used_points], first_time[used_points]] = used_points
        np.maximum.accumulate(point_at_time, axis=1, out=point_at_time)
        values_at_times = np.where(point_at_time >= 0, values[point_at_time], before)
        return values_at_times.reshape(len(self.instances), len(self.algorithms), len(times))


def read_curves(
    store: StoreOnDisk,
    common: CommonRuns,
    span: tuple[float, float],
    per: Mapping[str, int] | None = None,
) -> Curves:
    """Read the compared runs; ``per`` has the number by which times of an instance are divided."""
    first, last = span
    row = {instance: i for i, instance in enumerate(common.instances)}
    points = [[np.empty((2, 0))] * len(common.algorithms) for _ in row]
    for run, t, y in store.trajectories(common.algorithms):
        if run.instance not in row:
            continue
        if per is not None:
            t = t / per[run.instance]
        y = np.minimum.accumulate(y)  # that of a contract algorithm may get worse
        start = max(int(np.searchsorted(t, first, side="right")) - 1, 0)
        stop = int(np.searchsorted(t, last, side="right"))
        points_of_run = np.stack([np.maximum(t[start:stop], first), y[start:stop]])
        points[row[run.instance]][common.algorithms.index(run.algorithm)] = points_of_run
    points_of_runs = [points_of_run for of_instance in points for points_of_run in of_instance]
    lengths = [points_of_run.shape[1] for points_of_run in points_of_runs]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    t, y = np.concatenate(points_of_runs, axis=1)
    if not len(y):
        raise ReportError(
            f"no compared run in {store.path} found a value up to {last:g}: there is nothing to "
            "compare"
        )
    if not np.isfinite(y).all():
        raise ReportError(
            f"a trajectory in {store.path} has the value {y[~np.isfinite(y)][0]}; expected finite "
            "numbers: run or import it again"
        )
    return Curves(common.instances, common.algorithms, span, starts, t, y)


def dimensions(store: StoreOnDisk, axis: str) -> dict[str, int]:
    """The number of variables of each instance that was run; an error if one is unknown."""
    if axis != EVALUATIONS:
        raise ReportError(
            f"--per-dimension divides {EVALUATIONS}, but {store.path} counts {axis}: leave it out"
        )
    ran = set(store.runs()["instance"])
    specs = store.specs().items()
    by_instance: dict[str, int] = {
        name: spec.get(DIMENSION, 0) for name, spec in specs if name in ran
    }
    for name, dimension in by_instance.items():
        if not isinstance(dimension, int) or dimension < 1:
            raise ReportError(
                f"--per-dimension needs the number of variables of every instance; that of {name} "
                f"in {store.path} is unknown: leave it out"
            )
    return by_instance


def by_function(store: StoreOnDisk, instances: Sequence[str]) -> dict[str, list[int]]:
    """Indices of the instances of each function in each dimension; empty if one is unknown."""
    specs = store.specs()
    groups: dict[str, list[int]] = {}
    for index, instance in enumerate(instances):
        spec = specs[instance]
        if FUNCTION not in spec or DIMENSION not in spec:
            return {}
        name = spec[FUNCTION]
        label = f"f{name}" if isinstance(name, int) else str(name)
        groups.setdefault(f"{label}-d{spec[DIMENSION]}", []).append(index)
    return groups


def best_values(store: StoreOnDisk, instances: Sequence[str]) -> list[float | None]:
    """The best possible values, by the suite or by imported data; None where they are unknown."""
    settings = store.settings.instances
    stored_specs = store.specs()
    specs = [stored_specs[instance] for instance in instances]
    if settings.suite not in SUITES:
        return [spec.get(OPTIMUM) for spec in specs]
    try:
        suite = SUITES[settings.suite].model_validate(settings.options)
        return [suite.best_value(spec) for spec in specs]
    except (PolarBearError, ValidationError):  # A package that the suite needs is not installed.
        return [None] * len(specs)


def known_optima(
    store: StoreOnDisk, instances: Sequence[str], optimum: float | None = None
) -> Floats | None:
    """The best possible values as stored (negated if maximised); None unless all are known.

    ``optimum`` is that of every instance, instead of those that the suite or the data state.
    """
    optima = best_values(store, instances) if optimum is None else [optimum] * len(instances)
    if any(value is None for value in optima):
        return None
    return store.sign * np.array(optima, dtype=float)
