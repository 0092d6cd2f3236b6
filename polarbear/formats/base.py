"""The interfaces of formats, and the conversion of points (t, y) to runs."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field, field_validator

from polarbear.errors import ExportFailedError, ImportFailedError
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.formats.imported_runs import VIOLATION, ImportedAlgorithm, ImportedRuns, runs_of
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Instance, Trajectory
from polarbear.problems.specs import PROBLEM
from polarbear.rankings import Improvements
from polarbear.rankings.archives import entered
from polarbear.rankings.outcomes import or_none
from polarbear.settings.enumerations import AfterEnd
from polarbear.settings.names import LONGEST_INSTANCE, LONGEST_NAME, flaw_in_name
from polarbear.settings.options import Options
from polarbear.store import StoreOnDisk, tables
from polarbear.store.run_values import StoredTrajectory
from polarbear.store.runs import StoredRun
from polarbear.wording import counted, joined, noun, visible

SpecEntries = Mapping[str, int | float | str]  # entries of an instance's spec
# Errors that reading a file of a wrong structure may raise.
INVALID = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)
MAX_NAMES_SHOWN = 20
MAX_NAME_LENGTH_SHOWN = 60  # characters
RUN_NAME_PARTS = ("algorithm", "instance", "seed")
# Options that several formats share.
AFTER_END: AfterEnd = Field(
    AfterEnd.KEEPS, description="after its last row an algorithm keeps its best, or is absent"
)
TRAJECTORY: Trajectory = Field(
    "best",
    description="what counts at a time: the best value so far, or the last, which may be worse",
)
FEASIBILITY_TOLERANCE: float = Field(
    0.0, ge=0, allow_inf_nan=False, description="the violation up to which a value is feasible"
)
MAXIMISE: bool = Field(False, description="larger values are better")
OPTIMUM_OPTION: float | None = Field(
    None, description="the best possible value of every instance; by default the suite's"
)


@dataclass(frozen=True)
class Rejection:
    """Rows of a source that were rejected: how many, why, and where the first one is."""

    rows: int
    reason: str
    first: str

    @property
    def words(self) -> str:
        return f"{self.rows} {noun(self.rows, 'row')}: {self.reason}"


@dataclass(frozen=True)
class Imported:
    """The content of a source: runs or rankings, and the rows that were rejected.

    With ``maximise`` larger values are better, and those of the outcomes are negated. ``axis`` and
    ``grid`` are None where the source does not state them. Nothing is compared after ``last_time``.
    """

    algorithms: tuple[str, ...]
    instances: tuple[Instance, ...]
    outcomes: Sequence[Outcome] = ()
    rankings: pl.DataFrame | None = None
    rejected: tuple[Rejection, ...] = ()
    notes: tuple[str, ...] = ()
    maximise: bool = False
    axis: str | None = None
    grid: object = None  # as in a configuration
    last_time: float | None = None
    trajectory: Trajectory = "best"
    n_objectives: int = 1
    features: pl.DataFrame | None = None  # rows of the store's table of features

    @property
    def improvement_times(self) -> Floats:
        """The times of the improvements of runs, each once and in order."""
        if isinstance(self.outcomes, ImportedRuns):
            return self.outcomes.times
        return np.unique(np.concatenate([np.empty(0), *(run.times for run in self.outcomes)]))

    @property
    def times(self) -> tuple[float, ...]:
        """The times of the data in order: of rankings, or of the improvements and ends of runs."""
        if self.rankings is not None:
            return tuple(sorted({*self.rankings["t"]}))
        ends: Iterable[float] = (run.reached for run in self.outcomes)
        if isinstance(self.outcomes, ImportedRuns):
            ends = self.outcomes.table["reached"].unique()
        return tuple(sorted({*self.improvement_times.tolist(), *ends}))


class Format(Options):
    """A format to import runs or rankings from; a subclass adds its options.

    ``polarbear import`` passes the flags that were given, and the values of ``--set``.
    """

    @abstractmethod
    def read(self, source: Path) -> Imported:
        """The content of a file or a folder; invalid rows are rejected and counted."""

    def read_all(self, sources: Sequence[Path]) -> Imported:
        """The content of several sources, which most formats cannot unite."""
        if len(sources) != 1:
            raise ImportFailedError(
                f"{counted(len(sources), 'source')} for a format that reads one: import them one "
                "by one into the same store"
            )
        return self.read(sources[0])


def ordered_runs(store: StoreOnDisk, algorithms: tuple[str, ...]) -> list[StoredTrajectory]:
    """The runs to export, by algorithm and instance.

    Their order does not depend on the order in which they were stored.
    """
    instance_order = {name: i for i, name in enumerate(store.instances()["instance"])}

    def sort_key(trajectory: StoredTrajectory) -> tuple[int, int, str]:
        run = trajectory[0]
        # Instances that were lost with a damaged part come last, until they are drawn again.
        place_of_instance = instance_order.get(run.instance, len(instance_order))
        return algorithms.index(run.algorithm), place_of_instance, run.instance

    runs = sorted(store.improvements(algorithms), key=sort_key)
    if not any(len(improvements.times) for _, improvements in runs):
        raise ExportFailedError(f"{store.path} has no run that found a value")
    return runs


class PointsAndEnd(NamedTuple):
    """The points of a run, the last of which is its end; a value is None if the run found none.

    ``value_columns`` have the values by the name of their column, one for each objective.
    """

    times: list[float]
    value_columns: dict[str, list[float | None]]
    violations: list[float | None]


def points_and_end(run: StoredRun, improvements: Improvements, sign: int) -> PointsAndEnd:
    """The points of a run and its end, with values in the sign of the objective.

    With several objectives the end has no values, since it is none of the points.
    """
    n_objectives = improvements.n_objectives
    times: list[float] = improvements.times.tolist()
    matrix = (sign * improvements.values).reshape(-1, n_objectives)
    columns: list[list[float | None]] = [list(column) for column in matrix.T.tolist()]
    violations: list[float | None] = improvements.all_violations().tolist()
    if not times or run.reached > times[-1]:
        repeats_last = n_objectives == 1 and len(times) > 0
        times.append(run.reached)
        for column in (*columns, violations):
            column.append(column[-1] if repeats_last else None)
    names = tables.value_columns(n_objectives)
    return PointsAndEnd(times, dict(zip(names, columns, strict=True)), violations)


def has_violations(runs: Iterable[StoredTrajectory]) -> bool:
    """Whether a run has an infeasible value."""
    return any(improvements.violations is not None for _, improvements in runs)


@dataclass(frozen=True)
class Written:
    """A summary of what an export wrote, and notes for its readers."""

    summary: str
    notes: tuple[str, ...] = ()


class Export(Options):
    """A format to export runs, rankings or posteriors to; a subclass adds its options.

    The first line of a subclass's docstring says what is written. ``endings`` are those that the
    file's name may have; an empty tuple allows any name. ``read_by`` names programs that read the
    result. The documentation shows all three.
    """

    endings: ClassVar[tuple[str, ...]] = ()
    read_by: ClassVar[str] = ""
    writes_runs: ClassVar[bool] = True  # and not only rankings or posteriors

    @abstractmethod
    def write(self, store: StoreOnDisk, algorithms: tuple[str, ...], path: Path) -> Written:
        """Write some algorithms of a store to a file or a folder that does not exist yet."""


class NamedRuns(Format):
    """A format in which a run's name has several parts, as in 'adam/cifar/seed3'."""

    layout: str = Field(
        "/".join(RUN_NAME_PARTS),
        description="what the parts of a run's name are, in this order: algorithm, instance, seed",
    )

    @field_validator("layout")
    @classmethod
    def _known_parts(cls, layout: str) -> str:
        parts = layout.split("/")
        if "algorithm" not in parts or len(set(parts) & set(RUN_NAME_PARTS)) < len(parts):
            raise ValueError(
                f"expected some of {', '.join(RUN_NAME_PARTS)}, separated by /, including "
                f"algorithm; found '{layout}'"
            )
        return layout

    def split(self, name: str, source: Path) -> tuple[str, str]:
        """The algorithm and the instance of a run; by default the instance is the source's name.

        The last part takes the rest of the name. The seed only distinguishes runs.
        """
        kinds = self.layout.split("/")
        parts = dict(zip(kinds, name.split("/", len(kinds) - 1), strict=False))
        return parts.get("algorithm") or name, parts.get("instance") or source.stem


