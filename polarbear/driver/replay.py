"""A race that is decided from stored runs, as far as they suffice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from pydantic import PrivateAttr

from polarbear.config import Config, parse
from polarbear.driver.loop import Race
from polarbear.driver.scheduler import Scheduler
from polarbear.driver.speculation import SpeculativeRuns
from polarbear.driver.stopping import Ended
from polarbear.errors import ProblemError
from polarbear.execution.outcome import Task
from polarbear.problems.base import Instance, Kind, Setting, Spec, Suite
from polarbear.settings.options import Source
from polarbear.store import Store
from polarbear.wording import counted


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
