"""Merging stores of the same experiment: one run each, and their race decided from all runs.

Contradictions are refused by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import polars as pl
from pydantic import PrivateAttr

from polarbear.config.configuration import Config, parse
from polarbear.config.contradictions import contradictions, differences
from polarbear.config.stored_settings import StoredAlgorithm, StoredSettings
from polarbear.driver.loop import Ended, Race
from polarbear.driver.scheduler import Scheduler, SpeculativeRuns
from polarbear.driver.stale_runs import changes_between, known_options
from polarbear.errors import ProblemError, StoreMismatchError
from polarbear.execution.outcome import RunKey, Status, Task
from polarbear.problems import SUITES
from polarbear.problems.base import Kind, Setting, Spec, Suite
from polarbear.rankings import Improvements
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
    improvements: Improvements

    def agrees_with(self, other: Self) -> bool:
        """Whether two runs are equal up to the time that both reached."""
        until = min(self.run.reached, other.run.reached)
        own_points = self.improvements.up_to(until).points()
        other_points = other.improvements.up_to(until).points()
        return self.run.seed == other.run.seed and own_points == other_points

    @property
    def rank(self) -> tuple[bool, float]:
        """The order among runs that agree: the highest is chosen."""
        return not Status(self.run.status).failed, self.run.reached


class Maker(NamedTuple):
    """The code and options that made runs in a store."""

    store: StoreOnDisk
    fingerprint: Fingerprint


@dataclass(frozen=True)
class Union:
    """The result of merging: the chosen runs, and the common configuration."""

    settings: StoredSettings
    runs: Mapping[RunKey, Chosen]
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
    if not mix_hosts and stores[0].settings.budget.is_timed:
        _check_hosts(stores)
    alike = _check_makers(stores, keep)
    runs, in_several = _united(stores, first_wins)
    algorithms: dict[str, StoredAlgorithm] = {}
    for store in stores:
        for name, algorithm in store.settings.algorithms.items():
            algorithms.setdefault(name, algorithm)
    settings = stores[0].settings.with_algorithms(algorithms)
    return Union(settings, runs, alike, in_several, tuple(_notes(stores)))


def _check_configurations(stores: Sequence[StoreOnDisk]) -> None:
    """Refuse stores whose configurations contradict that of the first."""
    first = stores[0]
    suite = first.settings.instances.suite
    uses_grid = suite in SUITES and SUITES[suite].uses_grid
    conflicts = []
    for other in stores[1:]:
        common_names = [
            name for name in first.settings.algorithms if name in other.settings.algorithms
        ]
        lines = contradictions(first.settings, other.settings, uses_grid, redefined=common_names)
        for name in other.settings.algorithms:
            # The first store that has the algorithm: `other` itself if no earlier one has.
            origin = next(store for store in stores if name in store.settings.algorithms)
            changes = differences(_made_with(origin, name), _made_with(other, name), name)
            lines += [f"algorithms.{change}" for change in changes]
        for line in lines:
            words = line.replace("stored ", "the one ").replace(", configuration ", ", the other ")
            conflicts.append(f"{first.path} and {other.path}: {words}")
    _refuse(conflicts, "stores of different experiments cannot be merged")


def _made_with(store: StoreOnDisk, name: str) -> dict[str, object]:
    """The options of an algorithm, and the name that its seeds derive from."""
    options = known_options(name, store.settings.algorithms[name].options)
    return {**options, "seeds derive from": store.provenance.seed_name(name)}


def _check_instances(stores: Sequence[StoreOnDisk]) -> None:
    rankings: dict[tuple[str, float], dict[str, float]] = {}
    specs: dict[str, str] = {}
    conflicts = []
    for store in stores:
        for instance, t, names, positions in store.rankings().iter_rows():
            ranking = dict(zip(names, positions, strict=True))
            if rankings.setdefault((instance, t), ranking) != ranking:
                conflicts.append(f"the ranking on {instance} at {t:g} is another in {store.path}")
        for instance, spec in store.instances().select("instance", "spec").iter_rows():
            if specs.setdefault(instance, spec) != spec:
                conflicts.append(
                    f"instance {instance} is {specs[instance]}, in {store.path} {spec}"
                )
    _refuse(conflicts, "an instance is not the same problem in all stores")


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
    """Refuse runs of one algorithm by different code or options, except of those to ``keep``.

    Returns the fingerprints that count as alike, of each algorithm to keep.
    """
    makers_of_algorithm: dict[str, list[Maker]] = {}
    for store in stores:
        pairs = store.runs().select("algorithm", "fingerprint").unique(maintain_order=True)
        for name, fingerprint in pairs.iter_rows():
            makers_of_algorithm.setdefault(name, []).append(Maker(store, fingerprint))
    conflicts = []
    alike = {}
    for name, makers in makers_of_algorithm.items():
        first = makers[0]
        same: set[Fingerprint] = set()
        for store in stores:
            same.update(store.provenance.alike(name, first.fingerprint))
        different = [maker for maker in makers if maker.fingerprint not in same]
        if different and name in keep:
            alike[name] = list(dict.fromkeys(maker.fingerprint for maker in makers))
            continue
        for maker in different:
            changes = joined(changes_between(first.fingerprint, maker.fingerprint))
            conflicts.append(f"{name}, in {first.store.path} and {maker.store.path}: {changes}")
    why = "runs of an algorithm were made by different code or options"
    _refuse(conflicts, why, "--keep NAME counts them alike")
    return alike


def _united(stores: Sequence[StoreOnDisk], first_wins: bool) -> tuple[dict[RunKey, Chosen], int]:
    """The chosen runs, and the number of further runs of the same algorithm on an instance."""
    chosen: dict[RunKey, Chosen] = {}
    conflicts = []
    n_repeated = 0
    for store in stores:
        for run, improvements in store.run_improvements():
            candidate = Chosen(store, run, improvements)
            key = store.key_of(run)
            earlier = chosen.setdefault(key, candidate)
            if earlier is candidate:
                continue
            n_repeated += 1
            if earlier.agrees_with(candidate):
                chosen[key] = max(earlier, candidate, key=lambda run_of_store: run_of_store.rank)
            elif not first_wins:
                conflicts.append(
                    f"{run.algorithm} on {run.instance}, in {earlier.store.path} and {store.path}"
                )
    remedy = "--first-wins takes the run of the store that is named first"
    _refuse(conflicts, "the same run has different results", remedy)
    return chosen, n_repeated


def _notes(stores: Sequence[StoreOnDisk]) -> list[str]:
    """Notes on what is not in the merged store."""
    notes = []
    first = stores[0]
    for group in ("budget", "race", "inference"):
        others = [
            store for store in stores if store.settings.part(group) != first.settings.part(group)
        ]
        if others:
            notes.append(f"'{group}' is that of {first.path}; {others[0].path} has another")
    weights = first.settings.instances.weights
    others = [store for store in stores if store.settings.instances.weights != weights]
    if others:
        notes.append(f"weights are those of {first.path}; {others[0].path} has others")
    features = pl.concat([store.features().drop("cost") for store in stores]).unique()
    if features.select("instance", "name").is_duplicated().any():
        notes.append("features of an instance are those of the first store that has them")
    n_set_aside = sum(len(store.set_aside.runs()) for store in stores)
    if n_set_aside:
        notes.append(f"not merged: {counted(n_set_aside, 'run')} set aside")
    return notes


def _refuse(conflicts: Sequence[str], why: str, remedy: str = "") -> None:
    """Raise an error that lists the first conflicts, if there are any."""
    if conflicts:
        lines = [f"{why}:", *(f"  {conflict}" for conflict in conflicts[:MAX_CONFLICTS_SHOWN])]
        if len(conflicts) > MAX_CONFLICTS_SHOWN:
            lines.append(f"  and {len(conflicts) - MAX_CONFLICTS_SHOWN} more")
        raise StoreMismatchError("\n".join([*lines, remedy]).rstrip())


def write_union(stores: Sequence[StoreOnDisk], union: Union, target: StoreOnDisk) -> None:
    """Fill an empty store; the caller holds its lock."""
    for store in stores:
        run_ids = [chosen.run.run for chosen in union.runs.values() if chosen.store is store]
        target.copy_runs(store, run_ids)
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
        stored = cls(suite=instances.suite, weights=instances.weights)
        for index, name, spec in store.instances().select("index", "instance", "spec").iter_rows():
            stored._drawn[index] = (name, json.loads(spec))
        return stored

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
