"""Rounds on disk, of the current and of past races: checkpoints, and the beliefs after them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from polarbear.errors import StoreError
from polarbear.inference.beliefs import Beliefs
from polarbear.racing import RoundRecord
from polarbear.store import file_io, parquet, tables
from polarbear.store.catalog import Catalog, File, json_file, table_file

if TYPE_CHECKING:
    from polarbear.config import PlainConfig

FOLDER = "rounds"
ABOUT = "race.json"
ENTERED = "entered.json"  # exists after a repair that has set rounds aside
SCHEMAS = (tables.ROUND_RATINGS, tables.ROUND_PAIRS)
_CHECKPOINT = re.compile(r"round-(\d{4,})\.json")


def beliefs_to_tables(beliefs: Beliefs) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Ratings over time, and relations of pairs: at each time, then over all times."""
    times, n = beliefs.times, len(beliefs.algorithms)
    names = pl.Series(beliefs.algorithms, dtype=pl.String)
    ratings = pl.DataFrame(
        {
            "algorithm": names.gather(np.repeat(np.arange(n), len(times))),
            "t": np.tile(times, n),
            "mean": beliefs.mean.ravel(),
            "low": beliefs.low.ravel(),
            "high": beliefs.high.ravel(),
            "p_best": beliefs.best.ravel(),
        }
    )
    a, b = np.triu_indices(n, 1)

    def relations(
        t: Sequence[float | None], above: np.ndarray, alike: np.ndarray, error: np.ndarray
    ) -> pl.DataFrame:
        columns = {
            "a": names.gather(np.repeat(a, len(t))),
            "b": names.gather(np.repeat(b, len(t))),
            "t": [*t] * len(a),
            "p_above": above[:, a, b].T.ravel(),
            "p_below": above[:, b, a].T.ravel(),
            "p_alike": alike[:, a, b].T.ravel(),
            "error": error[:, a, b].T.ravel(),
        }
        return pl.DataFrame(columns, schema_overrides={"t": pl.Float64})

    pairs = [parquet.empty(tables.ROUND_PAIRS)]
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
    mean, low, high, best = (
        ratings[c].to_numpy().reshape(n, size) for c in ("mean", "low", "high", "p_best")
    )
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
    above, error, alike = relations(pairs.filter(~is_joint), size)
    joint = relations(pairs.filter(is_joint), 1) if is_joint.any() else None
    always, always_error, crossing = (None,) * 3 if joint is None else (one[0] for one in joint)
    return Beliefs(
        algorithms=names,
        times=ratings["t"].to_numpy()[:size],
        mean=mean,
        low=low,
        high=high,
        best=best,
        above=above,
        above_error=error,
        alike=alike,
        always_above=always,
        always_above_error=always_error,
        crossing=crossing,
    )


