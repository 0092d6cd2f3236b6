"""Details of a store: the duels of a pair, and the runs on an instance."""

import json
import shlex
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from polarbear.errors import ReportError
from polarbear.facts.time_factors import RunTimes, TimeFactor
from polarbear.rankings import GridValues, Improvements
from polarbear.rankings.front_duels import INCOMPARABLE, LOSS, WIN
from polarbear.records import Record, optional_key
from polarbear.settings.options import unknown
from polarbear.store import StoreOnDisk, best_so_far
from polarbear.store.runs import StoredRun
from polarbear.wording import counted, rounded, short, timed, typed

LARGER = "larger values are better"
SMALLER = "smaller values are better"


@dataclass(frozen=True)
class Duel:
    """Two algorithms on one instance at one time; a value is None before one was found.

    With constraints only feasible values count, and the violations are those of the two outcomes.
    ``winner`` is None for a tie; ``margin`` is the difference, where both have a value. With
    several objectives there are no values, and ``incomparable`` is true for fronts that are.
    """

    instance: str
    a: float | None
    b: float | None
    winner: str | None
    margin: float | None
    violation_a: float | None = optional_key()
    violation_b: float | None = optional_key()
    incomparable: bool | None = optional_key()


@dataclass(frozen=True, repr=False)
class Duels(Record):
    """All duels of a pair at a time: those that a lost by margin, then ties, then wins.

    ``times_as_long`` has the factor of a against b at that time, and that of b against a.
    """

    a: str
    b: str
    t: float
    axis: str
    better: str
    wins_a: int
    wins_b: int
    ties: int
    times_as_long: tuple[TimeFactor, ...]
    duels: tuple[Duel, ...]
    ROWS = "duels"

    def remarks(self) -> list[str]:
        """How many times as long each of the two needs to reach the values of the other."""
        return [
            f"{factor.algorithm} {factor.words(self.axis)}"
            for factor in self.times_as_long
            if factor.is_known
        ]

    def _incomparable_words(self) -> str:
        """The number of ties that are incomparable, with several objectives."""
        if all(duel.incomparable is None for duel in self.duels):
            return ""
        n_incomparable = sum(duel.incomparable is True for duel in self.duels)
        return f" ({n_incomparable} of them incomparable)"

    def one_line(self) -> str:
        return (
            f"{self.a} against {self.b} at {timed(self.t, self.axis)}, on "
            f"{counted(len(self.duels), 'instance')}: {self.a} wins {self.wins_a}, {self.b} wins "
            f"{self.wins_b}, {self.ties} tied{self._incomparable_words()}; {self.better}"
        )


@dataclass(frozen=True)
class Trajectory:
    """One run on an instance: its improvements, its end, and its seed.

    ``contract`` is the budget that a contract algorithm was given, None for others. Where values
    are infeasible, ``violation`` has the violation of each; ``best`` and ``at_times`` are feasible.
    With several objectives each y is a list, and there is no best value.
    """

    algorithm: str
    run: str
    seed: int
    status: str
    message: str
    reached: float
    best: float | None
    t: tuple[float, ...]
    y: tuple[float, ...]
    at_times: tuple[float | None, ...]
    contract: float | None = optional_key()
    violation: tuple[float, ...] | None = optional_key()

    def feasible_points(self) -> list[tuple[float, float]]:
        """The times and values of the feasible improvements."""
        violations = self.violation or (0.0,) * len(self.t)
        points = zip(self.t, self.y, violations, strict=True)
        return [(t, y) for t, y, violation in points if violation == 0]

    def label(self, axis: str) -> str:
        """The algorithm, and the budget that a contract gave to this run."""
        if self.contract is None:
            return self.algorithm
        return f"{self.algorithm}, given {timed(self.contract, axis)}"


