"""Details of a store: the duels of a pair, the runs on an instance, exports, changes to runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polarbear.api import configurations
from polarbear.api.configurations import ConfigLike
from polarbear.api.store_handle import Store, given
from polarbear.config import Overrides
from polarbear.driver import collect
from polarbear.driver import forget as set_aside
from polarbear.driver import inspect as inspection
from polarbear.driver.forget import Forgotten, Renamed
from polarbear.driver.inspect import Duels, InstanceRuns, Repeated, sign_of
from polarbear.report.figures.short_names import labels_in
from polarbear.settings.grid import Budget, Spaced
from polarbear.settings.options import Source, validate
from polarbear.store import Store as StoreOnDisk

if TYPE_CHECKING:
    from polarbear.formats.chooser import Chooser
    from polarbear.formats.transfer import ExportResult

__all__ = ["Duels", "Forgotten", "InstanceRuns", "Renamed", "Repeated", "duels", "export"]
__all__ += ["chooser", "forget", "instance", "rename", "repeat", "sign_of"]


def duels(
    store: Store,
    a: str,
    b: str,
    at: float | None = None,
    *,
    png: str | Path | None = None,
    svg: str | Path | None = None,
) -> Duels:
    """The instances on which ``a`` beat ``b`` ``at`` a time, by default the last, and by how much.

    They are drawn into the files ``png`` and ``svg``.

    >>> store.duels("powell", "random").wins_b
    0
    """
    found = inspection.duels_at(store._disk, a, b, at)
    for format, path in given(png=png, svg=svg).items():
        from polarbear.report.figures.on_demand import draw_duels  # imports matplotlib

        draw_duels(found, labels_in(store._disk.config), path, format)
    return found


def instance(
    store: Store, id: str, *, png: str | Path | None = None, svg: str | Path | None = None
) -> InstanceRuns:
    """Every run on the instance ``id``, with its trajectory and seed.

    They are drawn into the files ``png`` and ``svg``.

    >>> [run.algorithm for run in store.instance("classic-0-sphere-d2").runs]
    ['random', 'powell']
    """
    found = inspection.runs_on(store._disk, id)
    grid = Budget.model_validate(store._disk.config["budget"]).grid
    log = isinstance(grid, Spaced) and grid.spacing == "log"
    for format, path in given(png=png, svg=svg).items():
        from polarbear.report.figures.on_demand import draw_runs  # imports matplotlib

        draw_runs(found, labels_in(store._disk.config), log, path, format)
    return found


def rename(store: Store, old: str, new: str) -> Renamed:
    """Rename an algorithm from ``old`` to ``new`` in the whole store; nothing is run or decided.

    >>> store.rename("random", "baseline").new
    'baseline'
    """
    with store._disk.writing():
        return set_aside.rename(store._disk, old, new)


def forget(
    store: Store, algorithm: str, *, failed: bool = False, restore: bool = False
) -> Forgotten:
    """Set runs of an ``algorithm`` aside, all or those that ``failed``; ``restore`` undoes it.

    >>> store.forget("random").one_line()
    '24 runs of random set aside'
    """
    act = set_aside.restore if restore else set_aside.forget
    with store._disk.writing():
        return act(store._disk, algorithm, failed)


def export(
    store: Store,
    format: str,
    to: str | Path,
    *,
    algorithms: Sequence[str] | None = None,
    force: bool = False,
    **options: Any,
) -> ExportResult:
    """Write runs, rankings or a posterior ``to`` a place in the format of another tool.

    ``format`` is csv or parquet (a long table), ioh or coco (a folder of runs), arviz (a kept
    posterior, as .nc or .zarr), preflib (a folder of rankings), chooser (the decision, as .json or
    .py), or a plug-in's; its ``options`` follow as keywords. Only the named ``algorithms`` are
    written, by default all. Existing files are overwritten only with ``force``.

    >>> store.export("csv", "runs.csv").what
    '1,530 rows of 48 runs'
    """
    from polarbear.formats import EXPORTS
    from polarbear.formats.transfer import export_store

    chosen = validate(EXPORTS[format], options, Source(format))
    return export_store(store._disk, format, chosen, Path(to), algorithms, force)


def chooser(
    store: Store,
    preference: str = "uniform",
    risk: str = "p2bb",
    *,
    model: str | None = None,
    key: str | None = None,
    algorithms: Sequence[str] | None = None,
) -> Chooser:
    """The decision for every budget, as an object to call; arguments are those of `select`.

    ``chooser(300)`` returns the algorithm for a budget and its P(best), ``chooser()`` those for the
    preference. ``to_python()`` is a module without dependencies for use in production, and
    ``to_dict()`` the same facts for JSON. It depends on the ``preference``, the ``risk``, the
    posterior of ``model`` or ``key``, and the ``algorithms`` that compete.

    >>> store.chooser()(300)
    ('powell', 1.0)
    """
    from polarbear.formats.chooser import make_chooser

    return make_chooser(store._disk, preference, risk, model, key, algorithms)


def repeat(
    config: ConfigLike, algorithm: str, instance: str, store: str | Path | None = None
) -> Repeated:
    """Make a stored run again, with its seed and budget, and compare it with the stored one.

    Nothing is written.
    """
    settings = configurations.read(config, Overrides(workers=1))
    disk = StoreOnDisk.open(configurations.store_folder(config, store))
    task = inspection.task_of(settings, disk, algorithm, instance)
    task.algorithm.prepare(settings.setting)
    with collect.pool_of(settings) as pool:
        return inspection.repeat(settings, disk, task, pool)