@dataclass
class RunCollection:
    """Runs gathered from the files of one source, with the rows rejected on the way."""

    source: Path
    rejected: list[Rejection] = field(default_factory=list)
    files_read: set[Path] = field(default_factory=set)
    _points: list[tuple[str, str, float, float, float]] = field(default_factory=list)
    _facts: dict[str, SpecEntries] = field(default_factory=dict)
    _runs: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(
        self,
        algorithm: str,
        problem: str,
        points: Iterable[tuple[float, float] | tuple[float, float, float]],
        facts: SpecEntries | None = None,
    ) -> None:
        """Add a run, on the instance 'problem#k' if it is the algorithm's k-th on the problem.

        A point is t and y, and perhaps the violation of constraints.
        """
        self._runs[algorithm, problem] += 1
        instance = f"{problem}#{self._runs[algorithm, problem]}"
        self._facts[instance] = {**(facts or {}), PROBLEM: problem}
        for t, y, *violations in points:
            self._points.append((algorithm, instance, t, y, violations[0] if violations else 0.0))

    def imported(
        self,
        maximise: bool = False,
        after_end: str = AfterEnd.KEEPS,
        notes: tuple[str, ...] = (),
        axis: str | None = None,
        trajectory: Trajectory = "best",
    ) -> Imported:
        """The runs whose names are valid."""
        numbers = dict.fromkeys(("t", "y", VIOLATION), pl.Float64)
        schema = {"algorithm": pl.String, "instance": pl.String, **numbers}
        frame = pl.DataFrame(self._points, schema=schema, orient="row")
        frame = reject_names(frame.with_columns(line=pl.lit(str(self.source))), self.rejected)
        if not len(frame):
            reason = f": {self.rejected[-1].words}" if self.rejected else ""
            raise ImportFailedError(f"no run in {self.source} has a valid row{reason}")
        imported = imported_frame(frame, self._facts, maximise, after_end, trajectory)
        return replace(imported, rejected=tuple(self.rejected), notes=notes, axis=axis)


