"""Details of a store: the duels of a pair, the runs on an instance, and changes to runs."""

from __future__ import annotations

from pathlib import Path

from polarbear.api import configurations
from polarbear.api.configurations import ConfigLike
from polarbear.config import Overrides
from polarbear.driver import collect
from polarbear.driver.forget import Forgotten, Renamed, forget, rename, restore
from polarbear.driver.inspect import (
    Duels,
    InstanceRuns,
    Repeated,
    duels_at,
    runs_on,
    sign_of,
    task_of,
)
from polarbear.driver.inspect import repeat as repeat_run
from polarbear.report.figures.short_names import labels_in
from polarbear.settings.grid import Budget, Spaced
from polarbear.store import Store as StoreOnDisk

__all__ = ["Duels", "Forgotten", "InstanceRuns", "Renamed", "Repeated", "forget", "rename"]
__all__ += ["repeat", "restore", "sign_of"]


def duels(disk: StoreOnDisk, a: str, b: str, at: float | None, drawings: dict[str, Path]) -> Duels:
    """The duels of a pair, drawn into files by their format."""
    found = duels_at(disk, a, b, at)
    if drawings:
        from polarbear.report.figures.on_demand import draw_duels  # imports matplotlib

        for format, path in drawings.items():
            draw_duels(found, labels_in(disk.config), path, format)
    return found


def instance(disk: StoreOnDisk, id: str, drawings: dict[str, Path]) -> InstanceRuns:
    """Every run on an instance, drawn into files by their format."""
    found = runs_on(disk, id)
    if drawings:
        from polarbear.report.figures.on_demand import draw_runs  # imports matplotlib

        grid = Budget.model_validate(disk.config["budget"]).grid
        log = isinstance(grid, Spaced) and grid.spacing == "log"
        for format, path in drawings.items():
            draw_runs(found, labels_in(disk.config), log, path, format)
    return found


def repeat(
    config: ConfigLike, algorithm: str, instance: str, store: str | Path | None = None
) -> Repeated:
    """Make a stored run again, with its seed and budget, and compare it with the stored one.

    Nothing is written.
    """
    settings = configurations.read(config, Overrides(workers=1))
    disk = StoreOnDisk.open(configurations.store_folder(config, store))
    task = task_of(settings, disk, algorithm, instance)
    task.algorithm.prepare(settings.setting)
    with collect.pool_of(settings) as pool:
        return repeat_run(settings, disk, task, pool)
