"""Merging stores of the same experiment: one run each, and their race decided from all runs.

Contradictions are refused by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from pydantic import PrivateAttr

from polarbear.config import Config, contradictions, differences, parse
from polarbear.driver.fingerprints import changes_between, known_options
from polarbear.driver.loop import Race
from polarbear.driver.scheduler import Scheduler
from polarbear.driver.speculation import SpeculativeRuns
from polarbear.driver.stopping import Ended
from polarbear.errors import ProblemError, StoreMismatchError
from polarbear.execution.outcome import Status, Task
from polarbear.numerics.arrays import Floats
from polarbear.problems import SUITES
from polarbear.problems.base import Instance, Kind, Setting, Spec, Suite
from polarbear.settings.grid import SECONDS
from polarbear.settings.options import Source
from polarbear.store import Store
from polarbear.store.provenance import Fingerprint
from polarbear.store.runs import StoredRun
from polarbear.wording import counted, joined

MAX_CONFLICTS_SHOWN = 8

Key = tuple[str, str]  # algorithm and instance


@dataclass(frozen=True)
class Chosen:
    """The run of an algorithm on an instance in the merged store, and the number of its store."""

    store: int
    run: StoredRun
    t: Floats
    y: Floats


@dataclass(frozen=True)
class Union:
    """The result of merging: the chosen runs, and the common configuration."""

    config: dict[str, Any]
    runs: Mapping[Key, Chosen]
    alike: Mapping[str, list[Fingerprint]]
    in_several: int
    notes: tuple[str, ...]


def unite(
    stores: Sequence[Store],
    keep: Sequence[str] = (),
    mix_hosts: bool = False,
    first_wins: bool = False,
) -> Union:
    """Choose one run of each algorithm on each instance; refuse contradictions."""
    _check_configurations(stores)
    _check_instances(stores)
    if not mix_hosts:
        _check_hosts(stores)
    alike = _check_makers(stores, keep)
    runs, in_several = _united(stores, first_wins)
    algorithms: dict[str, Any] = {}
    for store in stores:
        for name, entry in store.config["algorithms"].items():
            algorithms.setdefault(name, entry)
    config = {**stores[0].config, "algorithms": algorithms}
    return Union(config, runs, alike, in_several, tuple(_notes(stores)))


def _check_configurations(stores: Sequence[Store]) -> None:
    first = stores[0]
    suite = first.config["instances"]["suite"]
    uses_grid = suite in SUITES and SUITES[suite].uses_grid
    found = []
    for number, other in enumerate(stores[1:], start=1):
        mine = other.config["algorithms"]
        both = [name for name in first.config["algorithms"] if name in mine]
        lines = contradictions(first.config, other.config, uses_grid, redefined=both)
        for name in mine:
            one = next((s for s in stores[:number] if name in s.config["algorithms"]), None)
            if one is None:
                continue
            lines += [
                f"algorithms.{line}"
                for line in differences(
                    known_options(name, one.config["algorithms"][name]),
                    known_options(name, mine[name]),
                    name,
                )
            ]
            if one.provenance.seed_name(name) != other.provenance.seed_name(name):
                lines.append(
                    f"seeds of {name} derive from '{one.provenance.seed_name(name)}' and from "
                    f"'{other.provenance.seed_name(name)}'"
                )
        for line in lines:
            words = line.replace("stored ", "the one ").replace(", configuration ", ", the other ")
            found.append(f"{first.path} and {other.path}: {words}")
    _refuse(found, "stores of different experiments cannot be merged")


def _check_instances(stores: Sequence[Store]) -> None:
    known: dict[Any, Any] = {}
    found = []
    for store in stores:
        for instance, t, names, positions in store.rankings().iter_rows():
            ranking = dict(zip(names, positions, strict=True))
            if known.setdefault((instance, t), ranking) != ranking:
                found.append(f"the ranking on {instance} at {t:g} is another in {store.path}")
        for instance, spec in store.instances().select("instance", "spec").iter_rows():
            if known.setdefault(instance, spec) != spec:
                found.append(f"instance {instance} is {known[instance]}, in {store.path} {spec}")
    _refuse(found, "an instance is not the same problem in all stores")


def _check_hosts(stores: Sequence[Store]) -> None:
    """Refuse to mix seconds of different machines."""
    if stores[0].config["budget"]["axis"] != SECONDS:
        return
    hosts = {row for store in stores for row in store.runs().select("host", "cpu").iter_rows()}
    if len(hosts) > 1:
        names = joined([f"{name} ({cpu})" for name, cpu in sorted(hosts)])
        raise StoreMismatchError(
            f"these runs were timed on {names}; seconds of different machines are not comparable: "
            "allow it with --mix-hosts"
        )


def _check_makers(stores: Sequence[Store], keep: Sequence[str]) -> dict[str, list[Fingerprint]]:
    """Runs of an algorithm must be made by the same code and options in all stores."""
    made: dict[str, list[tuple[Store, Fingerprint]]] = {}
    for store in stores:
        pairs = store.runs().select("algorithm", "fingerprint").unique(maintain_order=True)
        for name, fingerprint in pairs.iter_rows():
            made.setdefault(name, []).append((store, fingerprint))
    found, alike = [], {}
    for name, makers in made.items():
        first_store, first = makers[0]
        strangers = [
            (store, one)
            for store, one in makers[1:]
            if not any(one in known.provenance.alike(name, first) for known in stores)
        ]
        if strangers and name in keep:
            alike[name] = list(dict.fromkeys(one for _, one in makers))
        else:
            found += [
                f"{name}, in {first_store.path} and {store.path}: "
                + joined(changes_between(first, one))
                for store, one in strangers
            ]
    _refuse(
        found,
        "runs of an algorithm were made by different code or options",
        "--keep NAME counts them alike",
    )
    return alike


def _united(stores: Sequence[Store], first_wins: bool) -> tuple[dict[Key, Chosen], int]:
    chosen: dict[Key, Chosen] = {}
    found, several = [], 0
    for number, store in enumerate(stores):
        for run, t, y in store.trajectories():
            key, one = (run.algorithm, run.instance), Chosen(number, run, t, y)
            if key not in chosen:
                chosen[key] = one
                continue
            several += 1
            if _agree(chosen[key], one):
                chosen[key] = max(chosen[key], one, key=_how_far)
            elif not first_wins:
                before = stores[chosen[key].store].path
                found.append(f"{key[0]} on {key[1]}, in {before} and {store.path}")
    _refuse(
        found,
        "the same run has different results",
        "--first-wins takes the run of the store that is named first",
    )
    return chosen, several


def _agree(one: Chosen, other: Chosen) -> bool:
    """Whether two runs are equal up to the time that both reached."""
    until = min(one.run.reached, other.run.reached)
    a, b = (np.searchsorted(side.t, until, side="right") for side in (one, other))
    return bool(
        one.run.seed == other.run.seed
        and np.array_equal(one.t[:a], other.t[:b])
        and np.array_equal(one.y[:a], other.y[:b])
    )


def _how_far(one: Chosen) -> tuple[bool, float]:
    return not Status(one.run.status).failed, one.run.reached


def _notes(stores: Sequence[Store]) -> list[str]:
    """Notes on what is not in the merged store."""
    notes = []
    first = stores[0].config
    for group in ("budget", "race", "inference"):
        other = [store for store in stores[1:] if store.config.get(group) != first.get(group)]
        if other:
            notes.append(f"'{group}' is that of {stores[0].path}; {other[0].path} has another")
    weights = first["instances"].get("weights")
    other = [one for one in stores[1:] if one.config["instances"].get("weights") != weights]
    if other:
        notes.append(f"weights are those of {stores[0].path}; {other[0].path} has others")
    aside = sum(len(store.set_aside.runs()) for store in stores)
    if aside:
        notes.append(f"not merged: {counted(aside, 'run')} set aside")
    return notes


def _refuse(found: Sequence[str], why: str, remedy: str = "") -> None:
    if not found:
        return
    lines = [f"{why}:", *(f"  {line}" for line in found[:MAX_CONFLICTS_SHOWN])]
    if len(found) > MAX_CONFLICTS_SHOWN:
        lines.append(f"  and {len(found) - MAX_CONFLICTS_SHOWN} more")
    raise StoreMismatchError("\n".join([*lines, remedy]).rstrip())


def write_union(stores: Sequence[Store], union: Union, target: Store) -> None:
    """Fill an empty store; the caller holds its lock."""
    for number, store in enumerate(stores):
        wanted = [one.run.run for one in union.runs.values() if one.store == number]
        target.copy_runs(store, wanted)
        target.provenance.copy_from(store.provenance, store.config["algorithms"])
    for name, fingerprints in union.alike.items():
        target.provenance.declare_alike(name, fingerprints)
    rankings = [store.rankings() for store in stores]
    together = pl.concat(rankings).unique(["instance", "t"], keep="first", maintain_order=True)
    if len(together):
        target.add_rankings(together)


class LackingError(ProblemError):
    """A round needs something that is not in the store."""


class StoredInstances(Suite):
    """The instances of a store, in the order in which they were drawn."""

    kind: ClassVar[Kind] = Kind.NAME
    _rows: dict[int, Instance] = PrivateAttr(default_factory=dict)

    @classmethod
    def of(cls, store: Store) -> StoredInstances:
        settings = store.config["instances"]
        made = cls(suite=settings["suite"], weights=settings.get("weights", {}))
        for row in store.instances().iter_rows(named=True):
            made._rows[row["index"]] = Instance(
                row["index"], row["instance"], json.loads(row["spec"])
            )
        return made

    def instance(self, index: int, setting: Setting) -> Instance:
        if index not in self._rows:
            raise LackingError(f"instance {index + 1} of the suite is not there")
        return self._rows[index]

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        instance = self.instance(index, setting)
        return instance.id, instance.spec

    def build(self, spec: Spec, setting: Setting) -> Any:
        raise LackingError("nothing is run here")


class Replay(Race):
    """A race that runs nothing; the caller holds the store's lock."""

    def run(self) -> Ended:
        try:
            return super().run()
        except LackingError as lacking:
            return Ended(f"round {self.state.round + 1} cannot be decided yet: {lacking}", True)

    def _speculative_runs(self) -> SpeculativeRuns | None:
        return None

    def _execute(
        self, scheduler: Scheduler, tasks: list[Task], likely: Iterable[Task] = ()
    ) -> None:
        if tasks:
            raise LackingError(f"{counted(len(tasks), 'run')} not there")


def stored_config(store: Store) -> Config:
    """The configuration of a store, with its stored instances as the suite."""
    plain: Mapping[str, Any] = store.config
    entries = [{"name": name, **entry} for name, entry in plain["algorithms"].items()]
    config = parse({**plain, "algorithms": entries}, Source(f"{store.path}/polarbear.json"))
    return replace(config, instances=StoredInstances.of(store))


def replay(store: Store) -> Ended:
    """Decide a store's race from its runs; the caller holds its lock."""
    return Replay(stored_config(store), store).run()
