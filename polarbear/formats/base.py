"""What an import brings, and how points in a table become runs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.errors import AlgorithmError, ImportFailedError
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.status import Status
from polarbear.problems.base import Instance, Kind, Setting
from polarbear.problems.specs import PROBLEM
from polarbear.settings.names import LONGEST_INSTANCE, LONGEST_NAME, flaw_in_name
from polarbear.settings.options import Options, nearest
from polarbear.wording import counted, noun, visible

AfterEnd = Literal["keeps", "absent"]
Point = tuple[str, str, float, float]  # algorithm, instance, t, y
LINE = "line of the file"  # a column that no file of others has
NUMBERS = {"line", "t", "y", "position", "weight"}
NAMES = {"algorithm": LONGEST_NAME, "instance": LONGEST_INSTANCE}
DATES = (pl.Date, pl.Datetime, pl.Time)  # which have a form in text, so may be names
MOST_NAMED, LONGEST_NAMED = 20, 60  # names in a message, characters of each
Known = Mapping[str, Mapping[str, Any]]  # what is known of an instance beside its name
NOTHING: Known = MappingProxyType({})


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
    maximise: bool = False  # larger values are better; outcomes have them negated
    axis: str | None = None  # what times count, if the source says so
    grid: Any = None  # the times of comparison, if the source has some

    def on_axis(self, axis: str) -> Imported:
        return replace(self, axis=axis)


class Format(Options):
    """A form in which others keep runs or rankings; a subclass adds its options.

    ``polarbear import`` gives it those of its own flags that the format has a field for, and
    whatever is asked for by ``--set``. Writing is the business of `exports`.
    """

    @abstractmethod
    def read(self, source: Path) -> Imported:
        """Everything in a file or a folder; what makes no sense becomes a complaint."""


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


def files_in(folder: Path, pattern: str) -> list[Path]:
    """The files in a folder and below it that fit a pattern; a pipe is none: it is waited for."""
    found = folder.rglob(pattern) if folder.is_dir() else ()
    return sorted(path for path in found if path.is_file())


def pick_columns(frame: pl.DataFrame, wanted: dict[str, str | None], source: str) -> pl.DataFrame:
    """The columns a format needs, under our names; ``wanted`` maps ours to theirs."""
    chosen = []
    for ours, theirs in wanted.items():
        if theirs is None:
            continue
        if theirs not in frame.columns:
            known = [name for name in frame.columns if name != LINE]
            guess = nearest(theirs, known)
            way = f"--{ours}-column"
            hint = f"did you mean {way} '{visible(guess)}'?" if guess else f"name it: {way}"
            raise ImportFailedError(
                f"{source} has no column '{visible(theirs)}' for {ours}; it has: {named(known)}; "
                f"{hint}"
            )
        kind = frame.schema[theirs]
        check_kind(ours, theirs, kind, source)
        column = pl.col(theirs).alias(ours)
        chosen.append(column.cast(pl.String) if kind in (pl.Categorical, pl.Enum) else column)
    return frame.select(chosen)


def check_kind(ours: str, theirs: str, kind: pl.DataType, source: str) -> None:
    """Refuse a column of what cannot be names, or cannot be numbers."""
    text = kind in (pl.String, pl.Categorical, pl.Enum, pl.Null)
    number = kind.is_numeric() or kind == pl.Boolean
    if not (text or number or (ours not in NUMBERS and kind in DATES)):
        wanted = "numbers" if ours in NUMBERS else "names"
        raise ImportFailedError(
            f"{source}: the column '{visible(theirs)}' for {ours} should hold {wanted}, but is of "
            f"the type {kind}"
        )


def named(names: Sequence[str]) -> str:
    """Names that others gave, as a message can hold them: anything may stand in a file."""
    shown = [visible(name[:LONGEST_NAMED]) for name in names[:MOST_NAMED]]
    return ", ".join([*shown, "..."] if len(names) > MOST_NAMED else shown)


def ignored(names: Sequence[str], one: str = "column") -> tuple[str, ...]:
    """A note on what a source has and an import does not use; none where that is nothing."""
    return (f"{counted(len(names), one)} ignored: {named(names)}",) if names else ()


def reject(
    frame: pl.DataFrame, bad: pl.Expr, reason: str, complaints: list[Complaint]
) -> pl.DataFrame:
    """Take out the rows for which ``bad`` holds, and say so. The column ``line`` tells where."""
    rejected = frame.select(bad.fill_null(True)).to_series()
    if not rejected.any():
        return frame
    line = frame["line"].filter(rejected)[0]
    complaints.append(Complaint(int(rejected.sum()), reason, str(line)))
    return frame.filter(~rejected)


def reject_names(frame: pl.DataFrame, complaints: list[Complaint]) -> pl.DataFrame:
    """Take out the rows whose names could not be shown, and say what is wrong with each kind."""
    for column, longest in NAMES.items():
        names = frame[column].unique(maintain_order=True).drop_nulls()
        flaws: dict[str, list[str]] = {}
        for name in names:
            flaw = flaw_in_name(name, longest)
            if flaw:
                flaws.setdefault(flaw, []).append(name)
        for flaw, bad in flaws.items():
            frame = reject(
                frame,
                pl.col(column).is_in(bad),
                f"the {column} '{visible(bad[0][:60])}' cannot be a name: {flaw}",
                complaints,
            )
    return frame


def runs_from_points(
    points: pl.DataFrame,
    maximise: bool,
    after_end: AfterEnd,
    order: Sequence[str],
    numbered: bool = False,
    known: Known = NOTHING,
) -> tuple[list[Outcome], tuple[Instance, ...]]:
    """Runs from rows (algorithm, instance, t, y), in which y may be the current or the best value.

    ``order`` lists the instances as they appeared, which is the order they are numbered in. Where
    they are ``numbered``, 'problem#k' is the k-th run of a problem. What is ``known`` of an
    instance becomes part of its spec.
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
        name: Instance(
            i, name, {"imported": name, **_problem_of(name, numbered), **known.get(name, {})}
        )
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
    known: Known = NOTHING,
    axis: str | None = None,
) -> Imported:
    """An import from points that were gathered from many files."""
    if not points:
        raise ImportFailedError(f"no run in {source} has a row that makes sense")
    schema = {"algorithm": pl.String, "instance": pl.String, "t": pl.Float64, "y": pl.Float64}
    frame = pl.DataFrame(points, schema=schema, orient="row").with_columns(line=pl.lit(str(source)))
    frame = reject_names(frame, complaints)
    if not len(frame):
        raise ImportFailedError(f"no run in {source} makes sense: {complaints[-1].words}")
    order = frame["instance"].unique(maintain_order=True).to_list()
    outcomes, instances = runs_from_points(
        frame, maximise, after_end, order, numbered=True, known=known
    )
    times = frame["t"].to_numpy()
    return Imported(
        tuple(frame["algorithm"].unique(maintain_order=True)),
        instances,
        (float(times.min()), float(times.max())),
        outcomes,
        complaints=tuple(complaints),
        notes=notes,
        maximise=maximise,
        axis=axis,
    )