class Rounds:
    """The folder ``rounds/`` of a store, or that of a past race; ``last`` hides later rounds."""

    def __init__(self, catalog: Catalog, folder: str = FOLDER, last: int | None = None) -> None:
        self._catalog, self.folder, self._last = catalog, folder, last

    def add(self, record: RoundRecord, beliefs: Beliefs) -> None:
        """Store a round with the beliefs after it; a round of the same number is replaced."""
        number = record.state.round
        content = zip(self._stems(number), beliefs_to_tables(beliefs), SCHEMAS, strict=True)
        added = [table_file(*one) for one in content]
        self._catalog.commit([*added, self.checkpoint(record)], self.files_of(number)[1:])

    def checkpoint(self, record: RoundRecord) -> File:
        """The file of a round."""
        return json_file(self._name(record.state.round), record.to_plain())

    def files_of(self, number: int) -> list[str]:
        """The files of a round, first the checkpoint; a table that is not listed without hash."""
        found = [self._catalog.find(stem) or f"{stem}.parquet" for stem in self._stems(number)]
        return [self._name(number), *found]

    def files(self) -> list[str]:
        """All listed files of these rounds."""
        return self._catalog.names(f"{self.folder}/")

    def numbers(self) -> list[int]:
        """The numbers of the rounds, in order."""
        names = (name.removeprefix(f"{self.folder}/") for name in self.files())
        found = [int(match[1]) for name in names if (match := _CHECKPOINT.fullmatch(name))]
        return sorted(n for n in found if self._last is None or n <= self._last)

    def read(self, number: int) -> RoundRecord:
        """The checkpoint of a round."""
        name = self._name(number)
        path = self._catalog.path / name
        try:
            return RoundRecord.from_plain(self._catalog.read_json(name))
        except FileNotFoundError:
            raise file_io.damaged(path, file_io.MISSING) from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            reason = str(error).partition("\n")[0][: file_io.MAX_REASON_LENGTH]
            what = f"it lacks {reason}" if isinstance(error, KeyError) else reason
            raise file_io.damaged(path, what) from None

    def written(self, number: int) -> datetime:
        """When a round was stored."""
        path = self._catalog.path / self._name(number)
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)

    def last(self) -> RoundRecord | None:
        """The newest checkpoint, or None if there is no round."""
        numbers = self.numbers()
        return self.read(numbers[-1]) if numbers else None

    def beliefs(self, number: int) -> Beliefs:
        """The beliefs after a round: ratings over time, and relations of pairs."""
        found = []
        for name, schema in zip(self.files_of(number)[1:], SCHEMAS, strict=True):
            try:
                found.append(self._catalog.read_table(name, schema))
            except FileNotFoundError:
                raise file_io.damaged(self._catalog.path / name, file_io.MISSING) from None
        return beliefs_from_tables(*found)

    def entered(self) -> dict[str, int]:
        """The rounds after which newcomers entered, if those rounds are to be replayed."""
        try:
            return self._catalog.read_json(f"{self.folder}/{ENTERED}")["entered"]  # type: ignore[no-any-return]
        except FileNotFoundError:
            return {}

    def _name(self, number: int) -> str:
        return f"{self.folder}/round-{number:04}.json"

    def _stems(self, number: int) -> list[str]:
        return [f"{self.folder}/{kind}-{number:04}" for kind in ("ratings", "pairs")]


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
    ended: str
    because: list[str]
    config: PlainConfig

    def file(self) -> File:
        return json_file(f"{folder_of(self.race)}/{ABOUT}", asdict(self))


def folder_of(race: int) -> str:
    return f"races/race-{race:04}"


class Races:
    """The folder ``races/`` of a store: one folder per past race, each like ``rounds/``."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def numbers(self) -> list[int]:
        """The numbers of the past races, in order."""
        names = [name for name in self._catalog.names("races/race-") if name.endswith(f"/{ABOUT}")]
        return sorted(int(name.split("/")[1].removeprefix("race-")) for name in names)

    @property
    def current(self) -> int:
        """The number of the race in ``rounds/``, which may not have begun."""
        return max(self.numbers(), default=0) + 1

    def end(self, because: Sequence[str], config: PlainConfig) -> int | None:
        """Move the rounds of the current race, so that another one can begin.

        Gives the number of the race; None if it has no round.
        """
        rounds = Rounds(self._catalog)
        if not rounds.numbers():
            return None
        about = RaceEnd(self.current, datetime.now(UTC).isoformat(), list(because), config)
        folder, old = folder_of(about.race), rounds.files()
        moved = [
            (f"{folder}/{name.removeprefix(f'{rounds.folder}/')}", self._catalog.read(name))
            for name in old
        ]
        self._catalog.commit([*moved, about.file()], old)
        return about.race

    def rounds(self, race: int) -> Rounds:
        """The rounds of a past race."""
        return Rounds(self._catalog, folder_of(race))

    def about(self, race: int) -> RaceEnd:
        """When and why a past race ended."""
        name = f"{folder_of(race)}/{ABOUT}"
        facts = self._catalog.read_json(name)
        try:
            return RaceEnd(**facts)
        except TypeError as error:
            raise file_io.damaged(self._catalog.path / name, str(error)) from None

    def past(self) -> list[PastRace]:
        """The results of all past races."""
        found = []
        for number in self.numbers():
            about, last = self.about(number), self.rounds(number).last()
            assert last is not None, "a race without a round is not kept"
            result = last.state.round, last.state.instances, last.state.candidates
            found.append(PastRace(number, about.ended, tuple(about.because), *result))
        return found

    def posteriors(self) -> list[str]:
        """The keys of the posteriors that past races ended with."""
        last = [self.rounds(number).last() for number in self.numbers()]
        return [record.posterior for record in last if record is not None]

    def check(self, number: int) -> None:
        """Refuse the number of a race that is neither a past one nor the current one."""
        numbers = self.numbers()
        if number not in [*numbers, self.current]:
            held = f"races 1 to {self.current}" if numbers else "race 1"
            raise StoreError(f"{self._catalog.path} has no race {number}; it has {held}")
