"""What others have recorded, from a file or a folder to the store that holds it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from polarbear.api.showing import Shown, dressed
from polarbear.api.store import Store
from polarbear.errors import ImportFailedError
from polarbear.formats import FORMATS
from polarbear.formats.store_import import GridOptions, ImportResult, Spacing, add_imported
from polarbear.settings.options import Source, validate
from polarbear.store import Store as StoreOnDisk
from polarbear.store import is_store
from polarbear.wording import counted


@dataclass(frozen=True, repr=False)
class Added(Shown, ImportResult):
    """What a call of `import_data` added to a store, and what it left out."""

    def _in_a_line(self) -> str:
        one = self.kind.removesuffix("s")
        return f"{counted(self.added, one)} added, {self.present} there already"


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
    preflib (a file or a folder of them), store (another store), or one that another package brings.
    Its ``options`` follow as keywords, among them ``algorithm_column`` and the like, ``maximise``,
    and ``after_end``: after its last row an algorithm "keeps" its best, or is "absent". Times count
    ``axis``, by default what the source says, or evaluations.

    Repeated runs of one problem, those of ``seed_column`` too, are told apart as 'problem#k' and
    belong together: a problem counts once, however many seeds it has.
    """
    asked = validate(FORMATS[format], options, Source(format))
    if is_store(Path(source)) and format != "store":
        raise ImportFailedError(
            f"{source} is a PolarBear store already: every command takes it as it is, "
            "`polarbear merge` unites stores, and --format store takes its runs as data"
        )
    found = asked.read(Path(source))
    grid = GridOptions(axis, points, spacing, first, last)
    if getattr(asked, "maximise", False):  # a format of another package may not have said so
        found = replace(found, maximise=True)
    told = add_imported(Path(store), found, grid)
    return Store(StoreOnDisk.open(Path(store)), dressed(Added, told))


def options_of(format: str) -> list[str]:
    """The options that a format has."""
    return list(FORMATS[format].model_fields)


def refusal(format: str) -> str:
    """Why there is no such format, or an empty string."""
    return "" if format in FORMATS else FORMATS.refusal(format)