def imported_points(
    points: Sequence[tuple[str, str, float, float]],
    source: Path,
    maximise: bool = False,
    rejected: Sequence[Rejection] = (),
) -> Imported:
    """An import from points (algorithm, instance, t, y), for formats of other packages.

    The instance 'problem#k' is the k-th run of a problem.
    """
    names = {point[1] for point in points if "#" in point[1]}
    facts: dict[str, SpecEntries] = {name: {PROBLEM: name.rpartition("#")[0]} for name in names}
    feasible_points = [(*point, 0.0) for point in points]
    runs = RunCollection(source, list(rejected), _points=feasible_points, _facts=facts)
    return runs.imported(maximise)


def imported_frame(
    points: pl.DataFrame,
    facts: Mapping[str, SpecEntries],
    maximise: bool,
    after_end: str,
    trajectory: Trajectory,
) -> Imported:
    """An import from valid rows (algorithm, instance, t, y), where y is current or best-so-far.

    A column ``status`` may say how runs ended; otherwise it is as ``after_end`` says. A row without
    y only shows that the run lasted until then. A column ``violation`` has the violations of
    constraints.

    Of several outcomes at one time the best counts, or the last row if the last value counts.
    Instances are numbered in the order of their first rows.
    """
    default_status = Status.ENDED if after_end == "keeps" else Status.BUDGET
    names = points["instance"].unique(maintain_order=True).cast(pl.String)
    instances = imported_instances(names, facts)
    table = runs_of(points, maximise, default_status, is_best=trajectory == "best")
    return Imported(
        tuple(points["algorithm"].unique(maintain_order=True).cast(pl.String)),
        tuple(instances.values()),
        ImportedRuns(table, instances),
        maximise=maximise,
        trajectory=trajectory,
    )


