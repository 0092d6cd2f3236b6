"""Whether everything that the rounds of a race used is there: files, instances and runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import polars as pl

from polarbear.errors import StoreDamagedError
from polarbear.racing import RoundRecord
from polarbear.store import file_io, tables
from polarbear.store.catalog import Catalog
from polarbear.store.file_io import T
from polarbear.store.rounds import Rounds
from polarbear.wording import counted

Reasons = dict[str, str]  # why each file, named from the store, is damaged, missing or not listed


def check_rounds(path: Path) -> None:
    """Refuse to continue a race if a round, or a run that it used, is missing."""
    bad: Reasons = {}
    if unsupported_round(Catalog(path), bad) is not None:
        name, why = next(iter(bad.items()))
        raise file_io.damaged(path / name, why)


def unsupported_round(catalog: Catalog, bad: Reasons) -> int | None:
    """The first round without sound files, instances or runs; what it lacks is added to ``bad``."""
    rounds = Rounds(catalog)
    records: list[RoundRecord] = []
    for expected, number in enumerate(rounds.numbers(), 1):
        names = rounds.files_of(expected)
        missing = [name for name in names if not (catalog.path / name).exists()]
        if not bad.keys() & names:
            if missing:
                bad[missing[0]] = file_io.MISSING
            record = content_or_flaw(names[0], partial(rounds.read, number), bad)
            records += [record] if record is not None else []
        if bad.keys() & names:
            return expected
    whole = not bad
    instances = sound_parts(catalog, "instances", ["index", "instance"], bad).values()
    known = dict(row for part in instances for row in part.iter_rows())
    parts = sound_parts(catalog, "runs", ["algorithm", "instance"], bad).values()
    runs = {row for part in parts for row in part.iter_rows()}
    for before, record in pairwise([None, *records]):
        assert record is not None
        first, number = _first_instance(before, record), record.state.round
        there = [known[index] for index in known if first <= index < first + record.drawn]
        ran = {(name, instance) for name in record.ran_to for instance in there}
        lost = {"instances": record.drawn - len(there), "runs": len(ran - runs)}
        for table, count in lost.items():
            if count:
                if whole:
                    bad[table] = f"they lack {counted(count, table[:-1])} of round {number}"
                return number
    return None


def _first_instance(before: RoundRecord | None, record: RoundRecord) -> int:
    """The place in the stream of the first instance that a round has run on."""
    if before is None:
        return 0
    if record.newcomer is None:
        return before.state.instances
    return before.state.caught_up if before.state.joining == record.newcomer else 0


def content_or_flaw(name: str, read: Callable[[], T], bad: Reasons) -> T | None:
    """The content of a file; None if it is bad, which is noted."""
    try:
        return read() if name not in bad else None
    except StoreDamagedError as error:
        bad[name] = error.why
    except FileNotFoundError:  # replaced by the process that writes
        pass
    return None


def sound_parts(
    catalog: Catalog, table: str, columns: list[str], bad: Reasons
) -> dict[str, pl.DataFrame]:
    """Some columns of the sound parts of a table, by the name of the part."""
    read = partial(catalog.read_table, schema=tables.ALL[table], columns=columns)
    names = catalog.names(f"{table}/part-")
    found = ((name, content_or_flaw(name, partial(read, name), bad)) for name in names)
    return {name: part for name, part in found if part is not None}
