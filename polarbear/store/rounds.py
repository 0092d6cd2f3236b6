"""Rounds on disk, of the current and of past races: checkpoints, and the beliefs after them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
import polars as pl
from pydantic import AwareDatetime

from polarbear.config.stored_settings import SettingsOfFile, StoredSettings
from polarbear.errors import StoreError
from polarbear.inference.beliefs import Beliefs
from polarbear.racing import RoundRecord
from polarbear.store import file_io, tables
from polarbear.store.catalog import Catalog, File, empty, json_file, table_file
from polarbear.store.manifest import NUMBER

FOLDER = "rounds"
ABOUT = "race.json"
ENTERED = "entered.json"  # exists after a repair that has set rounds aside
CHECKPOINT = rf"round-({NUMBER})\.json"
RATINGS = ("mean", "low", "high", "p_best")
SCHEMAS = (tables.ROUND_RATINGS, tables.ROUND_PAIRS)


def beliefs_to_tables(beliefs: Beliefs) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Ratings over time, and relations of pairs: at each time, then over all times."""
    times, n = beliefs.times, len(beliefs.algorithms)
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
    always, error, crossing = beliefs.always_above, beliefs.always_above_error, beliefs.crossing
    if always is not None and error is not None and crossing is not None:
        pairs.append(relations([None], always[None], crossing[None], error[None]))
    return ratings, pl.concat(pairs)