def imported_fronts(
    points: pl.DataFrame,
    value_columns: Sequence[str],
    facts: Mapping[str, SpecEntries],
    maximise: bool,
    after_end: str,
    archive_size: int | None = None,
) -> Imported:
    """An import from valid rows (algorithm, instance, t, y1, y2, ...) with several objectives.

    The rows are those of `imported_frame`; points enter the archive of a run in the order of times.
    """
    keys = ["algorithm", "instance"]
    sign = -1 if maximise else 1
    instances = imported_instances(points["instance"].unique(maintain_order=True), facts)
    default_status = Status.ENDED if after_end == "keeps" else Status.BUDGET
    outcomes = []
    for (name, instance), rows in points.group_by(keys, maintain_order=True):
        last = float(rows["t"].to_numpy().max())
        status = default_status
        if "status" in rows.columns and rows["status"].count():
            status = Status(str(rows["status"].drop_nulls()[0]))
        found = rows.drop_nulls(value_columns).sort("t", maintain_order=True)
        violations = np.zeros(len(found))
        if VIOLATION in found.columns:
            violations = found[VIOLATION].to_numpy()
        all_points = Improvements(
            found["t"].to_numpy(), sign * found.select(value_columns).to_numpy(), violations
        )
        archive = entered(all_points, len(value_columns), archive_size)
        outcomes.append(
            Outcome(
                Task(ImportedAlgorithm(name=name), instances[instance], seed=0, budget=last),
                status,
                message="",
                times=archive.times,
                values=archive.values,
                reached=last,
                violations=or_none(archive.all_violations()),
            )
        )
    return Imported(
        tuple(points["algorithm"].unique(maintain_order=True)),
        tuple(instances.values()),
        outcomes,
        maximise=maximise,
        n_objectives=len(value_columns),
    )


def imported_instances(
    names: Iterable[str], facts: Mapping[str, SpecEntries]
) -> dict[str, Instance]:
    """Instances by name, numbered in this order, with entries of their specs."""
    return {
        name: Instance(i, name, {"imported": name, **facts.get(name, {})})
        for i, name in enumerate(names)
    }


def reject(
    frame: pl.DataFrame, invalid: pl.Expr, reason: str, rejected: list[Rejection]
) -> pl.DataFrame:
    """Remove the rows that are ``invalid``, and add their number and the reason to ``rejected``.

    The column ``line`` says where a row is in its source.
    """
    is_invalid = frame.select(invalid.fill_null(True)).to_series()
    if not is_invalid.any():
        return frame
    first_line = str(frame["line"].filter(is_invalid)[0])
    rejected.append(Rejection(int(is_invalid.sum()), reason, first_line))
    return frame.filter(~is_invalid)


def reject_names(frame: pl.DataFrame, rejected: list[Rejection]) -> pl.DataFrame:
    """Reject rows whose names cannot be displayed; the reason is the flaw of the first."""
    for column, longest in (("algorithm", LONGEST_NAME), ("instance", LONGEST_INSTANCE)):
        names = frame[column].unique(maintain_order=True).drop_nulls()
        bad_names = [name for name in names if flaw_in_name(name, longest)]
        if bad_names:
            first_name = visible(bad_names[0][:MAX_NAME_LENGTH_SHOWN])
            flaw = flaw_in_name(bad_names[0], longest)
            reason = f"the {column} '{first_name}' cannot be a name: {flaw}"
            frame = reject(frame, pl.col(column).cast(pl.String).is_in(bad_names), reason, rejected)
    return frame


def shown_names(names: Sequence[str]) -> str:
    """Names from a source as one message can display them: a few, shortened, escaped."""
    texts = [visible(name[:MAX_NAME_LENGTH_SHOWN]) for name in names[:MAX_NAMES_SHOWN]]
    if len(names) > MAX_NAMES_SHOWN:
        texts.append("...")
    return ", ".join(texts)


def ignored(names: Sequence[str], part: str = "column") -> tuple[str, ...]:
    """A note on parts of a source that are not used, if there are any."""
    if not names:
        return ()
    return (f"{counted(len(names), part)} ignored: {shown_names(names)}",)


def files_in(folder: Path, tool: str, *patterns: str) -> list[Path]:
    """Regular files of a tool in a folder and its subfolders, at least one."""
    paths: list[Path] = []
    if folder.is_dir():
        matches = (path for pattern in patterns for path in folder.rglob(pattern))
        # Only regular files: opening a pipe would wait for a writer.
        paths = sorted(path for path in matches if path.is_file())
    if not paths:
        raise ImportFailedError(
            f"{folder} is not a folder of {tool}: there is no {joined(patterns, 'or')} in it"
        )
    return paths


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a text file that `limits` has checked, without blanks around them."""
    try:
        if not path.is_file():  # Opening a pipe would wait for a writer.
            raise FileNotFoundError("there is no such file")
        with path.open(encoding="utf-8") as file:
            for line in file:
                yield line.strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImportFailedError(f"cannot read {path}: {error}") from None
