"""Rounds of a race on disk: a checkpoint each, and what was believed then."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from polarbear.inference.beliefs import Beliefs
from polarbear.racing import RoundRecord
from polarbear.store import files, tables
from polarbear.store.beliefs import beliefs_from_tables, beliefs_to_tables

ENTERED = "entered.json"  # in rounds/: there only after a repair that set rounds aside


class Rounds:
    """The folder ``rounds/`` of a store."""

    path: Path
    rounds_folder: str = "rounds"
    until_round: int | None = None  # in a look back at the present race: its last round

    def add_round(self, record: RoundRecord, beliefs: Beliefs) -> None:
        """Keep a round: what was believed, then the checkpoint, which makes it count."""
        number, folder = record.state.round, self.path / self.rounds_folder
        ratings, pairs = beliefs_to_tables(beliefs)
        files.make_folder(folder)
        files.write_table(folder / f"ratings-{number:04}.parquet", ratings)
        files.write_table(folder / f"pairs-{number:04}.parquet", pairs)
        self.write_record(record)

    def write_record(self, record: RoundRecord) -> None:
        """Write a round's checkpoint."""
        path = self.path / self.rounds_folder / f"round-{record.state.round:04}.json"
        files.write_json(path, record.to_plain(), indent=1, plain_ascii=False)

    def round_numbers(self) -> list[int]:
        """The rounds that are kept, in their order."""
        last = self.until_round
        return [number for number in self._on_disk() if last is None or number <= last]

    def _on_disk(self) -> list[int]:
        found = (path.stem for path in (self.path / self.rounds_folder).glob("round-*.json"))
        return sorted(int(stem.removeprefix("round-")) for stem in found)

    def round(self, number: int) -> RoundRecord:
        """The checkpoint of one round."""
        path = self.path / self.rounds_folder / f"round-{number:04}.json"
        try:
            return RoundRecord.from_plain(files.read_json(path))
        except FileNotFoundError:
            raise files.damaged(path, "it is not there") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            reason = str(error).partition("\n")[0][: files.LONGEST_REASON]
            what = f"it lacks {reason}" if isinstance(error, KeyError) else reason
            raise files.damaged(path, what) from None

    def round_written(self, number: int) -> datetime:
        """When a round was kept."""
        path = self.path / self.rounds_folder / f"round-{number:04}.json"
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)

    def last_round(self) -> RoundRecord | None:
        """The newest checkpoint, or None where no race has been run."""
        numbers = self.round_numbers()
        return self.round(numbers[-1]) if numbers else None

    def entered(self) -> dict[str, int]:
        """After which round newcomers entered, where their rounds are to be replayed."""
        try:
            return files.read_json(self.path / self.rounds_folder / ENTERED)["entered"]  # type: ignore[no-any-return]
        except (FileNotFoundError, NotADirectoryError):
            return {}

    def beliefs(self, number: int) -> Beliefs:
        """What was believed after a round: ratings over time, and relations of pairs."""
        folder = self.path / self.rounds_folder
        ratings, pairs = (folder / f"{name}-{number:04}.parquet" for name in ("ratings", "pairs"))
        try:
            return beliefs_from_tables(
                files.read_part(ratings, tables.ROUND_RATINGS),
                files.read_part(pairs, tables.ROUND_PAIRS),
            )
        except FileNotFoundError as error:
            raise files.damaged(Path(error.filename), "it is not there") from None
