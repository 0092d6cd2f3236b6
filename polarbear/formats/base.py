"""What an import brings, and how points in a table become runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.errors import AlgorithmError, ImportFailedError
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.problems.base import PROBLEM, Instance, Kind, Setting
from polarbear.settings.options import Options, nearest
from polarbear.wording import noun

AfterEnd = Literal["keeps", "absent"]
Point = tuple[str, str, float, float]  # algorithm, instance, t, y


@dataclass(frozen=True)
class Complaint:
    """Rows that make no sense: how many, why, and where the first one is."""

    rows: int
    reason: str
    first: str

    @property
    def words(self) -> str:
        return f"{self.rows} {noun(self.rows, 'row')}: {self.reason}"


@dataclass(frozen=True)
class Imported:
    """Everything an import found: runs or rankings, and what was wrong with the source."""

    algorithms: tuple[str, ...]
    instances: tuple[Instance, ...]
    times: tuple[float, float]  # the first and the last time that anything is known of
    outcomes: Sequence[Outcome] = ()
    rankings: pl.DataFrame | None = None
    complaints: tuple[Complaint, ...] = ()
    notes: tuple[str, ...] = field(default=())


class Format(Options):
    """A form in which others keep runs or rankings; a subclass adds its options.

    ``polarbear import`` gives it those of its own flags that the format has a field for, and
    whatever is asked for by ``--set``. One that can only be written leaves ``read`` as it is.
    """

    def read(self, source: Path) -> Imported:
        """Everything in a file or a folder; what makes no sense becomes a complaint."""
        raise ImportFailedError(f"{source} is of a format that can be written, but not read")


class RunFolder(Format):
    """What formats have in common that keep each run in a block of its own."""

    after_end: AfterEnd = Field(
        "keeps", description="after its last row an algorithm keeps its best, or is absent"
    )


class ImportedAlgorithm(Algorithm):
    """An algorithm whose runs came from elsewhere; it cannot be run here."""

    use: str = "imported"
    accepts: ClassVar[frozenset[Kind]] = frozenset()

    def run(self, trial: Trial, setting: Setting) -> None:
        raise AlgorithmError(f"'{self.name}' was imported and cannot be run here")


def pick_columns(frame: pl.DataFrame, wanted: dict[str, str | None], source: str) -> pl.DataFrame:
    """The columns a format needs, under our names; ``wanted`` maps ours to theirs."""
    chosen = []
    columns = [name for name in frame.columns if name != "line"]  # which is ours
    for ours, theirs in wanted.items():
        if theirs is None:
            continue
        if theirs not in frame.columns:
            guess = nearest(theirs, columns)
            hint = (
                f"did you mean --{ours}-column '{guess}'?" if guess else f"name it: --{ours}-column"
            )
            raise ImportFailedError(
                f"{source} has no column '{theirs}' for {ours}; it has: "
                f"{', '.join(columns)}; {hint}"
            )
        chosen.append(pl.col(theirs).alias(ours))
    return frame.select(chosen)


def reject(
    frame: pl.DataFrame, bad: pl.Expr, reason: str, complaints: list[Complaint]
) -> pl.DataFrame:
    """Take out the rows for which ``bad`` holds, and say so. The column ``line`` tells where."""
    marked = frame.with_columns(bad=bad.fill_null(True))
    rejected = marked.filter("bad")
    if len(rejected):
        complaints.append(Complaint(len(rejected), reason, str(rejected["line"][0])))
    return marked.filter(~pl.col("bad")).drop("bad")


def runs_from_points(
    points: pl.DataFrame,
    maximise: bool,
    after_end: AfterEnd,
    order: Sequence[str],
    numbered: bool = False,
) -> tuple[list[Outcome], tuple[Instance, ...]]:
    """Runs from rows (algorithm, instance, t, y), in which y may be the current or the best value.

    ``order`` lists the instances as they appeared, which is the order they are numbered in. Where
    they are ``numbered``, 'problem#k' is the k-th run of a problem.
    """
    keys = ["algorithm", "instance"]
    best = (
        points.with_columns(y=-pl.col("y") if maximise else pl.col("y"))
        .sort(*keys, "t", "y")
        .with_columns(best=pl.col("y").cum_min().over(keys), last=pl.col("t").max().over(keys))
    )
    before = pl.col("best").shift(1).over(keys)
    improvements = best.filter(before.is_null() | (pl.col("best") < before))
    # Of several values at one time only the best counts: it is the last of that time.
    improvements = improvements.unique([*keys, "t"], keep="last", maintain_order=True)
    grouped = improvements.group_by(keys, maintain_order=True).agg(
        "t", "best", pl.col("last").first()
    )
    instances = {
        name: Instance(i, name, {"imported": name} | _problem_of(name, numbered))
        for i, name in enumerate(order)
    }
    status = Status.ENDED if after_end == "keeps" else Status.BUDGET
    outcomes = []
    for row in grouped.iter_rows(named=True):
        algorithm = ImportedAlgorithm(name=row["algorithm"])
        reached = float(row["last"])
        times, values = np.array(row["t"], dtype=float), np.array(row["best"], dtype=float)
        outcomes.append(
            Outcome(
                Task(algorithm, instances[row["instance"]], seed=0, budget=reached),
                status,
                message="",
                times=times,
                values=values,
                evaluations=0,
                reached=reached,
                seconds=0.0,
                invalid=0,
                started=0.0,
            )
        )
    return outcomes, tuple(instances.values())


def _problem_of(instance: str, numbered: bool) -> dict[str, str]:
    return {PROBLEM: instance.rpartition("#")[0]} if numbered else {}


def imported_points(
    points: list[Point],
    source: Path,
    maximise: bool,
    after_end: AfterEnd,
    complaints: list[Complaint],
    notes: tuple[str, ...],
) -> Imported:
    """An import from points that were gathered from many files."""
    if not points:
        raise ImportFailedError(f"no run in {source} has a row that makes sense")
    frame = pl.DataFrame(points, schema=["algorithm", "instance", "t", "y"], orient="row")
    order = frame["instance"].unique(maintain_order=True).to_list()
    outcomes, instances = runs_from_points(frame, maximise, after_end, order, numbered=True)
    times = frame["t"].to_numpy()
    return Imported(
        tuple(frame["algorithm"].unique(maintain_order=True)),
        instances,
        (float(times.min()), float(times.max())),
        outcomes,
        complaints=tuple(complaints),
        notes=notes,
    )
