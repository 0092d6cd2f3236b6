"""Rounds of a race on disk: a checkpoint each, and what was believed then."""

from __future__ import annotations

import json
from pathlib import Path

from polarbear.errors import StoreError
from polarbear.inference.beliefs import Beliefs
from polarbear.racing import RoundRecord
from polarbear.store import files, tables
from polarbear.store.beliefs import beliefs_from_tables, beliefs_to_tables


class Rounds:
    """The folder ``rounds/`` of a store."""

    path: Path

    def add_round(self, record: RoundRecord, beliefs: Beliefs) -> None:
        """Keep a round: what was believed, then the checkpoint, which makes it count."""
        number, folder = record.state.round, self.path / "rounds"
        ratings, pairs = beliefs_to_tables(beliefs)
        files.make_folder(folder)
        files.write_table(folder / f"ratings-{number:04}.parquet", ratings)
        files.write_table(folder / f"pairs-{number:04}.parquet", pairs)
        text = json.dumps(record.to_plain(), indent=1, ensure_ascii=False)
        files.write_whole(folder / f"round-{number:04}.json", text.encode() + b"\n")

    def round_numbers(self) -> list[int]:
        """The rounds that are kept, in their order."""
        found = (path.stem for path in (self.path / "rounds").glob("round-*.json"))
        return sorted(int(stem.removeprefix("round-")) for stem in found)

    def round(self, number: int) -> RoundRecord:
        """The checkpoint of one round."""
        path = self.path / "rounds" / f"round-{number:04}.json"
        try:
            return RoundRecord.from_plain(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            reason = str(error).partition("\n")[0][:200]
            what = (
                f"lacks {reason}" if isinstance(error, KeyError) else f"cannot be read ({reason})"
            )
            raise StoreError(
                f"{path} {what}; move it out of the store and give the `race` "
                "command again: the race goes on from the round before, and runs nothing again"
            ) from None

    def last_round(self) -> RoundRecord | None:
        """The newest checkpoint, or None where no race has been run."""
        numbers = self.round_numbers()
        return self.round(numbers[-1]) if numbers else None

    def beliefs(self, number: int) -> Beliefs:
        """What was believed after a round: ratings over time, and relations of pairs."""
        folder = self.path / "rounds"
        return beliefs_from_tables(
            files.read_part(folder / f"ratings-{number:04}.parquet", tables.ROUND_RATINGS),
            files.read_part(folder / f"pairs-{number:04}.parquet", tables.ROUND_PAIRS),
        )
