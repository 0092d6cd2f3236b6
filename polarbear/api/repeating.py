"""One stored run made again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polarbear.api import configurations
from polarbear.api.configurations import ConfigLike
from polarbear.api.showing import Shown, dressed
from polarbear.config import Overrides
from polarbear.driver import collect
from polarbear.driver import repeating as driver
from polarbear.store import Store


@dataclass(frozen=True, repr=False)
class Repeated(Shown, driver.Repeated):
    """How a run went when it was made again."""

    def _in_a_line(self) -> str:
        went = "the same" if self.same else f"another from {self.differs_from:g} on"
        return f"{self.algorithm} on {self.instance}: {went}"


def repeat(
    config: ConfigLike, algorithm: str, instance: str, store: str | Path | None = None
) -> Repeated:
    """Make a stored run again, with its seed and budget, and hold it against what is stored.

    Nothing is written.
    """
    settings = configurations.read(config, Overrides(workers=1))
    disk = Store.open(configurations.store_folder(config, store))
    task = driver.task_of(settings, disk, algorithm, instance)
    task.algorithm.prepare(settings.setting)
    with collect.pool_of(settings) as pool:
        return dressed(Repeated, driver.repeat(settings, disk, task, pool))
