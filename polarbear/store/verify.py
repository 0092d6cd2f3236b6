"""Whether a store is what was written: every file, and everything that must be there with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from polarbear.errors import NotAStoreError, StoreDamagedError
from polarbear.racing import RoundRecord
from polarbear.store import file_io, manifest, tables
from polarbear.store.catalog import Catalog
from polarbear.store.manifest import FOLDERS, check_nothing_leads_out
from polarbear.store.rounds import Rounds
from polarbear.wording import counted

NOT_LISTED = "it is not listed in polarbear.json"


@dataclass(frozen=True)
class Damage:
    """A file that is not what was written, not there, or not listed; named from the store."""

    file: str
    why: str


@dataclass(frozen=True)
class Verified:
    """The result of a check; fields are the keys of `polarbear verify --json`.

    ``replay_from`` is the first round whose files or runs are not all there, None if all are.
    """

    store: str
    sound: bool
    files: int
    damaged: tuple[Damage, ...]
    replay_from: int | None


def verify(path: Path) -> Verified:
    """Read everything in a store; nothing is changed."""
    check_is_store(path)
    on_disk = data_files(path)
    try:
        listed = manifest.load(path)
    except StoreDamagedError as error:
        found = [Damage(manifest.NAME, error.why)]
        found += [Damage(name, why) for name in on_disk if (why := flaw_of(path, name))]
        return Verified(str(path), False, len(on_disk) + 1, tuple(found), None)
    catalog = Catalog(path)
    found = list(_damaged_files(catalog))
    names = {*listed.files, *listed.obsolete}
    found += [Damage(name, NOT_LISTED) for name in on_disk if name not in names]
    bad = {damage.file for damage in found}
    found += _runs_without_trajectories(catalog, bad)
    first, lacking = unsupported_round(catalog, {damage.file for damage in found})
    found += lacking
    return Verified(str(path), not found, len(listed.files) + 1, tuple(found), first)


def check_is_store(path: Path) -> None:
    """Refuse a folder without any file of a store, or with a link that leads out of it."""
    check_nothing_leads_out(path)
    if not manifest.is_store(path) and not data_files(path):
        what = "is not a PolarBear store" if path.exists() else "does not exist"
        raise NotAStoreError(f"{path} {what}")


def data_files(path: Path) -> list[str]:
    """The files on disk that PolarBear can have written, listed or not, except polarbear.json."""
    found = [*path.glob("set-aside-*.parquet"), *path.glob("provenance.json")]
    for folder in FOLDERS:
        for ending in ("json", "parquet"):
            found += (path / folder).rglob(f"*.{ending}")
    return sorted(
        str(file.relative_to(path))
        for file in found
        if file.is_file() and not file.is_symlink() and not file.name.startswith(file_io.ASIDE)
    )


def flaw_of(path: Path, name: str) -> str:
    """Why a file does not match the checksum that it carries itself, or an empty string."""
    try:
        data = file_io.read(path / name)
        if name.endswith(".json"):
            file_io.from_json(path / name, data)
    except StoreDamagedError as error:
        return error.why
    if name.endswith(".parquet") and not name.endswith(f"-{file_io.digest(data)}.parquet"):
        return file_io.CHANGED
    return ""


def _damaged_files(catalog: Catalog) -> Iterator[Damage]:
    for name in catalog.manifest.files:
        try:
            catalog.read(name)
        except StoreDamagedError as error:
            yield Damage(name, error.why)
        except FileNotFoundError:  # replaced meanwhile by the process that writes
            continue


def _runs_without_trajectories(catalog: Catalog, bad: set[str]) -> list[Damage]:
    """Parts with runs that have no trajectory, and parts with trajectories that have no run."""
    runs, trajectories = (
        {name: set(part["run"]) for name, part in _good_parts(catalog, t, ["run"], bad)}
        for t in ("runs", "trajectories")
    )
    found = []
    for mine, others in ((runs, trajectories), (trajectories, runs)):
        known = set().union(*others.values())
        for name, ids in mine.items():
            if ids - known:
                other = "trajectories" if mine is runs else "runs"
                what = f"{other} lacks {counted(len(ids - known), 'run')} that it has"
                found.append(Damage(name, what))
    return found


def _good_parts(
    catalog: Catalog, table: str, columns: list[str], bad: set[str]
) -> Iterator[tuple[str, pl.DataFrame]]:
    for name in catalog.names(f"{table}/part-"):
        if name not in bad:
            yield name, catalog.read_table(name, tables.ALL[table], columns)


def check_rounds(path: Path) -> None:
    """Refuse to continue a race if a round, or a run that it used, is missing."""
    first, lacking = unsupported_round(Catalog(path), set())
    if first is not None:
        raise file_io.damaged(path / lacking[0].file, lacking[0].why)


def unsupported_round(catalog: Catalog, bad: set[str]) -> tuple[int | None, list[Damage]]:
    """The first round without sound files, instances or runs, and what it lacks."""
    rounds = Rounds(catalog)
    records: list[RoundRecord] = []
    for number in range(1, max(rounds.numbers(), default=0) + 1):
        names = rounds.files_of(number)
        if bad.intersection(names):
            return number, []
        missing = [name for name in names if not (catalog.path / name).exists()]
        if missing:
            return number, [Damage(missing[0], file_io.MISSING)]
        try:
            records.append(rounds.read(number))
        except StoreDamagedError as error:
            return number, [Damage(names[0], error.why)]
    return _round_without_runs(catalog, records, bad)


def _round_without_runs(
    catalog: Catalog, rounds: list[RoundRecord], bad: set[str]
) -> tuple[int | None, list[Damage]]:
    """The first round whose instances or runs are not all there."""
    if not rounds:
        return None, []
    known = dict(_rows(catalog, "instances", ["index", "instance"], bad))
    runs = set(_rows(catalog, "runs", ["algorithm", "instance"], bad))
    for record, indices in zip(rounds, drawn_in(rounds), strict=True):
        number = record.state.round
        lost = sum(index not in known for index in indices)
        if lost:
            what = f"lack {counted(lost, 'instance')} of round {number}"
            return number, [] if bad else [Damage("instances", what)]
        wanted = {(name, known[index]) for name in record.ran_to for index in indices}
        if wanted - runs:
            what = f"lack {counted(len(wanted - runs), 'run')} of round {number}"
            return number, [] if bad else [Damage("runs", what)]
    return None, []


def _rows(catalog: Catalog, table: str, columns: list[str], bad: set[str]) -> list[tuple[Any, ...]]:
    return [row for _, part in _good_parts(catalog, table, columns, bad) for row in part.rows()]


def drawn_in(rounds: list[RoundRecord]) -> list[range]:
    """The instances that each round has run on, by their place in the stream."""
    found = []
    for before, record in pairwise([None, *rounds]):
        assert record is not None
        if record.newcomer is not None:
            same = before is not None and before.state.joining == record.newcomer
            first = before.state.caught_up if before is not None and same else 0
        else:
            first = 0 if before is None else before.state.instances
        found.append(range(first, first + record.drawn))
    return found
