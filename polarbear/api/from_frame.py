"""Infers a posterior from a frame of trajectories, by way of a temporary store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import polars as pl

from polarbear.api.inferring import infer as infer_stored
from polarbear.api.inferring import model_options
from polarbear.api.listening import Listener
from polarbear.api.posterior import Posterior
from polarbear.errors import ImportFailedError
from polarbear.formats.base import AfterEnd, named
from polarbear.formats.store_import import add_imported
from polarbear.formats.table import imported_rows
from polarbear.formats.table_file import LINE
from polarbear.settings.grid import EVALUATIONS
from polarbear.settings.options import nearest
from polarbear.store import Store as StoreOnDisk
from polarbear.wording import visible

if TYPE_CHECKING:
    from typing import TypeAlias

    import pandas as pd

    FrameLike: TypeAlias = pl.DataFrame | pl.LazyFrame | pd.DataFrame | Mapping[str, Sequence[Any]]

NEEDED = ("algorithm", "instance", "t", "y")
SEED, WEIGHT = "seed", "weight"
ANY_AXIS = "t"  # the name of an axis that was not given


def infer(
    frame: FrameLike,
    model: str | None = None,
    *,
    seed: int = 0,
    axis: str | None = None,
    grid: Mapping[str, Any] | Sequence[float] | None = None,
    maximise: bool = False,
    after_end: AfterEnd = "keeps",
    tie_tolerance: float = 0.0,
    listener: Listener | None = None,
    **options: Any,
) -> Posterior:
    """Infer how likely each algorithm is to win over time, from a frame with a row per value.

    The columns are algorithm, instance, t and y, where y is the current or the best value. With a
    column seed, the runs of one instance count together as one problem; a column weight is the
    weight of an instance. ``grid`` is as in a configuration's budget; by default 30 times, evenly
    spaced in log t. Options are those of a configuration's inference.
    """
    listener = listener or Listener()
    asked = model_options(model, options)
    rows = _checked(_as_polars(frame))
    columns = {name: name for name in (*NEEDED, SEED, WEIGHT) if name in rows.columns}
    numbered = rows.with_row_index(LINE, offset=1)
    found = imported_rows(numbered, columns, "the frame", maximise, after_end)
    for rejection in found.rejected:
        listener.warn(f"left out: {rejection.words} (first: row {rejection.first})")
    if axis is None:
        whole = all((outcome.times % 1 == 0).all() for outcome in found.outcomes)
        axis = EVALUATIONS if whole else ANY_AXIS
    if grid is not None:
        grid = dict(grid) if isinstance(grid, Mapping) else [float(t) for t in grid]
    with TemporaryDirectory() as folder:
        add_imported(Path(folder, "store"), replace(found, axis=axis, grid=grid))
        disk = StoreOnDisk.open(Path(folder, "store"))
        return infer_stored(disk, asked, None, seed, tie_tolerance, False, listener)


def _checked(rows: pl.DataFrame) -> pl.DataFrame:
    """The required columns; an error if one is missing or if rows contradict each other."""
    for name in NEEDED:
        if name not in rows.columns:
            guess = nearest(name, rows.columns)
            hint = f"rename '{visible(guess)}'" if guess else "rename the one that holds it"
            raise ImportFailedError(
                f"the frame has no column '{name}'; it has: {named(rows.columns)}; {hint}"
            )
    seeded = SEED in rows.columns
    keys = ["algorithm", "instance", "t", *([SEED] if seeded else [])]
    distinct = rows.select(*keys, "y").drop_nulls().unique()
    clashes = len(distinct) - len(distinct.unique(keys))
    if clashes:
        repeated = f"if those are repeated runs, distinguish them by a column '{SEED}'"
        raise ImportFailedError(
            f"{clashes} rows of the frame give another y for the same {', '.join(keys)}; "
            + ("keep one of each" if seeded else repeated)
        )
    return rows


def _as_polars(frame: Any) -> pl.DataFrame:
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame
    if type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "columns"):
        return pl.from_pandas(frame)
    if isinstance(frame, Mapping):
        return pl.DataFrame(dict(frame))
    raise ImportFailedError(
        "expected a polars or pandas frame with the columns algorithm, instance, t and y, "
        f"found {type(frame).__name__}"
    )