@dataclass(frozen=True, repr=False)
class InstanceRuns(Record):
    """One instance and all runs on it that count, in the order of the configuration.

    ``repeat`` is the command that repeats a run, without the name of the algorithm.
    """

    instance: str
    suite: str
    index: int
    spec: dict[str, object]
    axis: str
    better: str
    times: tuple[float, ...]
    repeat: str
    runs: tuple[Trajectory, ...]
    ROWS = "runs"

    @property
    def value_words(self) -> str:
        """Which values are compared: with constraints only feasible ones."""
        is_constrained = any(run.violation is not None for run in self.runs)
        return "feasible value" if is_constrained else "value"

    def one_line(self) -> str:
        options = ", ".join(f"{key} {value}" for key, value in self.spec.items())
        return f"{self.instance}, number {self.index} of '{self.suite}': {options}; {self.better}"


def duels_at(store: StoreOnDisk, a: str, b: str, at: float | None = None) -> Duels:
    """The duels of two algorithms at a time, by default the last of the grid."""
    _check_pair(store, a, b)
    t = _time_on_grid(store, at)
    _check_runs(store)
    sign = store.sign
    grid = store.on_grid(np.array([t]), [a, b])
    rows = np.flatnonzero(grid.present[:, :, 0].all(axis=1)).tolist()
    results = grid.duel_results(store.settings.duels)
    if results is None:
        positions = grid.positions(tolerance_of(store))
        duels = [_duel(grid, row, positions, sign) for row in rows]
    else:
        duels = [_duel_of_fronts(grid, row, int(results[row, 0, 0])) for row in rows]
    # Duels that a lost come first, and of these the ones with the largest margin.
    order_of_winner = {b: 0, None: 1, a: 2}
    duels.sort(key=lambda duel: (order_of_winner[duel.winner], -(duel.margin or 0.0)))
    winners = [duel.winner for duel in duels]
    run_times = RunTimes(store, [a, b], np.array([t]))
    return Duels(
        a=a,
        b=b,
        t=t,
        axis=store.settings.budget.axis,
        better=better_in(store),
        wins_a=winners.count(a),
        wins_b=winners.count(b),
        ties=winners.count(None),
        times_as_long=(run_times.times_as_long(a, b), run_times.times_as_long(b, a)),
        duels=tuple(duels),
    )


def _check_pair(store: StoreOnDisk, a: str, b: str) -> None:
    names = list(store.settings.algorithms)
    for name in (a, b):
        if name not in names:
            raise ReportError(f"{unknown('algorithm', name, names)} (in {store.path})")
    if a == b:
        raise ReportError(f"a pair is two algorithms, found '{a}' twice")


def _time_on_grid(store: StoreOnDisk, at: float | None) -> float:
    """The requested time, by default the last of the grid; an error outside the grid."""
    times = store.settings.budget.times
    first = float(times[0])
    last = float(times[-1])
    if at is None:
        return last
    if not first <= at <= last:
        span = f"{typed(rounded(first))} to {typed(rounded(last))}"
        raise ReportError(f"--at {short(at)} is outside the grid, {span}")
    return at


def _duel(grid: GridValues, row: int, positions: np.ndarray, sign: int) -> Duel:
    """The duel of two algorithms on the instance in a row of a grid with a single time."""
    value_of_a, value_of_b = grid.feasible_values()[row, :, 0].tolist()
    position_of_a, position_of_b = positions[row, :, 0].tolist()
    margin = None
    if np.isfinite(value_of_a) and np.isfinite(value_of_b):
        margin = abs(value_of_a - value_of_b)
    winner = None
    if position_of_a != position_of_b:
        winner = grid.algorithms[0 if position_of_a < position_of_b else 1]
    violation_of_a = None
    violation_of_b = None
    if grid.violations is not None:
        violation_of_a, violation_of_b = (_value(v, 1) for v in grid.violations[row, :, 0].tolist())
    return Duel(
        instance=grid.instances[row],
        a=_value(value_of_a, sign),
        b=_value(value_of_b, sign),
        winner=winner,
        margin=margin,
        violation_a=violation_of_a,
        violation_b=violation_of_b,
    )


