"""Data that other tools have recorded: imported into a store, or inferred from at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from polarbear.api.keyword_options import ModelKeywords
from polarbear.api.listening import Listener
from polarbear.api.store_handle import Store
from polarbear.errors import ImportFailedError
from polarbear.formats import FORMATS
from polarbear.formats.base import shown_names
from polarbear.formats.table import imported_rows, with_constraints, with_exported_columns
from polarbear.formats.table_files import LINE
from polarbear.formats.transfer import GridOptions, ImportResult, add_imported
from polarbear.inference import Posterior
from polarbear.problems.base import Trajectory
from polarbear.settings import defaults
from polarbear.settings.enumerations import AfterEnd
from polarbear.settings.grid import EVALUATIONS
from polarbear.settings.options import Source, nearest, validate
from polarbear.store import StoreOnDisk, is_store
from polarbear.wording import visible

if TYPE_CHECKING:
    from typing import TypeAlias

    import pandas as pd

    FrameLike: TypeAlias = pl.DataFrame | pl.LazyFrame | pd.DataFrame | Mapping[str, Sequence[Any]]

__all__ = ["ImportResult", "import_data", "infer"]
NEEDED = ("algorithm", "instance", "t", "y")
SEED = "seed"
WEIGHT = "weight"
ANY_AXIS = "t"  # the name of an axis that was not given


def import_data(
    source: str | Path | Sequence[str | Path],
    store: str | Path,
    format: str = defaults.FORMAT,
    *,
    axis: str | None = None,
    points: int | None = None,
    spacing: str | None = None,
    first: float | None = None,
    last: float | None = None,
    **format_options: Any,
) -> Store:
    """Bring trajectories or rankings from the file or folder ``source`` into a ``store``.

    ``format`` is table (rows of algorithm, instance, t, y in CSV or Parquet), rankings (rows of
    instance, t, algorithm, position), log (logs of solvers, of which ``source`` may name several
    files or folders), ioh or coco (a folder that IOHprofiler's Analyzer or COCO's
    observer wrote), benchopt (Parquet), optuna (a storage), tensorboard (a folder of event files),
    preflib (a file or a folder of them), aslib (a scenario, with features), store (another store),
    or a plug-in's.
    Its ``format_options`` follow as keywords, for example ``algorithm_column``, ``maximise``,
    ``trajectory`` ("last" for training curves, which get worse again), and ``after_end``: after its
    last row an algorithm "keeps" its best, or is "absent". ``axis`` is the unit of time, by default
    that of the source, or evaluations. A new store compares algorithms at ``points`` times from
    ``first`` to ``last``, whose ``spacing`` is "log" or "linear"; if nothing of this is given, at
    the times of the data if they are at most 100, otherwise at 30 times.

    Repeated runs of one problem, for example those of ``seed_column``, get the names 'problem#k'.
    A problem counts once, also if it has several seeds.

    >>> _ = store.export("csv", "runs.csv")
    >>> pb.import_data("runs.csv", "imported").algorithms
    ('random', 'powell')
    """
    reader = validate(FORMATS[format], format_options, Source(format))
    sources = [Path(source)] if isinstance(source, str | Path) else [Path(path) for path in source]
    if format != "store" and any(is_store(path) for path in sources):
        raise ImportFailedError(
            f"{sources[0]} is a PolarBear store already: every command reads it, `polarbear merge` "
            "unites stores, and --format store imports its runs as data"
        )
    imported = reader.read_all(sources)
    grid = GridOptions(axis, points, spacing, first, last)
    if getattr(reader, "maximise", False):  # the reader of a plug-in may not set it
        imported = replace(imported, maximise=True)
    result = add_imported(Path(store), imported, grid)
    return Store(StoreOnDisk.open(Path(store)), result)


def infer(
    frame: FrameLike,
    model: str | None = None,
    *,
    seed: int = 0,
    axis: str | None = None,
    grid: Mapping[str, Any] | Sequence[float] | None = None,
    maximise: bool = False,
    after_end: str = AfterEnd.KEEPS,
    trajectory: Trajectory = "best",
    tie_tolerance: float = 0.0,
    listener: Listener | None = None,
    **options: Unpack[ModelKeywords],
) -> Posterior:
    """Infer how likely each algorithm is to win over time, from a ``frame`` with a row per value.

    The columns are algorithm, instance, t and y, where y is the current or the best value; if
    ``trajectory`` is "last", the current value counts, even if it is worse than before. A column
    violation has the violations of constraints, 0 where feasible; with a column feasible alone, all
    infeasible values share the last place. With a column seed, the runs of one instance count
    together as one problem; a column weight is the weight of an instance. A column run_status says
    how runs ended, as in `Store.trajectories`: after its last row, a stopped run is absent.
    ``grid`` is as in a configuration's budget; by default the times of the frame if they are at
    most 100, otherwise 30 times, evenly spaced in log t. ``axis`` is the unit of time. With
    ``maximise`` larger values are better; ``after_end`` is "keeps" or "absent" as in `import_data`.
    ``model``, ``seed``,
    ``tie_tolerance``, ``listener`` and ``options`` are those of `Store.infer`.

    >>> pb.infer(store.trajectories(), draws=1000).algorithms
    ('powell', 'random')
    """
    listener = listener or Listener()
    rows = _checked(_as_polars(frame))
    optional = {name: name if name in rows.columns else None for name in (SEED, WEIGHT)}
    columns = with_exported_columns(
        {**{name: name for name in NEEDED}, **optional, "problem": None, "status": None},
        rows.columns,
    )
    columns = with_constraints(columns, rows.columns)
    numbered = rows.with_row_index(LINE, offset=1)
    imported = imported_rows(numbered, columns, "the frame", maximise, after_end, trajectory)
    for rejection in imported.rejected:
        listener.warn(f"left out: {rejection.words} (first: row {rejection.first})")
    if axis is None:
        has_whole_times = (imported.improvement_times % 1 == 0).all()
        axis = EVALUATIONS if has_whole_times else ANY_AXIS
    if grid is not None:
        grid = dict(grid) if isinstance(grid, Mapping) else [float(t) for t in grid]
    with TemporaryDirectory() as folder:
        add_imported(Path(folder, "store"), replace(imported, axis=axis, grid=grid))
        store = Store(StoreOnDisk.open(Path(folder, "store")))
        return store.infer(
            model,
            seed=seed,
            listener=listener,
            keep=False,
            tie_tolerance=tie_tolerance,
            **options,
        )


def _checked(rows: pl.DataFrame) -> pl.DataFrame:
    """The required columns; an error if one is missing or if rows contradict each other."""
    for name in NEEDED:
        if name not in rows.columns:
            guess = nearest(name, rows.columns)
            hint = f"rename '{visible(guess)}'" if guess else "rename the one that holds it"
            raise ImportFailedError(
                f"the frame has no column '{name}'; it has: {shown_names(rows.columns)}; {hint}"
            )
    keys = ["algorithm", "instance", "t"]
    remedy = f"distinguish them by a column '{SEED}'"
    if SEED in rows.columns:
        keys.append(SEED)
        remedy = "keep one of each"
    distinct = rows.select(*keys, "y").drop_nulls().unique()
    clashes = len(distinct) - len(distinct.unique(keys))
    if clashes:
        raise ImportFailedError(
            f"{clashes} rows of the frame give another y for the same {', '.join(keys)}; {remedy}"
        )
    return rows


def _as_polars(frame: Any) -> pl.DataFrame:
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if isinstance(frame, Mapping) or hasattr(frame, "columns"):  # a frame of polars or pandas
        return pl.DataFrame(frame)
    raise ImportFailedError(
        "expected a polars or pandas frame with the columns algorithm, instance, t and y, "
        f"found {type(frame).__name__}"
    )