def beliefs_from_tables(ratings: pl.DataFrame, pairs: pl.DataFrame) -> Beliefs:
    """Beliefs from the tables of a round; a pair's one error stands for both of its sides."""
    names = tuple(ratings["algorithm"].unique(maintain_order=True))
    n, size = len(names), len(ratings) // len(names)
    a, b = np.triu_indices(n, 1)

    def relations(rows: pl.DataFrame, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        above, error, alike = (np.full((size, n, n), np.nan) for _ in range(3))
        if len(rows):
            at = {c: rows[c].to_numpy().reshape(-1, size).T for c in rows.columns[3:]}
            above[:, a, b], above[:, b, a] = at["p_above"], at["p_below"]
            alike[:, a, b] = alike[:, b, a] = at["p_alike"]
            error[:, a, b] = error[:, b, a] = at["error"]
        return above, error, alike

    is_joint = pairs["t"].is_null()
    joint = relations(pairs.filter(is_joint), 1) if is_joint.any() else None
    rated = (ratings[name].to_numpy().reshape(n, size) for name in RATINGS)
    at_times = relations(pairs.filter(~is_joint), size)
    over_all = (None,) * 3 if joint is None else (one[0] for one in joint)
    return Beliefs._make((names, ratings["t"].to_numpy()[:size], *rated, *at_times, *over_all))


class Rounds:
    """The folder ``rounds/`` of a store, or that of a past race; ``last`` hides later rounds."""

    def __init__(self, catalog: Catalog, folder: str = FOLDER, last: int | None = None) -> None:
        self._catalog, self.folder, self._last = catalog, folder, last

    def add(self, record: RoundRecord, beliefs: Beliefs) -> None:
        """Store a round with the beliefs after it; a round of the same number is replaced."""
        old = self.files_of(record.state.round)[1:]
        stems = [name.rpartition("-")[0] for name in old]
        made = zip(stems, beliefs_to_tables(beliefs), SCHEMAS, strict=True)
        added = [table_file(*one) for one in made]
        self._catalog.commit([*added, self.checkpoint(record)], old)

    def checkpoint(self, record: RoundRecord) -> File:
        """The file of a round."""
        return json_file(self._name(record.state.round), record.to_plain())

    def files_of(self, number: int) -> list[str]:
        """The files of a round, first the checkpoint; ``-*`` is in place of an unknown hash."""
        stems = [f"{self.folder}/{kind}-{number:04}" for kind in ("ratings", "pairs")]
        found = [self._catalog.find(stem) or f"{stem}-*.parquet" for stem in stems]
        return [self._name(number), *found]

    def files(self) -> list[str]:
        """All listed files of these rounds."""
        return self._catalog.names(f"{self.folder}/")

    def numbers(self) -> list[int]:
        """The numbers of the rounds, in order."""
        found = numbers_in(self.files(), f"{self.folder}/{CHECKPOINT}")
        return [n for n in found if self._last is None or n <= self._last]

    def read(self, number: int) -> RoundRecord:
        """The checkpoint of a round."""
        name = self._name(number)
        with file_io.decoding(self._catalog.path / name):
            record = self._catalog.read_record(name, RoundRecord)
            if record.state.round != number:
                raise ValueError(f"it is round {record.state.round}")
        return record

    def posteriors(self) -> set[str]:
        """The keys of the posteriors of all rounds."""
        return {self.read(number).posterior for number in self.numbers()}

    def written(self, number: int) -> datetime:
        """When a round was stored."""
        changed = self._catalog.stat(self._name(number)).st_mtime
        return datetime.fromtimestamp(changed, UTC)

    def last(self) -> RoundRecord | None:
        """The newest checkpoint, or None if there is no round."""
        numbers = self.numbers()
        return self.read(numbers[-1]) if numbers else None

    def beliefs(self, number: int) -> Beliefs:
        """The beliefs after a round: ratings over time, and relations of pairs."""
        found = []
        for name, schema in zip(self.files_of(number)[1:], SCHEMAS, strict=True):
            path = self._catalog.path / name
            with file_io.decoding(path):
                found.append(self._catalog.read_table(name, schema))
        with file_io.decoding(path):
            return beliefs_from_tables(*found)

    def entered(self) -> dict[str, int]:
        """The rounds after which newcomers entered, if those rounds are to be replayed."""
        try:
            found = self._catalog.read_record(f"{self.folder}/{ENTERED}", dict[str, dict[str, int]])
        except FileNotFoundError:
            return {}
        return found.get("entered", {})

    def _name(self, number: int) -> str:
        return f"{self.folder}/round-{number:04}.json"


def numbers_in(names: Iterable[str], pattern: str) -> list[int]:
    """The numbers of rounds or races in those names that match a pattern, in order."""
    found = (re.fullmatch(pattern, name) for name in names)
    return sorted(int(match[1]) for match in found if match)


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
        about = RaceEnd(self.current, datetime.now(UTC), list(because), settings)
        folder, old = folder_of(about.race), rounds.files()
        moved = [(name.replace(FOLDER, folder, 1), self._catalog.read(name)) for name in old]
        self._catalog.commit([*moved, about.file()], old)
        return about.race

    def rounds(self, race: int) -> Rounds:
        """The rounds of a past race."""
        return Rounds(self._catalog, folder_of(race))

    def about(self, race: int) -> RaceEnd:
        """When and why a past race ended."""
        return self._catalog.read_record(f"{folder_of(race)}/{ABOUT}", RaceEnd)

    def past(self) -> list[PastRace]:
        """The results of all past races."""
        found = []
        for number in self.numbers():
            about, last = self.about(number), self.rounds(number).last()
            if last is None:
                raise file_io.damaged(self._catalog.path / folder_of(number), "it has no round")
            result = last.state.round, last.state.instances, last.state.candidates
            found.append(PastRace(number, about.ended.isoformat(), tuple(about.because), *result))
        return found

    def posteriors(self) -> list[str]:
        """The keys of the posteriors that past races ended with."""
        last = [self.rounds(number).last() for number in self.numbers()]
        return [record.posterior for record in last if record is not None]

    def check(self, number: int) -> None:
        """Refuse the number of a race that is neither a past one nor the current one."""
        if number not in [*self.numbers(), self.current]:
            held = f"races 1 to {self.current}" if self.current > 1 else "race 1"
            raise StoreError(f"{self._catalog.path} has no race {number}; it has {held}")
