"""A closer look: the duels of a pair at one time, and all runs on one instance, as plain facts."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from polarbear.errors import ReportError
from polarbear.settings.grid import Budget
from polarbear.settings.options import unknown
from polarbear.store import Store, best_so_far
from polarbear.store.runs import StoredRun
from polarbear.wording import short

LARGER, SMALLER = "larger values are better", "smaller values are better"


@dataclass(frozen=True)
class Duel:
    """Two algorithms on one instance at one time; a value is None before anything was found.

    ``winner`` is None for a tie; ``margin`` is how far apart they are, where both have a value.
    """

    instance: str
    a: float | None
    b: float | None
    winner: str | None
    margin: float | None


@dataclass(frozen=True)
class Duels:
    """All duels of a pair at a time; first those that a lost, by how much, then ties, then wins."""

    a: str
    b: str
    t: float
    axis: str
    better: str
    wins_a: int
    wins_b: int
    ties: int
    duels: tuple[Duel, ...]


@dataclass(frozen=True)
class Trajectory:
    """One run on an instance: how it went, how it ended, and the seed it was given."""

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


@dataclass(frozen=True)
class InstanceRuns:
    """One instance, and every run on it that counts, in the order of the configuration.

    ``repeat`` is the command that makes one of them again, but for the algorithm's name.
    """

    instance: str
    suite: str
    index: int
    spec: dict[str, Any]
    axis: str
    better: str
    times: tuple[float, ...]
    repeat: str
    runs: tuple[Trajectory, ...]


def duels_at(store: Store, a: str, b: str, at: float | None = None) -> Duels:
    """The duels of two algorithms at a time, by default the last of the grid."""
    known = list(store.config["algorithms"])
    for name in (a, b):
        if name not in known:
            raise ReportError(f"{unknown('algorithm', name, known)} (in {store.path})")
    if a == b:
        raise ReportError(f"a pair is two algorithms, found '{a}' twice")
    budget = Budget.model_validate(store.config["budget"])
    first, last = float(budget.times[0]), float(budget.times[-1])
    t = last if at is None else at
    if not first <= t <= last:
        raise ReportError(f"--at {short(t)} is outside the grid, {short(first)} to {short(last)}")
    _check_runs(store)
    grid = store.on_grid(np.array([t]), [a, b])
    sign, tolerance = sign_of(store), tolerance_of(store)
    met = [
        _duel(instance, (a, b), values, sign, tolerance)
        for instance, values in zip(grid.instances, grid.values[:, :, 0], strict=True)
        if not np.isnan(values).any()
    ]
    rank = {b: 0, None: 1, a: 2}
    met.sort(key=lambda duel: (rank[duel.winner], -(duel.margin or 0.0)))
    winners = [duel.winner for duel in met]
    return Duels(
        a,
        b,
        t,
        budget.axis,
        better_in(store),
        winners.count(a),
        winners.count(b),
        winners.count(None),
        tuple(met),
    )


def runs_on(store: Store, instance: str) -> InstanceRuns:
    """Every run on an instance."""
    _check_runs(store)
    known = store.instances()
    if instance not in known["instance"]:
        found = unknown("instance", instance, known["instance"].to_list())
        raise ReportError(f"{found} (in {store.path})")
    row = known.row(by_predicate=pl.col("instance") == instance, named=True)
    budget, sign = Budget.model_validate(store.config["budget"]), sign_of(store)
    place = {name: i for i, name in enumerate(store.config["algorithms"])}
    runs = [
        _trajectory(run, sign * y, t, budget.times, sign)
        for run, t, y in store.trajectories()
        if run.instance == instance
    ]
    runs.sort(key=lambda run: place[run.algorithm])
    return InstanceRuns(
        instance,
        row["suite"],
        row["index"],
        json.loads(row["spec"]),
        budget.axis,
        better_in(store),
        tuple(map(float, budget.times)),
        f"{repeating(store)} --on {shlex.quote(instance)} --repeat",
        tuple(runs),
    )


def repeating(store: Store) -> str:
    """The command that makes a run again, by the file that the store is named after, if there."""
    beside = [store.path.with_suffix(ending) for ending in (".yaml", ".yml")]
    found = next((path for path in beside if path.is_file()), None)
    if found is not None:
        return f"polarbear run {shlex.quote(str(found))}"
    return f"polarbear run CONFIG --store {shlex.quote(str(store.path))}"


def _duel(
    instance: str, names: tuple[str, str], values: np.ndarray, sign: int, tolerance: float
) -> Duel:
    one, two = (float(value) for value in values)
    margin = abs(one - two) if np.isfinite(values).all() else None
    tied = one == two or (margin is not None and margin <= tolerance)
    winner = None if tied else names[0] if one < two else names[1]
    return Duel(instance, _value(one, sign), _value(two, sign), winner, margin)


def _trajectory(
    run: StoredRun, y: np.ndarray, t: np.ndarray, times: np.ndarray, sign: int
) -> Trajectory:
    held = best_so_far(t, sign * y, run.status, run.reached, times)
    return Trajectory(
        algorithm=run.algorithm,
        run=run.run,
        seed=run.seed,
        status=run.status,
        message=run.message,
        reached=run.reached,
        best=float(y[-1]) if len(y) else None,
        t=tuple(t.tolist()),
        y=tuple(y.tolist()),
        at_times=tuple(_value(float(value), sign) for value in held),
    )


def _value(value: float, sign: int) -> float | None:
    """A value as the problem has it; None before anything was found, and where a run was not."""
    return sign * value if np.isfinite(value) else None


def sign_of(store: Store) -> int:
    """What brings a stored value back: larger ones are kept negated where they are better."""
    return -1 if store.config["instances"].get("maximise") else 1


def better_in(store: Store) -> str:
    """Which values are better, in words."""
    return LARGER if sign_of(store) < 0 else SMALLER


def tolerance_of(store: Store) -> float:
    """Within what values were tied in the race, if there was one."""
    numbers: Sequence[int] = store.rounds.numbers()
    return float(store.rounds.read(numbers[-1]).rules["tie_tolerance"]) if numbers else 0.0


def _check_runs(store: Store) -> None:
    if store.runs().is_empty():
        raise ReportError(f"{store.path} has no runs to look at, only what was made of them")
