"""Rounds on disk, of the current and of past races: checkpoints, and the beliefs after them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from pydantic import AwareDatetime

from polarbear.config.stored_settings import SettingsOfFile, StoredSettings
from polarbear.errors import StoreError
from polarbear.inference.beliefs import Beliefs
from polarbear.racing import RoundRecord
from polarbear.store import file_io, tables
from polarbear.store.catalog import Catalog, File, empty, json_file, table_file
from polarbear.store.manifest import NUMBER
from polarbear.store.moments import moment, now
from polarbear.wording import counted

FOLDER = "rounds"
ABOUT = "race.json"
ENTERED = "entered.json"  # exists after a repair that has set rounds aside
MORE = "more.json"  # exists while a race runs on a requested number of further problems
CHECKPOINT = rf"round-({NUMBER})\.json"
RATINGS = ("mean", "low", "high", "p_best")
RELATIONS = ("p_above", "p_below", "p_alike", "error")
SCHEMAS = (tables.ROUND_RATINGS, tables.ROUND_PAIRS)


def beliefs_to_tables(beliefs: Beliefs) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Ratings over time, and relations of pairs: at each time, then over all times."""
    times = beliefs.times
    n = len(beliefs.algorithms)
    names = pl.Series(beliefs.algorithms, dtype=pl.String)
    rated = beliefs.mean, beliefs.low, beliefs.high, beliefs.best
    ratings = pl.DataFrame(
        {
            "algorithm": names.gather(np.repeat(np.arange(n), len(times))),
            "t": np.tile(times, n),
            **{name: value.ravel() for name, value in zip(RATINGS, rated, strict=True)},
        }
    )
    a, b = np.triu_indices(n, 1)

    def relations(
        t: list[float | None], above: np.ndarray, alike: np.ndarray, error: np.ndarray
    ) -> pl.DataFrame:
        columns = {
            "a": names.gather(np.repeat(a, len(t))),
            "b": names.gather(np.repeat(b, len(t))),
            "t": pl.Series(t * len(a), dtype=pl.Float64),
            "p_above": above[:, a, b].T.ravel(),
            "p_below": above[:, b, a].T.ravel(),
            "p_alike": alike[:, a, b].T.ravel(),
            "error": error[:, a, b].T.ravel(),
        }
        return pl.DataFrame(columns)

    pairs = [empty(tables.ROUND_PAIRS)]
    if beliefs.trusted:
        pairs.append(relations(times.tolist(), beliefs.above, beliefs.alike, beliefs.above_error))
    always = beliefs.always_above
    error = beliefs.always_above_error
    crossing = beliefs.crossing
    if always is not None and error is not None and crossing is not None:
        pairs.append(relations([None], always[None], crossing[None], error[None]))
    return ratings, pl.concat(pairs)


