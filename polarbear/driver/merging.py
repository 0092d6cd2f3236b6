"""Merging stores of the same experiment: one run each, and their race decided from all runs.

Contradictions are refused by name.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from pydantic import PrivateAttr

from polarbear.config.configuration import Config, parse
from polarbear.config.contradictions import contradictions, differences
from polarbear.config.stored_settings import StoredAlgorithm, StoredSettings
from polarbear.driver.collect import Place
from polarbear.driver.loop import Ended, Race
from polarbear.driver.scheduler import Scheduler, SpeculativeRuns
from polarbear.driver.stale_runs import changes_between, known_options
from polarbear.errors import ProblemError, StoreMismatchError
from polarbear.execution.outcome import Status, Task
from polarbear.numerics.arrays import Floats
from polarbear.problems import SUITES
from polarbear.problems.base import Kind, Setting, Spec, Suite
from polarbear.settings.grid import SECONDS
from polarbear.settings.options import Source
from polarbear.store import StoreOnDisk
from polarbear.store.runs import Fingerprint, StoredRun
from polarbear.wording import counted, joined

MAX_CONFLICTS_SHOWN = 8


@dataclass(frozen=True)
class Chosen:
    """The run of an algorithm on an instance in the merged store, and its store before."""

    store: StoreOnDisk
    run: StoredRun
    t: Floats
    y: Floats

    def agrees_with(self, other: Self) -> bool:
        """Whether two runs are equal up to the time that both reached."""
        until = min(self.run.reached, other.run.reached)
        a, b = (np.searchsorted(side.t, until, side="right") for side in (self, other))
        return bool(
            self.run.seed == other.run.seed
            and np.array_equal(self.t[:a], other.t[:b])
            and np.array_equal(self.y[:a], other.y[:b])
        )

    @property
    def rank(self) -> tuple[bool, float]:
        """Of runs that agree, the highest is chosen."""
        return not Status(self.run.status).failed, self.run.reached


@dataclass(frozen=True)
class Union:
    """The result of merging: the chosen runs, and the common configuration."""

    settings: StoredSettings
    runs: Mapping[Place, Chosen]
    alike: Mapping[str, list[Fingerprint]]
    in_several: int
    notes: tuple[str, ...]


def unite(
    stores: Sequence[StoreOnDisk],
    keep: Sequence[str] = (),
    mix_hosts: bool = False,
    first_wins: bool = False,
) -> Union:
    """Choose one run of each algorithm on each instance; refuse contradictions."""
    _check_configurations(stores)
    _check_instances(stores)
    if not mix_hosts and stores[0].settings.budget.axis == SECONDS:
        _check_hosts(stores)
    alike = _check_makers(stores, keep)
    runs, in_several = _united(stores, first_wins)
    algorithms: dict[str, StoredAlgorithm] = {}
    for store in stores:
        algorithms = {**algorithms, **store.settings.algorithms, **algorithms}
    settings = stores[0].settings.with_algorithms(algorithms)
    return Union(settings, runs, alike, in_several, tuple(_notes(stores)))


def _check_configurations(stores: Sequence[StoreOnDisk]) -> None:
    first = stores[0]
    suite = first.settings.instances.suite
    uses_grid = suite in SUITES and SUITES[suite].uses_grid
    found = []
    for other in stores[1:]:
        mine = other.settings.algorithms
        both = [name for name in first.settings.algorithms if name in mine]
        lines = contradictions(first.settings, other.settings, uses_grid, redefined=both)
        for name in mine:
            known = next(store for store in stores if name in store.settings.algorithms)
            unlike = differences(_made_with(known, name), _made_with(other, name), name)
            lines += [f"algorithms.{line}" for line in unlike]
        for line in lines:
            words = line.replace("stored ", "the one ").replace(", configuration ", ", the other ")
            found.append(f"{first.path} and {other.path}: {words}")
    _refuse(found, "stores of different experiments cannot be merged")


def _made_with(store: StoreOnDisk, name: str) -> dict[str, object]:
    """The options of an algorithm, and the name that its seeds derive from."""
    options = known_options(name, store.settings.algorithms[name].options)
    return {**options, "seeds derive from": store.provenance.seed_name(name)}


def _check_instances(stores: Sequence[StoreOnDisk]) -> None:
    rankings: dict[tuple[str, float], dict[str, float]] = {}
    specs: dict[str, str] = {}
    found = []
    for store in stores:
        for instance, t, names, positions in store.rankings().iter_rows():
            ranking = dict(zip(names, positions, strict=True))
            if rankings.setdefault((instance, t), ranking) != ranking:
                found.append(f"the ranking on {instance} at {t:g} is another in {store.path}")
        for instance, spec in store.instances().select("instance", "spec").iter_rows():
            if specs.setdefault(instance, spec) != spec:
                found.append(f"instance {instance} is {specs[instance]}, in {store.path} {spec}")
    _refuse(found, "an instance is not the same problem in all stores")


def _check_hosts(stores: Sequence[StoreOnDisk]) -> None:
    """Refuse to mix seconds of different machines."""
    hosts = {row for store in stores for row in store.runs().select("host", "cpu").iter_rows()}
    if len(hosts) > 1:
        names = joined([f"{name} ({cpu})" for name, cpu in sorted(hosts)])
        raise StoreMismatchError(
            f"these runs were timed on {names}; seconds of different machines are not comparable: "
            "allow it with --mix-hosts"
        )


def _check_makers(
    stores: Sequence[StoreOnDisk], keep: Sequence[str]
) -> dict[str, list[Fingerprint]]:
    """Runs of an algorithm must be made by the same code and options in all stores."""
    made: dict[str, list[tuple[StoreOnDisk, Fingerprint]]] = {}
    for store in stores:
        pairs = store.runs().select("algorithm", "fingerprint").unique(maintain_order=True)
        for name, fingerprint in pairs.iter_rows():
            made.setdefault(name, []).append((store, fingerprint))
    found, alike = [], {}
    for name, makers in made.items():
        first_store, first = makers[0]
        same = {one for known in stores for one in known.provenance.alike(name, first)}
        for store, one in makers:
            if one not in same and name in keep:
                alike[name] = list(dict.fromkeys(maker for _, maker in makers))
            elif one not in same:
                changes = joined(changes_between(first, one))
                found.append(f"{name}, in {first_store.path} and {store.path}: {changes}")
    why = "runs of an algorithm were made by different code or options"
    _refuse(found, why, "--keep NAME counts them alike")
    return alike


def _united(stores: Sequence[StoreOnDisk], first_wins: bool) -> tuple[dict[Place, Chosen], int]:
    chosen: dict[Place, Chosen] = {}
    found, several = [], 0
    for store in stores:
        for run, t, y in store.trajectories():
            place, one = (run.algorithm, run.instance), Chosen(store, run, t, y)
            before = chosen.setdefault(place, one)
            if before is one:
                continue
            several += 1
            if before.agrees_with(one):
                chosen[place] = max(before, one, key=lambda each: each.rank)
            elif not first_wins:
                found.append(f"{place[0]} on {place[1]}, in {before.store.path} and {store.path}")
    remedy = "--first-wins takes the run of the store that is named first"
    _refuse(found, "the same run has different results", remedy)
    return chosen, several


def _notes(stores: Sequence[StoreOnDisk]) -> list[str]:
    """Notes on what is not in the merged store."""
    notes, first = [], stores[0]
    for group in ("budget", "race", "inference"):
        others = [s for s in stores if s.settings.part(group) != first.settings.part(group)]
        if others:
            notes.append(f"'{group}' is that of {first.path}; {others[0].path} has another")
    weights = first.settings.instances.weights
    others = [s for s in stores if s.settings.instances.weights != weights]
    if others:
        notes.append(f"weights are those of {first.path}; {others[0].path} has others")
    aside = sum(len(store.set_aside.runs()) for store in stores)
    return [*notes, f"not merged: {counted(aside, 'run')} set aside"] if aside else notes


def _refuse(found: Sequence[str], why: str, remedy: str = "") -> None:
    if found:
        lines = [f"{why}:", *(f"  {line}" for line in found[:MAX_CONFLICTS_SHOWN])]
        if len(found) > MAX_CONFLICTS_SHOWN:
            lines.append(f"  and {len(found) - MAX_CONFLICTS_SHOWN} more")
        raise StoreMismatchError("\n".join([*lines, remedy]).rstrip())


def write_union(stores: Sequence[StoreOnDisk], union: Union, target: StoreOnDisk) -> None:
    """Fill an empty store; the caller holds its lock."""
    for store in stores:
        target.copy_runs(store, [one.run.run for one in union.runs.values() if one.store is store])
        target.provenance.copy_from(store.provenance, store.settings.algorithms)
    for name, fingerprints in union.alike.items():
        target.provenance.declare_alike(name, fingerprints)
    rankings = pl.concat([store.rankings() for store in stores])
    if len(rankings):
        target.add_rankings(rankings.unique(["instance", "t"], keep="first", maintain_order=True))


class LackingError(ProblemError):
    """A round needs something that is not in the store."""


class StoredInstances(Suite):
    """The instances of a store, in the order in which they were drawn."""

    kind: ClassVar[Kind] = Kind.NAME
    _drawn: dict[int, tuple[str, Spec]] = PrivateAttr(default_factory=dict)

    @classmethod
    def of(cls, store: StoreOnDisk) -> Self:
        instances = store.settings.instances
        made = cls(suite=instances.suite, weights=instances.weights)
        for index, name, spec in store.instances().select("index", "instance", "spec").iter_rows():
            made._drawn[index] = name, json.loads(spec)
        return made

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        if index not in self._drawn:
            raise LackingError(f"instance {index + 1} of the suite is not there")
        return self._drawn[index]

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


def stored_config(store: StoreOnDisk) -> Config:
    """The configuration of a store, with its stored instances as the suite."""
    config = parse(store.settings.as_configuration(), Source(f"{store.path}/polarbear.json"))
    return replace(config, instances=StoredInstances.of(store))


def replay(store: StoreOnDisk) -> Ended:
    """Decide a store's race from its runs; the caller holds its lock."""
    return Replay(stored_config(store), store).run()
