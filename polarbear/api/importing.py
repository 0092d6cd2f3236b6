"""What others have recorded, from a file or a folder to the store that holds it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from polarbear.api.listening import Listener
from polarbear.api.showing import Shown, dressed
from polarbear.api.store import Store
from polarbear.errors import ImportFailedError
from polarbear.formats.adding import GridWanted, ImportResult, Spacing, add_imported
from polarbear.formats.base import AfterEnd, Imported
from polarbear.formats.table import Columns
from polarbear.settings.options import unknown
from polarbear.store import Store as StoreOnDisk
from polarbear.wording import counted

FORMATS = ("table", "rankings", "ioh", "coco")
AFTER_END = ("keeps", "absent")


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
    algorithm_column: str = "algorithm",
    instance_column: str = "instance",
    t_column: str = "t",
    y_column: str = "y",
    position_column: str = "position",
    seed_column: str | None = None,
    axis: str = "evaluations",
    maximise: bool = False,
    after_end: AfterEnd = "keeps",
    points: int = 30,
    spacing: Spacing = "log",
    first: float | None = None,
    last: float | None = None,
    listener: Listener | None = None,
) -> Store:
    """Bring trajectories or rankings from elsewhere into a store.

    ``format`` is table (rows of algorithm, instance, t, y in CSV or Parquet), rankings (rows of
    instance, t, algorithm, position), ioh or coco (a folder that IOHprofiler's Analyzer or COCO's
    observer wrote). After its last row an algorithm ``keeps`` its best, or is ``absent``.

    Repeated runs of one problem, those of ``seed_column`` too, become instances of their own; where
    there are any, a warning says what that does to posteriors.
    """
    columns = Columns(
        algorithm_column, instance_column, t_column, y_column, position_column, seed_column
    )
    found = read(Path(source), format, columns, maximise, after_end)
    if seed_column is not None or format in ("ioh", "coco"):
        found = _noting_repeats(found, listener or Listener())
    grid = GridWanted(axis, points, spacing, first, last)
    told = add_imported(Path(store), found, grid, maximise)
    return Store(StoreOnDisk.open(Path(store)), dressed(Added, told))


def read(
    source: Path, format: str, columns: Columns, maximise: bool, after_end: AfterEnd
) -> Imported:
    """Everything that can be imported from a file or a folder."""
    if after_end not in AFTER_END:
        raise ImportFailedError(unknown("way to go on after the end", after_end, AFTER_END))
    if format == "table":
        from polarbear.formats.table import read_table

        return read_table(source, columns, maximise, after_end)
    if format == "rankings":
        from polarbear.formats.rankings import read_rankings

        return read_rankings(source, columns)
    if format == "ioh":
        from polarbear.formats.ioh import read_ioh

        return read_ioh(source, after_end)
    if format == "coco":
        from polarbear.formats.coco import read_coco

        return read_coco(source, after_end)
    raise ImportFailedError(unknown("format", format, FORMATS))


def _noting_repeats(found: Imported, listener: Listener) -> Imported:
    """With a note if several instances are runs of one problem, which formats number by '#'."""
    problems = {instance.id.rpartition("#")[0] for instance in found.instances}
    repeats = len(found.instances) - len(problems)
    if not repeats:
        return found
    note = (
        f"{repeats} of {len(found.instances)} instances repeat a problem with another seed; each "
        "is counted as an instance of its own, which makes posteriors look surer than they are"
    )
    listener.repeats(note)
    return replace(found, notes=(*found.notes, note))
