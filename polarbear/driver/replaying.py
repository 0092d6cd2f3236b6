"""A race decided from the runs that a store holds, running nothing.

It goes as far as runs are there, and says what the next round lacks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from pydantic import PrivateAttr

from polarbear.config import Config, parse
from polarbear.driver.dispatch import Dispatch
from polarbear.driver.early import EarlyRuns
from polarbear.driver.ending import Ended
from polarbear.driver.rounds import Race
from polarbear.errors import ProblemError
from polarbear.execution.outcome import Task
from polarbear.problems.base import Instance, Kind, Setting, Spec, Suite
from polarbear.settings.options import Source
from polarbear.store import Store
from polarbear.wording import counted


class LackingError(ProblemError):
    """A round asks for something that is not in the store."""


class StoredInstances(Suite):
    """The instances that a store holds, in the order of the stream they were drawn from."""

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
    """A race in which nothing is run; the caller holds the store's lock."""

    def run(self) -> Ended:
        try:
            return super().run()
        except LackingError as lacking:
            return Ended(f"round {self.state.round + 1} cannot be decided yet: {lacking}", True)

    def _early_runs(self) -> EarlyRuns | None:
        return None

    def _execute(self, dispatch: Dispatch, tasks: list[Task], likely: Iterable[Task] = ()) -> None:
        if tasks:
            raise LackingError(f"{counted(len(tasks), 'run')} not there")


def stored_config(store: Store) -> Config:
    """The configuration of a store as an object, its suite being the instances that are there."""
    plain: Mapping[str, Any] = store.config
    entries = [{"name": name, **entry} for name, entry in plain["algorithms"].items()]
    config = parse({**plain, "algorithms": entries}, Source(f"{store.path}/polarbear.json"))
    return replace(config, instances=StoredInstances.of(store))


def replay(store: Store) -> Ended:
    """Take a store's decisions from its runs; the caller holds its lock."""
    return Replay(stored_config(store), store).run()
