"""Imports data that other tools have recorded into a store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from polarbear.api.store_handle import Store
from polarbear.errors import ImportFailedError
from polarbear.formats import FORMATS
from polarbear.formats.store_import import GridOptions, ImportResult, Spacing, add_imported
from polarbear.settings.options import Source, validate
from polarbear.store import Store as StoreOnDisk
from polarbear.store import is_store

__all__ = ["ImportResult", "import_data", "options_of"]


def import_data(
    source: str | Path,
    store: str | Path,
    format: str = "table",
    *,
    axis: str | None = None,
    points: int = 30,
    spacing: Spacing = "log",
    first: float | None = None,
    last: float | None = None,
    **options: Any,
) -> Store:
    """Bring trajectories or rankings from elsewhere into a store.

    ``format`` is table (rows of algorithm, instance, t, y in CSV or Parquet), rankings (rows of
    instance, t, algorithm, position), ioh or coco (a folder that IOHprofiler's Analyzer or COCO's
    observer wrote), benchopt (Parquet), optuna (a storage), tensorboard (a folder of event files),
    preflib (a file or a folder of them), store (another store), or a plug-in's.
    Its ``options`` follow as keywords, for example ``algorithm_column``, ``maximise``, and
    ``after_end``: after its last row an algorithm "keeps" its best, or is "absent". ``axis`` is the
    unit of time, by default that of the source, or evaluations.

    Repeated runs of one problem, for example those of ``seed_column``, get the names 'problem#k'.
    A problem counts once, whatever its number of seeds.
    """
    asked = validate(FORMATS[format], options, Source(format))
    if is_store(Path(source)) and format != "store":
        raise ImportFailedError(
            f"{source} is a PolarBear store already: every command reads it, `polarbear merge` "
            "unites stores, and --format store imports its runs as data"
        )
    found = asked.read(Path(source))
    grid = GridOptions(axis, points, spacing, first, last)
    if getattr(asked, "maximise", False):  # the reader of a plug-in may not set it
        found = replace(found, maximise=True)
    result = add_imported(Path(store), found, grid)
    return Store(StoreOnDisk.open(Path(store)), result)


def options_of(format: str) -> list[str]:
    """The options of a format."""
    return list(FORMATS[format].model_fields)