def _duel_of_fronts(grid: GridValues, row: int, result: int) -> Duel:
    """The duel of two fronts on the instance in a row of a grid with a single time."""
    winner = {WIN: grid.algorithms[0], LOSS: grid.algorithms[1]}.get(result)
    violation_of_a = None
    violation_of_b = None
    if grid.violations is not None:
        violation_of_a, violation_of_b = (_value(v, 1) for v in grid.violations[row, :, 0].tolist())
    return Duel(
        instance=grid.instances[row],
        a=None,
        b=None,
        winner=winner,
        margin=None,
        violation_a=violation_of_a,
        violation_b=violation_of_b,
        incomparable=result == INCOMPARABLE,
    )


def runs_on(store: StoreOnDisk, instance: str) -> InstanceRuns:
    """Every run on an instance."""
    _check_runs(store)
    row = instance_row(store, instance)
    budget = store.settings.budget
    trajectories = [
        _trajectory(store, run, improvements)
        for run, improvements in store.run_improvements()
        if run.instance == instance
    ]
    order = list(store.settings.algorithms)
    trajectories.sort(key=lambda run: (order.index(run.algorithm), run.contract or 0.0))
    return InstanceRuns(
        instance=instance,
        suite=row["suite"],
        index=row["index"],
        spec=json.loads(row["spec"]),
        axis=budget.axis,
        better=better_in(store),
        times=tuple(map(float, budget.times)),
        repeat=f"{repeating(store)} --on {shlex.quote(instance)} --repeat",
        runs=tuple(trajectories),
    )


def _trajectory(store: StoreOnDisk, run: StoredRun, improvements: Improvements) -> Trajectory:
    times = store.settings.budget.times
    feasible = improvements.feasible()
    best = None
    if len(feasible.values) and store.n_objectives == 1:
        best = _value(float(feasible.values[-1]), store.sign)
    numbers = feasible.values if store.n_objectives == 1 else np.full(len(feasible.times), np.inf)
    at_times = best_so_far(feasible.times, numbers, run.status, run.reached, times)
    violation = None
    if improvements.violations is not None:
        violation = tuple(improvements.violations.tolist())
    return Trajectory(
        algorithm=run.algorithm,
        run=run.run,
        seed=run.seed,
        status=run.status,
        message=run.message,
        reached=run.reached,
        best=best,
        t=tuple(improvements.times.tolist()),
        y=tuple((store.sign * improvements.values).tolist()),
        at_times=tuple(_value(value, store.sign) for value in at_times.tolist()),
        contract=store.key_of(run).contract,
        violation=violation,
    )


def instance_row(store: StoreOnDisk, instance: str) -> dict[str, Any]:
    """The row of an instance in the store's table of instances."""
    instances = store.instances()
    if instance not in instances["instance"]:
        words = unknown("instance", instance, instances["instance"].to_list())
        raise ReportError(f"{words} (in {store.path})")
    return instances.row(by_predicate=pl.col("instance") == instance, named=True)


def repeating(store: StoreOnDisk) -> str:
    """The command that repeats a run, with the configuration next to the store if it exists."""
    for suffix in (".yaml", ".yml"):
        config_file = store.path.with_suffix(suffix)
        if config_file.is_file():
            return f"polarbear run {shlex.quote(str(config_file))}"
    return f"polarbear run CONFIG --store {shlex.quote(str(store.path))}"


def _value(value: float, sign: int) -> float | None:
    """A value with the sign of the objective; None before the run found anything."""
    return sign * value if np.isfinite(value) else None


def better_in(store: StoreOnDisk) -> str:
    """Which values are better, in words."""
    return LARGER if store.maximise else SMALLER


def tolerance_of(store: StoreOnDisk) -> float:
    """The tie tolerance of the last round, 0 without a race."""
    last_round = store.rounds.last()
    return 0.0 if last_round is None else last_round.settings.rules.tie_tolerance


def _check_runs(store: StoreOnDisk) -> None:
    if store.runs().is_empty():
        raise ReportError(f"{store.path} has no runs, only rankings")
