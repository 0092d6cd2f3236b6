"""Storages of Optuna: the best value so far of each study, over trials or seconds.

A storage is an SQLite file or a journal; both are read without Optuna. A study is a run, and its
name identifies it: 'TPE/problem/seed'.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf, isfinite
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from polarbear.errors import ImportFailedError
from polarbear.formats import base, limits
from polarbear.rankings.outcomes import total_violation
from polarbear.store.file_io import JsonObject
from polarbear.wording import counted, noun

MAXIMISE = ("MAXIMIZE", 2)
COMPLETE = ("COMPLETE", 1)
# System attributes of a trial: the values of all constraints, or that of one. A trial is feasible
# if all of them are at most 0.
CONSTRAINTS = "constraints"
CONSTRAINT = "constraints:"
MAX_SQLITE_STEPS = 2 * 10**8  # some seconds; a trial takes some dozens of steps
MAX_SQLITE_TEXT_BYTES = 2**20  # bytes of a text or a row of a database
FEWER_STUDIES = "copy some of its studies to another storage"
MAX_TRIALS = 1_000_000  # trials of all studies of a storage; studies; constraints of trials
SQLITE_STEPS_PER_CHECK = 10**5
# The operations of a journal that are read.
NEW_STUDY = 0
DELETED_STUDY = 1
NEW_TRIAL = 4
TRIAL_ENDED = 6
TRIAL_ATTRIBUTE = 9


@dataclass(slots=True)
class OptunaTrial:
    """A trial: its start and end in seconds, and its value if it has one."""

    started: float | None = None
    ended: float | None = None
    value: float | None = None
    constraints: list[float] = field(default_factory=list)


@dataclass
class Study:
    """A study: whether each of its objectives is maximised, and its trials in their order."""

    name: str
    maximise: list[bool]
    trials: list[OptunaTrial] = field(default_factory=list)

    def points(self, by: str, tolerance: float) -> list[tuple[float, float, float]]:
        """The time, value and violation of each trial; those of the last are repeated at the end.

        Time is the number of trials up to a trial, or the seconds since the first start. Failed
        trials take time, too.
        """
        start = min((trial.started for trial in self.trials if trial.started), default=inf)
        times = [
            float(number) if by == "trials" else (trial.ended or -inf) - start
            for number, trial in enumerate(self.trials, 1)
        ]
        points = [
            (t, trial.value, total_violation(trial.constraints, tolerance))
            for t, trial in zip(times, self.trials, strict=True)
            if isfinite(t) and trial.value is not None and isfinite(trial.value)
        ]
        points = [point for point in points if isfinite(point[-1])]
        if points:
            points.append((max(times), *points[-1][1:]))
        return points


class Optuna(base.NamedRuns):
    """A storage of Optuna: an SQLite file or a journal, in which each study is a run."""

    by: Literal["trials", "seconds"] = Field("trials", description="what time is: trials, seconds")
    feasibility_tolerance: float = base.FEASIBILITY_TOLERANCE

    def read(self, source: Path) -> base.Imported:
        studies = _studies(source)
        directions = {study.maximise[0] for study in studies}
        if len(directions) > 1:
            raise ImportFailedError(f"{source} mixes studies to be minimised and maximised")
        maximise = directions == {True}
        runs = base.RunCollection(source)
        empty_studies = []
        for study in studies:
            points = study.points(self.by, self.feasibility_tolerance)
            if points:
                algorithm, instance = self.split(study.name, source)
                runs.add(algorithm, instance, points)
            else:
                empty_studies.append(study.name)
        if empty_studies:
            reason = "the study has no trial with a finite value"
            first = f"study '{base.shown_names(empty_studies[:1])}'"
            runs.rejected.append(base.Rejection(len(empty_studies), reason, first))
        notes = [f"{counted(len(studies), 'study', 'studies')} read; time is counted in {self.by}"]
        trials = [trial for study in studies for trial in study.trials]
        violations = [total_violation(t.constraints, self.feasibility_tolerance) for t in trials]
        n_infeasible = sum(violation != 0 for violation in violations)
        if n_infeasible:
            come = noun(n_infeasible, "comes", "come")
            notes.append(
                f"{counted(n_infeasible, 'infeasible trial')} {come} after all feasible ones, by "
                "the sum of the constraints above 0"
            )
        return runs.imported(maximise, notes=tuple(notes), axis=self.by)


def _studies(source: Path) -> list[Study]:
    try:
        with source.open("rb") as file:
            is_sqlite = file.read(16) == b"SQLite format 3\0"
        studies = _from_sqlite(source) if is_sqlite else _from_journal(source)
    except OSError as error:
        raise ImportFailedError(f"cannot read {source}: {error.strerror}") from None
    except (sqlite3.Error, *base.INVALID) as error:
        reason = str(error).partition("\n")[0][:200]
        raise ImportFailedError(f"{source} is not a storage of Optuna: {reason}") from None
    if not studies:
        raise ImportFailedError(f"{source} has no study of Optuna")
    for study in studies:
        if len(study.maximise) != 1:
            raise ImportFailedError(
                f"the study '{base.shown_names([study.name])}' in {source} has "
                f"{len(study.maximise)} objectives; "
                "only single-objective studies can be ranked"
            )
    return studies


def _from_sqlite(source: Path) -> list[Study]:
    uri = f"{source.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as database:
        # A table in a foreign file may be a recursive view: the handler ends endless queries.
        checks = iter(range(MAX_SQLITE_STEPS // SQLITE_STEPS_PER_CHECK))
        database.set_progress_handler(lambda: next(checks, None) is None, SQLITE_STEPS_PER_CHECK)
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_SQLITE_TEXT_BYTES)
        studies: dict[int, Study] = {}
        query = "select study_id, study_name from studies"
        for number, name in _rows(database, query, "study_id", "studies", source):
            studies[number] = Study(_name(name, source), [])
        query = "select study_id, direction from study_directions"
        for number, direction in _rows(database, query, "objective", "objectives", source):
            studies[number].maximise.append(direction in MAXIMISE)
        trials: dict[int, OptunaTrial] = {}
        query = (
            "select t.trial_id, study_id, state, datetime_start, datetime_complete, v.value "
            "from trials t left join trial_values v on v.trial_id = t.trial_id and v.objective = 0"
        )
        rows = _rows(database, query, "t.number", "trials", source)
        for trial_id, number, state, started, ended, value in rows:
            has_value = state in COMPLETE and value is not None
            final_value = float(value) if has_value else None
            trial = OptunaTrial(_seconds(started), _seconds(ended), final_value)
            trials[trial_id] = trial
            studies[number].trials.append(trial)
        query = (
            "select trial_id, key, value_json from trial_system_attributes "
            f"where key = '{CONSTRAINTS}' or key like '{CONSTRAINT}%'"
        )
        rows = _rows(database, query, "trial_id", "constraints of trials", source)
        for trial_id, name, text in rows:
            if trial_id in trials:
                _add_constraints(trials[trial_id], {name: json.loads(text)})
    return list(studies.values())


def _name(text: object, source: Path) -> str:
    """The name of a study, of bounded length."""
    name = str(text)
    where = f"the name of a study in {source}"
    limits.check(len(name), limits.MAX_TEXT_BYTES, "characters", where, "rename the study")
    return name


def _rows(
    database: sqlite3.Connection, query: str, order: str, units: str, source: Path
) -> Iterator[tuple[Any, ...]]:
    """The rows of a query in an order; they are counted first, up to the limit."""
    bounded_query = f"{query} limit {MAX_TRIALS + 1}"
    ((n_rows,),) = database.execute(f"select count(*) from ({bounded_query})")
    limits.check(n_rows, MAX_TRIALS, units, source, FEWER_STUDIES)
    yield from database.execute(f"{query} order by {order}")


def _from_journal(source: Path) -> list[Study]:
    limits.check_text_files([source], source)
    studies: dict[int, Study] = {}
    names: set[str] = set()  # of the studies that were not deleted
    trials: list[OptunaTrial] = []
    n_created = 0
    for line in base.read_lines(source):
        if not line:
            continue
        entry = json.loads(line)
        operation = entry["op_code"]
        if operation == NEW_STUDY:
            name = _name(entry["study_name"], source)
            if name not in names:
                maximise = [direction in MAXIMISE for direction in entry["directions"]]
                studies[n_created] = Study(name, maximise)
                names.add(name)
                n_created += 1
        elif operation == DELETED_STUDY:
            deleted_study = studies.pop(entry["study_id"], None)
            if deleted_study is not None:
                names.remove(deleted_study.name)
        elif operation == NEW_TRIAL:
            study = studies.get(entry["study_id"], Study("deleted", []))
            trial = OptunaTrial()
            trials.append(trial)
            limits.check(len(trials), MAX_TRIALS, "trials", source, FEWER_STUDIES)
            study.trials.append(trial)
            _update(trial, entry)
            _add_constraints(trial, entry.get("system_attrs", {}))
        elif operation == TRIAL_ENDED:
            _update(trials[entry["trial_id"]], entry)
        elif operation == TRIAL_ATTRIBUTE:
            _add_constraints(trials[entry["trial_id"]], entry["system_attr"])
    return list(studies.values())


def _add_constraints(trial: OptunaTrial, attributes: JsonObject) -> None:
    """Add the constraints among the attributes of a trial."""
    for name, value in attributes.items():
        if name == CONSTRAINTS:
            trial.constraints += [float(constraint) for constraint in value or []]
        elif name.startswith(CONSTRAINT):
            trial.constraints.append(float(value))


def _update(trial: OptunaTrial, entry: JsonObject) -> None:
    """Set the value and the times of a trial to those of an entry of a journal."""
    values = entry.get("values") or [entry.get("value")]
    is_complete = entry.get("state") in COMPLETE
    trial.value = float(values[0]) if is_complete and values[0] is not None else None
    trial.started = _seconds(entry.get("datetime_start")) or trial.started
    trial.ended = _seconds(entry.get("datetime_complete")) or trial.ended


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
