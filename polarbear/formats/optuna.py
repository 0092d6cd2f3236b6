"""Optuna's storages: the best value of each study so far, over trials or seconds.

A storage is an SQLite file or a journal; both are read as they are, without Optuna. A study is a
run, and its name says of what: 'TPE/problem/seed'.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from polarbear.errors import ImportFailedError
from polarbear.formats.base import Complaint, Imported, Point, imported_points
from polarbear.formats.layout import Named
from polarbear.wording import counted

MAXIMISE = ("MAXIMIZE", 2)
COMPLETE = ("COMPLETE", 1)
STEPS_AT_ONCE, MOST_STEPS = 10**5, 10**9  # of SQLite's machine; a trial takes some dozens
NEW_STUDY, DELETED_STUDY, NEW_TRIAL, TRIAL_ENDED = 0, 1, 4, 6  # of a journal's operations


@dataclass
class Trial:
    """When it began and ended, in seconds, and its value if it has one."""

    number: int
    started: float | None
    ended: float | None
    value: float | None


@dataclass
class Study:
    name: str
    directions: list[Any]
    trials: list[Trial] = field(default_factory=list)


class Optuna(Named):
    """A storage of Optuna: an SQLite file or a journal, in which each study is a run."""

    by: Literal["trials", "seconds"] = Field("trials", description="what time is: trials, seconds")

    def read(self, source: Path) -> Imported:
        studies = _studies(source)
        directions = {study.directions[0] in MAXIMISE for study in studies}
        if len(directions) > 1:
            raise ImportFailedError(f"{source} mixes studies to be minimised and to be maximised")
        maximise = directions.pop()
        points: list[Point] = []
        repeats: Counter[tuple[str, str]] = Counter()
        empty = []
        for study in studies:
            found = list(_points(study, self.by))
            if not found:
                empty.append(study.name)
                continue
            algorithm, base = self.split(study.name, source)
            repeats[algorithm, base] += 1
            instance = f"{base}#{repeats[algorithm, base]}"
            points += [(algorithm, instance, t, y) for t, y in found]
            last = max(_time(study, trial, self.by) or 0.0 for trial in study.trials)
            best = (max if maximise else min)(y for _, y in found)
            points.append((algorithm, instance, last, best))  # it went on until then
        complaints = []
        if empty:
            reason = "the study has no trial with a finite value"
            complaints.append(Complaint(len(empty), reason, f"study '{empty[0]}'"))
        notes = (f"{counted(len(studies), 'study', 'studies')} read; time is counted in {self.by}",)
        return imported_points(points, source, maximise, "keeps", complaints, notes, axis=self.by)


def _studies(source: Path) -> list[Study]:
    try:
        with source.open("rb") as file:
            is_sqlite = file.read(16) == b"SQLite format 3\0"
        studies = _from_sqlite(source) if is_sqlite else _from_journal(source)
    except OSError as error:
        raise ImportFailedError(f"cannot read {source}: {error.strerror}") from None
    except (
        sqlite3.Error,
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        reason = str(error).partition("\n")[0][:200]
        raise ImportFailedError(f"{source} is not a storage of Optuna: {reason}") from None
    if not studies:
        raise ImportFailedError(f"{source} holds no study of Optuna")
    for study in studies:
        if len(study.directions) != 1:
            raise ImportFailedError(
                f"the study '{study.name}' in {source} has {len(study.directions)} objectives; "
                "those of one can be ranked"
            )
    return studies


def _from_sqlite(source: Path) -> list[Study]:
    uri = f"{source.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as database:
        _bound(database)
        rows = database.execute("select study_id, study_name from studies order by study_id")
        studies = {number: Study(str(name), []) for number, name in rows}
        for number, direction in database.execute(
            "select study_id, direction from study_directions order by objective"
        ):
            studies[number].directions.append(direction)
        query = (
            "select t.study_id, t.number, t.state, t.datetime_start, t.datetime_complete, v.value "
            "from trials t left join trial_values v on v.trial_id = t.trial_id and v.objective = 0 "
            "order by t.number"
        )
        for number, place, state, started, ended, value in database.execute(query):
            finished = float(value) if state in COMPLETE and value is not None else None
            trial = Trial(int(place), _seconds(started), _seconds(ended), finished)
            studies[number].trials.append(trial)
    return list(studies.values())


def _bound(database: sqlite3.Connection) -> None:
    """Interrupt whoever asks for ever: a table of somebody else's may be a view without end."""
    left = iter(range(MOST_STEPS // STEPS_AT_ONCE))
    database.set_progress_handler(lambda: next(left, None) is None, STEPS_AT_ONCE)


def _from_journal(source: Path) -> list[Study]:
    studies: dict[int, Study] = {}
    trials: list[Trial] = []
    made = 0
    for line in source.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        entry = json.loads(line)
        operation = entry["op_code"]
        if operation == NEW_STUDY:
            if all(entry["study_name"] != study.name for study in studies.values()):
                studies[made] = Study(str(entry["study_name"]), list(entry["directions"]))
                made += 1
        elif operation == DELETED_STUDY:
            studies.pop(entry["study_id"], None)
        elif operation == NEW_TRIAL:
            study = studies.get(entry["study_id"])
            number = len(study.trials) if study else 0
            state, values = entry.get("state"), entry.get("values")
            finished = float(values[0]) if state in COMPLETE and values else None
            started, ended = entry.get("datetime_start"), entry.get("datetime_complete")
            trials.append(Trial(number, _seconds(started), _seconds(ended), finished))
            if study:
                study.trials.append(trials[-1])
        elif operation == TRIAL_ENDED:
            trial = trials[entry["trial_id"]]
            values = entry.get("values")
            trial.value = float(values[0]) if entry["state"] in COMPLETE and values else None
            trial.started = _seconds(entry.get("datetime_start")) or trial.started
            trial.ended = _seconds(entry.get("datetime_complete")) or trial.ended
    return list(studies.values())


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _points(study: Study, by: str) -> Iterator[tuple[float, float]]:
    for trial in study.trials:
        t = _time(study, trial, by)
        if t is not None and trial.value is not None and isfinite(trial.value):
            yield t, trial.value


def _time(study: Study, trial: Trial, by: str) -> float | None:
    """When a trial was done: the number of trials by then, or seconds since the first began."""
    if by == "trials":
        return float(trial.number + 1)
    starts = [one.started for one in study.trials if one.started is not None]
    return None if trial.ended is None or not starts else trial.ended - min(starts)