def beliefs_from_tables(ratings: pl.DataFrame, pairs: pl.DataFrame) -> Beliefs:
    """Beliefs from the tables of a round; a pair has one error, which holds for both directions."""
    names = tuple(ratings["algorithm"].unique(maintain_order=True))
    n = len(names)
    n_times = len(ratings) // n
    a, b = np.triu_indices(n, 1)

    def relations(rows: pl.DataFrame, n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        above = np.full((n_rows, n, n), np.nan)
        error = above.copy()
        alike = above.copy()
        if len(rows):
            by_time = {name: rows[name].to_numpy().reshape(-1, n_rows).T for name in RELATIONS}
            above[:, a, b] = by_time["p_above"]
            above[:, b, a] = by_time["p_below"]
            alike[:, a, b] = alike[:, b, a] = by_time["p_alike"]
            error[:, a, b] = error[:, b, a] = by_time["error"]
        return above, error, alike

    is_joint = pairs["t"].is_null()
    times = ratings["t"].to_numpy()[:n_times]
    rated = (ratings[name].to_numpy().reshape(n, n_times) for name in RATINGS)
    at_times = relations(pairs.filter(~is_joint), n_times)
    beliefs = Beliefs._make((names, times, *rated, *at_times, None, None, None))
    if not is_joint.any():
        return beliefs
    always_above, always_above_error, crossing = relations(pairs.filter(is_joint), 1)
    return beliefs._replace(
        always_above=always_above[0],
        always_above_error=always_above_error[0],
        crossing=crossing[0],
    )


@lru_cache(maxsize=1_000)
def _record(path: Path, data: bytes) -> RoundRecord:
    """A checkpoint from the content of its file, which a race and its report read several times."""
    return file_io.record(path, RoundRecord, file_io.from_json(path, data))


class Rounds:
    """The folder ``rounds/`` of a store, or that of a past race; ``last`` hides later rounds."""

    def __init__(self, catalog: Catalog, folder: str = FOLDER, last: int | None = None) -> None:
        self._catalog = catalog
        self.folder = folder
        self._last = last

    def add(self, record: RoundRecord, beliefs: Beliefs) -> None:
        """Store a round with the beliefs after it; a round of the same number is replaced."""
        replaced = self.files_of(record.state.round)[1:]
        stems = [name.rpartition("-")[0] for name in replaced]
        added = [
            table_file(stem, table, schema)
            for stem, table, schema in zip(stems, beliefs_to_tables(beliefs), SCHEMAS, strict=True)
        ]
        self._catalog.commit([*added, self.checkpoint(record)], replaced)

    def replace(self, record: RoundRecord) -> None:
        """Store another checkpoint of a round, whose beliefs stay."""
        self._catalog.commit([self.checkpoint(record)])

    def checkpoint(self, record: RoundRecord) -> File:
        """The file of a round."""
        return json_file(self._name(record.state.round), record.to_plain())

    def files_of(self, number: int) -> list[str]:
        """The files of a round, first the checkpoint; ``-*`` is in place of an unknown hash."""
        stems = [f"{self.folder}/{kind}-{number:04}" for kind in ("ratings", "pairs")]
        tables = [self._catalog.find(stem) or f"{stem}-*.parquet" for stem in stems]
        return [self._name(number), *tables]

    def files(self) -> list[str]:
        """All listed files of these rounds."""
        return self._catalog.names(f"{self.folder}/")

    def numbers(self) -> list[int]:
        """The numbers of the rounds, in order."""
        numbers = numbers_in(self.files(), f"{self.folder}/{CHECKPOINT}")
        return [number for number in numbers if self._last is None or number <= self._last]

    def read(self, number: int) -> RoundRecord:
        """The checkpoint of a round."""
        name = self._name(number)
        path = self._catalog.path / name
        with file_io.decoding(path):
            record = _record(path, self._catalog.read(name))
            if record.state.round != number:
                raise ValueError(f"it is round {record.state.round}")
        return record

    def posteriors(self) -> set[str]:
        """The keys of the posteriors of all rounds."""
        return {self.read(number).posterior for number in self.numbers()}

    def written(self, number: int) -> datetime:
        """When a round was stored."""
        changed = self._catalog.stat(self._name(number)).st_mtime
        return moment(changed)

    def last(self) -> RoundRecord | None:
        """The newest checkpoint, or None if there is no round."""
        numbers = self.numbers()
        return self.read(numbers[-1]) if numbers else None

    def beliefs(self, number: int) -> Beliefs:
        """The beliefs after a round: ratings over time, and relations of pairs."""
        _, ratings_file, pairs_file = self.files_of(number)
        ratings = self._read_table(ratings_file, tables.ROUND_RATINGS)
        pairs = self._read_table(pairs_file, tables.ROUND_PAIRS)
        with file_io.decoding(self._catalog.path / pairs_file):
            return beliefs_from_tables(ratings, pairs)

    def _read_table(self, name: str, schema: pa.Schema) -> pl.DataFrame:
        with file_io.decoding(self._catalog.path / name):
            return self._catalog.read_table(name, schema)

    def entered(self) -> dict[str, int]:
        """The rounds after which newcomers entered, if those rounds are to be replayed."""
        try:
            content = self._catalog.read_record(
                f"{self.folder}/{ENTERED}", dict[str, dict[str, int]]
            )
        except FileNotFoundError:
            return {}
        return content.get("entered", {})

    def requested(self) -> RequestedProblems | None:
        """The further problems that a race was asked for, if it has not ended since then."""
        try:
            return self._catalog.read_record(f"{self.folder}/{MORE}", RequestedProblems)
        except FileNotFoundError:
            return None

    def request(self, problems: RequestedProblems | None) -> None:
        """Note the further problems that a race is asked for; None for none."""
        if problems == self.requested():
            return
        name = f"{self.folder}/{MORE}"
        if problems is None:
            self._catalog.commit([], [name])
        else:
            self._catalog.commit([json_file(name, asdict(problems))])

    def _name(self, number: int) -> str:
        return f"{self.folder}/round-{number:04}.json"


@dataclass(frozen=True)
class RequestedProblems:
    """A request for a number of further ``problems``: the race has ``upto`` of them afterwards."""

    problems: int
    upto: int

    @property
    def words(self) -> str:
        """Why a race ends that has run on them."""
        return f"all candidates ran on {counted(self.problems, 'further problem')}"


def numbers_in(names: Iterable[str], pattern: str) -> list[int]:
    """The numbers of rounds or races in those names that match a pattern, in order."""
    matches = (re.fullmatch(pattern, name) for name in names)
    return sorted(int(match[1]) for match in matches if match)


class PastRace(NamedTuple):
    """The end of a past race: when, why, and its result."""

    race: int
    ended: str
    because: tuple[str, ...]
    rounds: int
    instances: int
    pareto_set: tuple[str, ...]


@dataclass(frozen=True)
class RaceEnd:
    """The content of ``race.json``: when and why a race ended, and its configuration."""

    race: int
    ended: AwareDatetime
    because: list[str]
    config: SettingsOfFile

    def file(self) -> File:
        facts = {**vars(self), "ended": self.ended.isoformat(), "config": self.config.plain()}
        return json_file(f"{folder_of(self.race)}/{ABOUT}", facts)


def folder_of(race: int) -> str:
    return f"races/race-{race:04}"


class Races:
    """The folder ``races/`` of a store: one folder per past race, each like ``rounds/``."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def numbers(self) -> list[int]:
        """The numbers of the past races, in order."""
        return numbers_in(self._catalog.names("races/"), f"races/race-({NUMBER})/{ABOUT}")

    @property
    def current(self) -> int:
        """The number of the race in ``rounds/``, which may not have begun."""
        return max(self.numbers(), default=0) + 1

    def end(self, because: Sequence[str], settings: StoredSettings) -> int | None:
        """Move the rounds of the current race, so that another one can begin.

        Gives the number of the race; None if it has no round.
        """
        rounds = Rounds(self._catalog)
        if not rounds.numbers():
            return None
        rounds.request(None)
        about = RaceEnd(self.current, now(), list(because), settings)
        folder = folder_of(about.race)
        files = rounds.files()
        moved = [(name.replace(FOLDER, folder, 1), self._catalog.read(name)) for name in files]
        self._catalog.commit([*moved, about.file()], files)
        return about.race

    def rounds(self, race: int) -> Rounds:
        """The rounds of a past race."""
        return Rounds(self._catalog, folder_of(race))

    def about(self, race: int) -> RaceEnd:
        """When and why a past race ended."""
        return self._catalog.read_record(f"{folder_of(race)}/{ABOUT}", RaceEnd)

    def past(self) -> list[PastRace]:
        """The results of all past races."""
        return [self._past_race(number) for number in self.numbers()]

    def _past_race(self, number: int) -> PastRace:
        about = self.about(number)
        last = self.rounds(number).last()
        if last is None:
            raise file_io.damaged(self._catalog.path / folder_of(number), "it has no round")
        return PastRace(
            race=number,
            ended=about.ended.isoformat(),
            because=tuple(about.because),
            rounds=last.state.round,
            instances=last.state.instances,
            pareto_set=last.state.candidates,
        )

    def posteriors(self) -> list[str]:
        """The keys of the posteriors that past races ended with."""
        last = [self.rounds(number).last() for number in self.numbers()]
        return [record.posterior for record in last if record is not None]

    def check(self, number: int) -> None:
        """Refuse the number of a race that is neither a past one nor the current one."""
        if number not in [*self.numbers(), self.current]:
            existing = f"races 1 to {self.current}" if self.current > 1 else "race 1"
            raise StoreError(f"{self._catalog.path} has no race {number}; it has {existing}")
