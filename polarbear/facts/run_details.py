"""Details of a store: the duels of a pair, and the runs on an instance."""

import json
import shlex
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from polarbear.errors import ReportError
from polarbear.records import Record
from polarbear.settings.options import unknown
from polarbear.store import StoreOnDisk, best_so_far
from polarbear.wording import counted, rounded, short, timed, typed

LARGER, SMALLER = "larger values are better", "smaller values are better"


@dataclass(frozen=True)
class Duel:
    """Two algorithms on one instance at one time; a value is None before anything was found.

    ``winner`` is None for a tie; ``margin`` is the difference, where both have a value.
    """

    instance: str
    a: float | None
    b: float | None
    winner: str | None
    margin: float | None


@dataclass(frozen=True, repr=False)
class Duels(Record):
    """All duels of a pair at a time: those that a lost by margin, then ties, then wins."""

    a: str
    b: str
    t: float
    axis: str
    better: str
    wins_a: int
    wins_b: int
    ties: int
    duels: tuple[Duel, ...]
    ROWS = "duels"

    def one_line(self) -> str:
        return (
            f"{self.a} against {self.b} at {timed(self.t, self.axis)}, on "
            f"{counted(len(self.duels), 'instance')}: {self.a} wins {self.wins_a}, {self.b} wins "
            f"{self.wins_b}, {self.ties} tied; {self.better}"
        )


@dataclass(frozen=True)
class Trajectory:
    """One run on an instance: its improvements, its end, and its seed."""

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

    def one_line(self) -> str:
        options = ", ".join(f"{key} {value}" for key, value in self.spec.items())
        return f"{self.instance}, number {self.index} of '{self.suite}': {options}; {self.better}"


def duels_at(store: StoreOnDisk, a: str, b: str, at: float | None = None) -> Duels:
    """The duels of two algorithms at a time, by default the last of the grid."""
    known = list(store.settings.algorithms)
    for name in (a, b):
        if name not in known:
            raise ReportError(f"{unknown('algorithm', name, known)} (in {store.path})")
    if a == b:
        raise ReportError(f"a pair is two algorithms, found '{a}' twice")
    budget = store.settings.budget
    first, last = float(budget.times[0]), float(budget.times[-1])
    t = last if at is None else at
    if not first <= t <= last:
        span = f"{typed(rounded(first))} to {typed(rounded(last))}"
        raise ReportError(f"--at {short(t)} is outside the grid, {span}")
    _check_runs(store)
    grid = store.on_grid(np.array([t]), [a, b])
    sign, tolerance, found = store.sign, tolerance_of(store), []
    for instance, values in zip(grid.instances, grid.values[:, :, 0], strict=True):
        if not np.isnan(values).any():
            one, two = values.tolist()
            margin = abs(one - two) if np.isfinite(values).all() else None
            tied = one == two or (margin is not None and margin <= tolerance)
            winner = None if tied else a if one < two else b
            found.append(Duel(instance, _value(one, sign), _value(two, sign), winner, margin))
    order, winners = {b: 0, None: 1, a: 2}, [duel.winner for duel in found]
    found.sort(key=lambda duel: (order[duel.winner], -(duel.margin or 0.0)))
    wins, losses, ties = (winners.count(winner) for winner in (a, b, None))
    return Duels(a, b, t, budget.axis, better_in(store), wins, losses, ties, tuple(found))


def runs_on(store: StoreOnDisk, instance: str) -> InstanceRuns:
    """Every run on an instance."""
    _check_runs(store)
    row = instance_row(store, instance)
    budget, sign = store.settings.budget, store.sign
    found = {}
    for run, t, y in store.trajectories():
        if run.instance == instance:
            held = best_so_far(t, y, run.status, run.reached, budget.times).tolist()
            values = tuple((sign * y).tolist())
            found[run.algorithm] = Trajectory(
                algorithm=run.algorithm,
                run=run.run,
                seed=run.seed,
                status=run.status,
                message=run.message,
                reached=run.reached,
                best=values[-1] if values else None,
                t=tuple(t.tolist()),
                y=values,
                at_times=tuple(_value(value, sign) for value in held),
            )
    return InstanceRuns(
        instance=instance,
        suite=row["suite"],
        index=row["index"],
        spec=json.loads(row["spec"]),
        axis=budget.axis,
        better=better_in(store),
        times=tuple(map(float, budget.times)),
        repeat=f"{repeating(store)} --on {shlex.quote(instance)} --repeat",
        runs=tuple(found[name] for name in store.settings.algorithms if name in found),
    )


def instance_row(store: StoreOnDisk, instance: str) -> dict[str, Any]:
    """The row of an instance."""
    known = store.instances()
    if instance not in known["instance"]:
        found = unknown("instance", instance, known["instance"].to_list())
        raise ReportError(f"{found} (in {store.path})")
    return known.row(by_predicate=pl.col("instance") == instance, named=True)


def repeating(store: StoreOnDisk) -> str:
    """The command that repeats a run, with the configuration next to the store if it exists."""
    for ending in (".yaml", ".yml"):
        if store.path.with_suffix(ending).is_file():
            return f"polarbear run {shlex.quote(str(store.path.with_suffix(ending)))}"
    return f"polarbear run CONFIG --store {shlex.quote(str(store.path))}"


def _value(value: float, sign: int) -> float | None:
    """A value in the units of the problem; None before anything was found."""
    return sign * value if np.isfinite(value) else None


def better_in(store: StoreOnDisk) -> str:
    """Which values are better, in words."""
    return LARGER if store.maximise else SMALLER


def tolerance_of(store: StoreOnDisk) -> float:
    """The tie tolerance of the last round, 0 without a race."""
    last = store.rounds.last()
    return 0.0 if last is None else last.settings.rules.tie_tolerance


def _check_runs(store: StoreOnDisk) -> None:
    if store.runs().is_empty():
        raise ReportError(f"{store.path} has no runs, only rankings")
