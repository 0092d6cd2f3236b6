"""Infers a posterior from a frame of trajectories, without a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from polarbear.api.inferring import announce_stan, checked_seed, model_options
from polarbear.api.listening import Listener
from polarbear.api.posterior import Posterior
from polarbear.driver.evidence import ranked
from polarbear.driver.posterior_cache import CachedPosterior
from polarbear.errors import ImportFailedError
from polarbear.formats.base import AfterEnd, Imported, named
from polarbear.formats.store_import import GridOptions, budget_for
from polarbear.formats.table import imported_rows
from polarbear.formats.table_file import LINE
from polarbear.inference import infer as draw
from polarbear.problems.specs import PROBLEM
from polarbear.problems.weights import WEIGHT
from polarbear.rankings import GridValues
from polarbear.settings.grid import EVALUATIONS, Budget
from polarbear.settings.options import Source, nearest, validate
from polarbear.store import best_so_far
from polarbear.wording import visible

if TYPE_CHECKING:
    from typing import TypeAlias

    import pandas as pd

    FrameLike: TypeAlias = pl.DataFrame | pl.LazyFrame | pd.DataFrame | Mapping[str, Sequence[Any]]

NEEDED = ("algorithm", "instance", "t", "y")
SEED, WEIGHT_COLUMN = "seed", "weight"
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
    announce_stan(asked, listener)
    rows = _checked(_as_polars(frame))
    found = _trajectories(rows, maximise, after_end, listener)
    budget = _budget(found, axis, grid)
    values = _on_grid(found, budget)
    problems = [instance.spec.get(PROBLEM, instance.id) for instance in found.instances]
    weights = [instance.spec.get(WEIGHT, 1.0) for instance in found.instances]
    evidence = ranked(values, budget.unit_times, tie_tolerance, problems, weights)
    posterior = draw(
        evidence.choice_sets,
        evidence.unit_times,
        asked,
        checked_seed(seed),
        names=values.algorithms,
        positions=evidence.positions,
        problems=evidence.problems,
        weights=evidence.weights,
    )
    for problem in posterior.diagnostics.problems:
        listener.doubts(problem)
    cached = CachedPosterior(
        posterior, values.algorithms, values.times, len(set(problems)), "", False
    )
    return Posterior(cached, budget.axis)


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
    weighted = [WEIGHT_COLUMN] if WEIGHT_COLUMN in rows.columns else []
    rows = rows.select(*keys, *weighted, "y")
    clashes = len(distinct) - len(distinct.unique(keys))
    if clashes:
        repeated = f"if those are repeated runs, distinguish them by a column '{SEED}'"
        raise ImportFailedError(
            f"{clashes} rows of the frame give another y for the same {', '.join(keys)}; "
            + ("keep one of each" if seeded else repeated)
        )
    return rows


def _trajectories(
    rows: pl.DataFrame, maximise: bool, after_end: AfterEnd, listener: Listener
) -> Imported:
    numbered = rows.with_row_index(LINE, offset=1)
    columns = {name: name for name in ("algorithm", "instance", "t", "y")}
    columns |= {name: name for name in (SEED, WEIGHT_COLUMN) if name in rows.columns}
    found = imported_rows(numbered, columns, "the frame", maximise, after_end)
    for rejection in found.rejected:
        listener.warn(f"left out: {rejection.words} (first: row {rejection.first})")
    return found


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


def _budget(found: Imported, axis: str | None, grid: Any) -> Budget:
    if axis is None:
        whole = all((outcome.times % 1 == 0).all() for outcome in found.outcomes)
        axis = EVALUATIONS if whole else ANY_AXIS
    if grid is None:
        return budget_for(found, GridOptions(axis))
    grid = dict(grid) if isinstance(grid, Mapping) else [float(t) for t in grid]
    return validate(Budget, {"axis": axis, "grid": grid}, Source("the grid"))


def _on_grid(found: Imported, budget: Budget) -> GridValues:
    instances = tuple(instance.id for instance in found.instances)
    row = {name: i for i, name in enumerate(instances)}
    column = {name: i for i, name in enumerate(found.algorithms)}
    values = np.full((len(row), len(column), len(budget.times)), np.nan)
    for outcome in found.outcomes:
        task = outcome.task
        values[row[task.instance.id], column[task.algorithm.name]] = best_so_far(
            outcome.times, outcome.values, outcome.status, outcome.reached, budget.times
        )
    return GridValues(instances, found.algorithms, budget.times, values)
