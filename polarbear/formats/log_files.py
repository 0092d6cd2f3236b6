"""Logs of solvers, one file for each run, whose path names the algorithm and the instance."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import polars as pl
from pydantic import Field, field_validator

from polarbear.algorithms.solver_logs import LOGS
from polarbear.algorithms.solver_logs.log_format import Ending, LogFormat, named_log
from polarbear.algorithms.solver_logs.log_reader import LoggedRun
from polarbear.errors import ImportFailedError
from polarbear.execution.outcome import Status
from polarbear.formats import base, limits
from polarbear.problems.specs import PROBLEM
from polarbear.settings.enumerations import AfterEnd
from polarbear.settings.grid import SECONDS
from polarbear.settings.options import unknown
from polarbear.wording import counted, noun

PARTS = base.RUN_NAME_PARTS
MAX_RATIO_OF_LIMITS = 1.1  # of the ends of runs that had the same limit
SCHEMA = {
    "algorithm": pl.String,
    "instance": pl.String,
    "t": pl.Float64,
    "y": pl.Float64,
    "status": pl.String,
    "line": pl.String,
}


class LogFile(NamedTuple):
    """A log, and the run that its path names."""

    path: Path
    algorithm: str
    instance: str
    seed: str


@dataclass(frozen=True)
class ImportedLog:
    """A log that was read: its run, and the instance under the name in the store."""

    file: LogFile
    instance: str
    run: LoggedRun
    status: Status

    def rows(self) -> Iterator[tuple[str, str, float, float | None, str, str]]:
        """The rows of its points and of its end."""
        algorithm = self.file.algorithm
        path = str(self.file.path)
        for point in self.run.points:
            yield algorithm, self.instance, point.t, point.y, self.status.value, path
        yield algorithm, self.instance, self.run.end or 0.0, None, self.status.value, path


class SolverLogs(base.Format):
    """Logs of solvers: files, or all in a folder, each of one run."""

    log: str | None = Field(
        None,
        alias="read",
        description="whose logs these are, or a regular expression with the groups t and y, as of "
        "`command`; by default each log tells",
    )
    pattern: str = Field(
        "{algorithm}/{instance}.log",
        description="what the end of a path names: {algorithm}, {instance} and perhaps {seed}; * "
        "stands for any text",
    )
    maximise: bool = base.MAXIMISE
    after_end: AfterEnd = Field(
        AfterEnd.ABSENT,
        description="after the end of a log that tells no proof an algorithm is absent, or keeps "
        "its best",
    )

    @field_validator("log")
    @classmethod
    def _known_log(cls, log: str | None) -> str | None:
        if log is not None:
            named_log(log)
        return log

    @field_validator("pattern")
    @classmethod
    def _known_parts(cls, pattern: str) -> str:
        names = re.findall(r"\{([^{}]*)\}", pattern)
        for name in names:
            if name not in PARTS:
                raise ValueError(unknown("part of a path", name, PARTS))
        for name in ("algorithm", "instance"):
            if name not in names:
                raise ValueError(f"{{{name}}} is missing in '{pattern}'")
        if len(set(names)) < len(names):
            raise ValueError(f"a part occurs twice in '{pattern}'")
        return pattern

    def read(self, source: Path) -> base.Imported:
        return self.read_all([source])

    def read_all(self, sources: Sequence[Path]) -> base.Imported:
        """The runs in all logs."""
        files, ignored = self._files(sources)
        limits.check_text_files([file.path for file in files], sources[0])
        rejected: list[base.Rejection] = []
        logs = [log for file in files if (log := self._read_log(file, rejected)) is not None]
        if not logs:
            raise ImportFailedError(
                f"no log can be read: {rejected[0].first}: {rejected[0].reason}"
            )
        logs = _numbered(logs) if "{seed}" in self.pattern else logs
        rows = [row for log in logs for row in log.rows()]
        frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
        frame = base.reject_names(frame, rejected)
        if not len(frame):
            raise ImportFailedError(f"no log has a valid name: {rejected[-1].words}")
        facts = {log.instance: {PROBLEM: log.file.instance} for log in logs if log.file.seed}
        imported = base.imported_frame(frame, facts, self.maximise, self.after_end, "best")
        return replace(
            imported,
            rejected=tuple(rejected),
            notes=(*self._notes(logs), *base.ignored(ignored, "file")),
            axis=SECONDS,
            last_time=_last_time(logs),
        )

    def _files(self, sources: Sequence[Path]) -> tuple[list[LogFile], list[str]]:
        """The logs, in the order of their names, and the files of folders that are none."""
        files: list[LogFile] = []
        ignored: list[str] = []
        for source in sources:
            if source.is_dir():
                for path in sorted(path for path in source.rglob("*") if path.is_file()):
                    file = self._named(path)
                    if file is None:
                        ignored.append(str(path.relative_to(source)))
                    else:
                        files.append(file)
                continue
            if not source.is_file():  # opening a pipe would wait for a writer
                raise ImportFailedError(f"cannot read {source}: there is no such file")
            file = self._named(source)
            if file is None:
                raise ImportFailedError(
                    f"the path {source} is not as --pattern '{self.pattern}' says"
                )
            files.append(file)
        if not files:
            raise ImportFailedError(
                f"no file in {sources[0]} has a path as --pattern '{self.pattern}' says"
            )
        first_of: dict[tuple[str, str, str], Path] = {}
        for file in files:
            first = first_of.setdefault(file[1:], file.path)
            if first is not file.path:
                raise ImportFailedError(
                    f"{first} and {file.path} are logs of one run by --pattern '{self.pattern}': "
                    "distinguish them by {seed}"
                )
        return files, ignored

    def _named(self, path: Path) -> LogFile | None:
        """The run that the end of a path names; None if it is not as the pattern says."""
        pieces = re.split(r"(\{\w+\}|\*)", self.pattern)
        expression = ""
        for piece in pieces:
            if piece == "*":
                expression += "[^/]*"
            elif piece.startswith("{"):
                expression += f"(?P<{piece[1:-1]}>[^/]+)"
            else:
                expression += re.escape(piece)
        match = re.search(rf"(?:^|/){expression}$", path.absolute().as_posix())
        if match is None:
            return None
        names = match.groupdict()
        return LogFile(path, names["algorithm"], names["instance"], names.get("seed", ""))

    def _read_log(self, file: LogFile, rejected: list[base.Rejection]) -> ImportedLog | None:
        """Read a log; None if it is left out, with the reason in ``rejected``."""
        run = self._logged_run(file.path)
        flaw = _flaw(run)
        if flaw is not None:
            line, reason = flaw
            location = str(file.path) if line is None else f"{file.path}, line {line}"
            rejected.append(base.Rejection(1, reason, location))
            return None
        assert run is not None
        if run.incomplete is not None:
            location = f"{file.path}, line {run.incomplete}"
            rejected.append(base.Rejection(1, "the last line is incomplete", location))
        if run.untimed:
            location = f"{file.path}, line {run.untimed[0]}"
            reason = "no later line tells when the value was found"
            rejected.append(base.Rejection(len(run.untimed), reason, location))
        return ImportedLog(file, file.instance, run, self._status(run.ending))

    def _logged_run(self, path: Path) -> LoggedRun | None:
        """The run in a file by the log that it is; None if that is unclear."""
        try:
            if self.log is not None:
                return LoggedRun(named_log(self.log)).read(_lines(path))
            return _recognised(path)
        except OSError as error:
            raise ImportFailedError(f"cannot read {path}: {error.strerror}") from None

    def _status(self, ending: Ending | None) -> Status:
        if ending is not None and ending is not Ending.LIMIT:
            return Status(ending.value)
        if self.after_end is AfterEnd.ABSENT:
            return Status.BUDGET
        return Status.ENDED if ending is None else Status.LIMIT

    def _notes(self, logs: Sequence[ImportedLog]) -> Iterator[str]:
        without_end = [log for log in logs if log.run.ending is None]
        if without_end:
            say = noun(len(without_end), "log does not say", "logs do not say")
            yield (
                f"{len(without_end)} {say} how the search ended (first: {without_end[0].file.path})"
            )
        changes = [log.run.points[-1].y - log.run.points[0].y for log in logs if log.run.points]
        changes = [change for change in changes if change]
        sign = -1 if self.maximise else 1
        if changes and all(sign * change > 0 for change in changes):
            direction = "smaller" if self.maximise else "larger"
            remedy = "leave out" if self.maximise else "add"
            yield (
                f"values get {direction} in all {counted(len(changes), 'log')} with several: "
                f"{remedy} --maximise if {direction} is better"
            )


def _lines(path: Path) -> Iterator[str]:
    """The lines of a log, with their ends."""
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        yield from file


def _recognised(path: Path) -> LoggedRun | None:
    """The run by the only log that has lines like these, or that has its first line."""
    log_formats: Iterable[LogFormat] = LOGS.values()
    runs = [LoggedRun(log_format).read(_lines(path)) for log_format in log_formats]
    with_entries = [run for run in runs if run.has_entries]
    with_start = [run for run in runs if run.has_start]
    for candidates in (with_start, with_entries):
        if len(candidates) == 1:
            return candidates[0]
    return None


def _flaw(run: LoggedRun | None) -> tuple[int | None, str] | None:
    """The line and the reason why a log is left out; None if it can be used."""
    if run is None:
        return None, f"it does not tell whose log it is: --read NAME, one of {', '.join(LOGS)}"
    if not run.has_entries:
        return None, f"no line is one of a log that --read {run.log_format.name} reads"
    if run.remedy:
        return None, run.remedy
    if run.other_start is not None:
        return run.other_start, "another run begins, but a file has the log of one"
    if run.ending is Ending.INFEASIBLE and run.points:
        return run.points[0].line, "the value is one of an instance that the log calls infeasible"
    if run.end is None:
        first = run.untimed[0] if run.untimed else run.incomplete
        return first, (
            "no line tells the time: race the program itself, by `read` of `command`, or let it "
            "print the time"
        )
    return None


def _numbered(logs: Sequence[ImportedLog]) -> list[ImportedLog]:
    """Logs with seeds: the k-th seed of an algorithm on an instance is its k-th run there."""
    seeds: dict[tuple[str, str], list[str]] = {}
    for log in logs:
        seeds.setdefault((log.file.algorithm, log.file.instance), []).append(log.file.seed)
    for of_runs in seeds.values():
        of_runs.sort(key=_seed_order)
    return [
        replace(
            log,
            instance=f"{log.file.instance}#"
            f"{seeds[log.file.algorithm, log.file.instance].index(log.file.seed) + 1}",
        )
        for log in logs
    ]


def _seed_order(seed: str) -> tuple[int, str]:
    """Numbers are ordered as numbers, before other texts."""
    return (len(seed), seed) if seed.isdecimal() else (len(seed) + 1000, seed)


def _last_time(logs: Sequence[ImportedLog]) -> float | None:
    """The earliest end of the logs that ended at a limit, if all had the same one.

    Solvers notice their limit a little late, so that later only some algorithms could be compared.
    """
    ends = [log.run.end for log in logs if log.status is Status.BUDGET and log.run.end]
    if not ends or max(ends) > MAX_RATIO_OF_LIMITS * min(ends):
        return None
    return min(ends)
