"""Storages of Optuna: the best value so far of each study, over trials or seconds.

A storage is an SQLite file or a journal; both are read without Optuna. A study is a run, and its
name identifies it: 'TPE/problem/seed'.
"""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf, isfinite
from pathlib import Path
from typing import Literal

from pydantic import Field

from polarbear.errors import ImportFailedError
from polarbear.formats import base
from polarbear.store.file_io import JsonObject
from polarbear.wording import counted

MAXIMISE = ("MAXIMIZE", 2)
COMPLETE = ("COMPLETE", 1)
MAX_SQLITE_STEPS = 2 * 10**8  # some seconds; a trial takes some dozens of steps
SQLITE_STEPS_PER_CHECK = 10**5
# The operations of a journal that are read.
NEW_STUDY = 0
DELETED_STUDY = 1
NEW_TRIAL = 4
TRIAL_ENDED = 6


@dataclass
class OptunaTrial:
    """A trial: its start and end in seconds, and its value if it has one."""

    started: float | None = None
    ended: float | None = None
    value: float | None = None


@dataclass
class Study:
    """A study: the directions of its objectives, and its trials in their order."""

    name: str
    directions: list[object]
    trials: list[OptunaTrial] = field(default_factory=list)

    def points(self, by: str, maximise: bool) -> list[tuple[float, float]]:
        """The time and value of each finished trial; the best value is repeated at the end.

        Time is the number of trials up to a trial, or the seconds since the first start.
        """
        start = min((trial.started for trial in self.trials if trial.started), default=inf)
        times = [
            float(number) if by == "trials" else (trial.ended or -inf) - start
            for number, trial in enumerate(self.trials, 1)
        ]
        points = [
            (t, trial.value)
            for t, trial in zip(times, self.trials, strict=True)
            if isfinite(t) and trial.value is not None and isfinite(trial.value)
        ]
        if points:
            best = (max if maximise else min)(y for _, y in points)
            points.append((max(times), best))
        return points


class Optuna(base.NamedRuns):
    """A storage of Optuna: an SQLite file or a journal, in which each study is a run."""

    by: Literal["trials", "seconds"] = Field("trials", description="what time is: trials, seconds")

    def read(self, source: Path) -> base.Imported:
        studies = _studies(source)
        directions = {study.directions[0] in MAXIMISE for study in studies}
        if len(directions) > 1:
            raise ImportFailedError(f"{source} mixes studies to be minimised and maximised")
        maximise = directions == {True}
        runs = base.RunCollection(source)
        empty_studies = []
        for study in studies:
            points = study.points(self.by, maximise)
            if points:
                algorithm, instance = self.split(study.name, source)
                runs.add(algorithm, instance, points)
            else:
                empty_studies.append(study.name)
        if empty_studies:
            reason = "the study has no trial with a finite value"
            first = f"study '{empty_studies[0]}'"
            runs.rejected.append(base.Rejection(len(empty_studies), reason, first))
        notes = (f"{counted(len(studies), 'study', 'studies')} read; time is counted in {self.by}",)
        return runs.imported(maximise, notes=notes, axis=self.by)


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
        if len(study.directions) != 1:
            raise ImportFailedError(
                f"the study '{study.name}' in {source} has {len(study.directions)} objectives; "
                "only single-objective studies can be ranked"
            )
    return studies


def _from_sqlite(source: Path) -> list[Study]:
    uri = f"{source.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as database:
        # A table in a foreign file may be a recursive view: the handler ends endless queries.
        checks = iter(range(MAX_SQLITE_STEPS // SQLITE_STEPS_PER_CHECK))
        database.set_progress_handler(lambda: next(checks, None) is None, SQLITE_STEPS_PER_CHECK)
        rows = database.execute("select study_id, study_name from studies order by study_id")
        studies = {number: Study(str(name), []) for number, name in rows}
        for number, direction in database.execute(
            "select study_id, direction from study_directions order by objective"
        ):
            studies[number].directions.append(direction)
        query = (
            "select t.study_id, t.state, t.datetime_start, t.datetime_complete, v.value "
            "from trials t left join trial_values v on v.trial_id = t.trial_id and v.objective = 0 "
            "order by t.number"
        )
        for number, state, started, ended, value in database.execute(query):
            has_value = state in COMPLETE and value is not None
            final_value = float(value) if has_value else None
            trial = OptunaTrial(_seconds(started), _seconds(ended), final_value)
            studies[number].trials.append(trial)
    return list(studies.values())


def _from_journal(source: Path) -> list[Study]:
    studies: dict[int, Study] = {}
    trials: list[OptunaTrial] = []
    n_created = 0
    for line in base.read_lines(source):
        if not line:
            continue
        entry = json.loads(line)
        operation = entry["op_code"]
        if operation == NEW_STUDY:
            if all(entry["study_name"] != study.name for study in studies.values()):
                studies[n_created] = Study(str(entry["study_name"]), list(entry["directions"]))
                n_created += 1
        elif operation == DELETED_STUDY:
            studies.pop(entry["study_id"], None)
        elif operation == NEW_TRIAL:
            study = studies.get(entry["study_id"], Study("deleted", []))
            trial = OptunaTrial()
            trials.append(trial)
            study.trials.append(trial)
            _update(trial, entry)
        elif operation == TRIAL_ENDED:
            _update(trials[entry["trial_id"]], entry)
    return list(studies.values())


def _update(trial: OptunaTrial, entry: JsonObject) -> None:
    """Set the value and the times of a trial to those of an entry of a journal."""
    values = entry.get("values")
    is_complete = entry.get("state") in COMPLETE
    trial.value = float(values[0]) if is_complete and values else None
    trial.started = _seconds(entry.get("datetime_start")) or trial.started
    trial.ended = _seconds(entry.get("datetime_complete")) or trial.ended


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
