"""Bring a damaged store back to the last sound state.

Damaged files are moved into ``damaged/``, never removed, with everything that depends on them: runs
without trajectories, and the rounds from the first that lacks anything. Sound files that are not
listed are added to the list. The command that made the store then runs what is missing and replays
those rounds. Nothing in the configuration is executed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from polarbear.errors import StoreDamagedError, StoreError
from polarbear.store import file_io, manifest, parquet, tables
from polarbear.store.catalog import Catalog, File, json_file, part_file
from polarbear.store.lock import locked
from polarbear.store.posteriors import RANKINGS
from polarbear.store.rounds import ENTERED, Rounds
from polarbear.store.verify import Verified, check_is_store, data_files, flaw_of, verify


@dataclass(frozen=True)
class Moved:
    """A file that was moved into ``damaged/``, and why."""

    file: str
    to: str
    why: str


@dataclass(frozen=True)
class Repaired:
    """What was done to a store; fields are the keys of `polarbear repair --json`.

    ``runs_lost`` is the number of runs to be run again, as far as lost files can still be counted;
    ``next`` is what to do now, or None if nothing is to be done.
    """

    store: str
    moved: tuple[Moved, ...]
    rounds_kept: int
    rounds_to_replay: int
    runs_lost: int
    next: str | None


def repair(path: Path) -> Repaired:
    """Move damaged files and files that depend on them; a sound store is left unchanged."""
    check_is_store(path)
    with locked(path / "lock"):
        before = _ids_on_disk(path, "runs") | _ids_on_disk(path, "trajectories")
        last = max(_rounds_on_disk(path), default=0)
        moved = _rebuild_manifest(path)
        catalog = Catalog(path)
        last = max([last, *Rounds(catalog).numbers()])
        catalog.recover()
        _adopt_parts(catalog)
        while not (found := verify(path)).sound:  # files that lack others show in the next pass
            listed = catalog.manifest
            more = _set_aside(catalog, found)
            moved += more
            if not more and catalog.manifest == listed:
                worst = found.damaged[0]
                raise StoreError(f"{path}/{worst.file} cannot be set aside ({worst.why})")
        kept = Rounds(catalog).numbers()
    replayed, lost = last - max(kept, default=0), len(before - _ids_on_disk(path, "runs"))
    following = _next_step(catalog, moved, replayed)
    return Repaired(str(path), tuple(moved), len(kept), replayed, lost, following)


def _rebuild_manifest(path: Path) -> list[Moved]:
    """If polarbear.json is damaged, list all files that match the checksums they carry."""
    try:
        manifest.load(path)
        return []
    except StoreDamagedError as error:
        moved = [_move(path, manifest.NAME, error.why)] if manifest.is_store(path) else []
    sound = [name for name in data_files(path) if not flaw_of(path, name)]
    listed = {name: file_io.digest(file_io.read(path / name)) for name in sound}
    Catalog(path).create(manifest.new(None, listed))
    return moved


def _adopt_parts(catalog: Catalog) -> None:
    """List sound parts of tables that are not listed, as in a copy of a store that was changing."""
    new = [name for name in data_files(catalog.path) if _is_part(name)]
    new = [name for name in new if name not in catalog.manifest.files]
    sound = [name for name in new if not flaw_of(catalog.path, name)]
    if sound:
        catalog.commit((name, file_io.read(catalog.path / name)) for name in sound)


def _set_aside(catalog: Catalog, found: Verified) -> list[Moved]:
    """Move what was found, and what depends on it; keep runs that have a trajectory."""
    reasons = {damage.file: damage.why for damage in found.damaged}
    known = _ids_on_disk(catalog.path, "runs") & _ids_on_disk(catalog.path, "trajectories")
    add: list[File] = []
    for name in reasons:
        if _is_part(name) and (catalog.path / name).is_file() and not flaw_of(catalog.path, name):
            table = name.partition("/")[0]
            rows = catalog.read_table(name, tables.ALL[table])
            rows = rows.filter(pl.col("run").is_in(sorted(known)))
            add += [part_file(table, rows)] if len(rows) else []
    if found.replay_from is not None:
        add += _newcomers(catalog, found.replay_from)
        for name in _rounds_from(catalog, found.replay_from):
            reasons.setdefault(name, f"round {found.replay_from} lacks files or runs")
    for name in list(reasons):
        for posterior in _inferred_from(catalog, name):
            reasons.setdefault(posterior, f"its {name} is damaged")
    there = [name for name in reasons if (catalog.path / name).is_file()]
    moved = [_move(catalog.path, name, reasons[name]) for name in there]
    catalog.commit(add, reasons)
    return moved


def _is_part(name: str) -> bool:
    folder, _, file = name.partition("/")
    return folder in tables.ALL and file.startswith("part-")


def _rounds_from(catalog: Catalog, first: int) -> list[str]:
    """The listed files of rounds from a number on, the newest first."""
    rounds = Rounds(catalog)
    last = max(rounds.numbers(), default=0)
    numbers = range(last, first - 1, -1)
    return [name for n in numbers for name in rounds.files_of(n) if name in catalog.manifest.files]


def _newcomers(catalog: Catalog, first: int) -> list[File]:
    """The rounds in which newcomers entered, so that rounds are replayed with the same field."""
    rounds = Rounds(catalog)
    entered = dict(rounds.entered())
    for number in rounds.numbers():
        if number >= first:
            try:
                record = rounds.read(number)
            except StoreDamagedError:
                continue
            if record.newcomer is not None:
                entered[record.newcomer] = record.state.entered
    return [json_file(f"rounds/{ENTERED}", {"entered": entered})] if entered else []


def _inferred_from(catalog: Catalog, name: str) -> Iterator[str]:
    """The posteriors that were inferred from damaged rankings."""
    if not name.startswith(RANKINGS):
        return
    key = name.removeprefix(RANKINGS).rpartition("-")[0]
    for posterior in catalog.names("posteriors/"):
        try:
            facts = parquet.facts_of(catalog.path / posterior, catalog.read(posterior))
        except StoreDamagedError:
            continue
        if facts.get("evidence") == key:
            yield posterior


def _move(path: Path, file: str, why: str) -> Moved:
    place, count = path / manifest.DAMAGED / file, 1
    while place.exists():
        count += 1
        place = (path / manifest.DAMAGED / file).with_suffix(f".{count}{Path(file).suffix}")
    file_io.move(path / file, place)
    return Moved(file, str(place.relative_to(path)), why)


def _ids_on_disk(path: Path, table: str) -> set[str]:
    """The runs in all sound parts of a table."""
    ids: set[str] = set()
    for name in data_files(path):
        if name.startswith(f"{table}/part-") and not flaw_of(path, name):
            data = file_io.read(path / name)
            ids.update(parquet.from_bytes(path / name, data, tables.ALL[table], ["run"])["run"])
    return ids


def _rounds_on_disk(path: Path) -> list[int]:
    return [int(f.stem[6:]) for f in (path / "rounds").glob("round-*.json") if f.stem[6:].isdigit()]


def _next_step(catalog: Catalog, moved: list[Moved], replayed: int) -> str | None:
    """The command that brings back what was lost."""
    path = catalog.path
    if not moved and not replayed:
        return None
    config = catalog.manifest.config
    imported = config is not None and config["instances"].get("suite") == "imported"
    touched = {move.file.split("/")[0] for move in moved}
    if replayed or (path / "rounds").exists():
        return (
            f"give the `polarbear race CONFIG --store {path}` command again: it runs what is "
            "missing, and replays the rounds that were set aside"
        )
    if imported and touched != {"posteriors"}:
        return f"give the `polarbear import SOURCE --store {path}` commands again"
    if touched <= {"posteriors", "rankings"}:
        return "give the `polarbear infer` command again: it infers the posteriors again"
    return (
        f"give the `polarbear run CONFIG --store {path}` or `race` command again: it runs what is "
        "missing"
    )
