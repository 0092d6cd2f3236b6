"""Bring a damaged store back to the last sound state.

Damaged files are moved into ``damaged/``, never removed, with everything that depends on them: runs
without trajectories, and the rounds from the first that lacks anything. Sound parts of tables that
are not listed are added to the list, and line ends that another program has changed are restored.
The command that made the store then runs what is missing and replays
those rounds. Nothing in the configuration is executed here.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from polarbear.errors import StoreDamagedError, StoreError
from polarbear.store import file_io, manifest, tables
from polarbear.store.catalog import Catalog, File, json_file, part_file
from polarbear.store.manifest import data_files
from polarbear.store.rounds import CHECKPOINT, ENTERED, Rounds, numbers_in
from polarbear.store.verify import Verified, check_is_store, flaw_of, run_ids, verify
from polarbear.store.writer import locked


@dataclass(frozen=True)
class Moved:
    """A file that was moved into ``damaged/``, and why."""

    file: str
    to: str
    why: str


@dataclass(frozen=True)
class Repaired:
    """The repairs of a store; fields are the keys of `polarbear repair --json`.

    ``missing`` are files that were listed but are not there, ``listed`` sound parts of tables that
    were not, and ``restored`` files with changed line ends. ``runs_lost`` is the number of runs to
    be run again, as far as lost files can still be counted; ``next`` is what to do now, or None if
    nothing is to be done.
    """

    store: str
    moved: tuple[Moved, ...]
    missing: tuple[str, ...]
    listed: tuple[str, ...]
    restored: tuple[str, ...]
    rounds_kept: int
    rounds_to_replay: int
    runs_lost: int
    next: str | None


def repair(path: Path) -> Repaired:
    """Move damaged files and files that depend on them; a sound store is left unchanged."""
    check_is_store(path)
    with locked(path / "lock") as lock:
        restored = _restore_line_ends(path)
        moved = _rebuild_manifest(path)
        catalog = Catalog(path)
        with catalog.guarded_by(lock):
            repaired = _repaired(catalog, moved, restored)
    return repaired


def _repaired(catalog: Catalog, moved: list[Moved], restored: list[str]) -> Repaired:
    """Finish, list and set aside, until nothing in the store is damaged."""
    path = catalog.path
    catalog.recover()
    newly_listed = _list_parts(catalog)
    missing = [name for name in catalog.manifest.files if not (path / name).is_file()]
    names = [*data_files(path), *catalog.manifest.files]
    runs_before = _runs(catalog, "runs") | _runs(catalog, "trajectories")
    verified = verify(path)
    while not verified.sound:
        listed = catalog.manifest
        moved_now = _set_aside(catalog, verified)
        moved += moved_now
        if not moved_now and catalog.manifest == listed:
            first = verified.damaged[0]
            raise StoreError(f"{path}/{first.file} cannot be set aside ({first.why})")
        verified = verify(path)  # which finds files that depend on those that were moved
    kept = Rounds(catalog).numbers()
    rounds = set(numbers_in(names, f"rounds/{CHECKPOINT}"))
    n_replayed = len(rounds.difference(kept))
    return Repaired(
        store=str(path),
        moved=tuple(moved),
        missing=tuple(missing),
        listed=tuple(newly_listed),
        restored=tuple(restored),
        rounds_kept=len(kept),
        rounds_to_replay=n_replayed,
        runs_lost=len(runs_before - _runs(catalog, "runs")),
        next=_next_step(catalog, [*missing, *(move.file for move in moved)], n_replayed),
    )


def _restore_line_ends(path: Path) -> list[str]:
    """Undo changes of line ends; returns the names of the files."""
    restored = []
    for name in [manifest.NAME, *data_files(path)]:
        if name.endswith(".json") and (path / name).is_file():
            data = file_io.read(path / name)
            original = file_io.with_own_line_ends(data)
            if original != data and file_io.is_sealed(original):
                file_io.write_whole(path / name, original)
                restored.append(name)
    return restored


def _rebuild_manifest(path: Path) -> list[Moved]:
    """If polarbear.json is damaged, list all files that match the checksums they carry."""
    try:
        manifest.load(path)
        return []
    except StoreDamagedError as error:
        moved = [_move(path, manifest.NAME, error.why)] if manifest.is_store(path) else []
    listed = {name: file_io.digest(file_io.read(path / name)) for name in _sound_files(path)}
    Catalog(path).create(manifest.new(None, listed))
    return moved


def _sound_files(path: Path) -> list[str]:
    """Files on disk with names of a store, which match the checksums they carry."""
    names = data_files(path)
    return [name for name in names if manifest.is_listable(name) and not flaw_of(path, name)]


def _list_parts(catalog: Catalog) -> list[str]:
    """List sound parts of tables that are not listed, as in a copy of a store that was changing."""
    new = [name for name in _sound_files(catalog.path) if name not in catalog.manifest.files]
    prefixes = tuple(f"{table}/part-" for table in tables.ALL)
    parts = [name for name in new if name.startswith(prefixes)]
    if parts:
        catalog.commit((name, file_io.read(catalog.path / name)) for name in parts)
    return parts


def _set_aside(catalog: Catalog, verified: Verified) -> list[Moved]:
    """Move damaged files, and what depends on them; keep runs that have a trajectory."""
    path = catalog.path
    rounds = Rounds(catalog)
    reasons = {damage.file: damage.why for damage in verified.damaged}
    complete_runs = sorted(_runs(catalog, "runs") & _runs(catalog, "trajectories"))
    add: list[File] = []
    for name in reasons:
        table = name.partition("/")[0]
        if table in ("runs", "trajectories") and name in catalog.names(f"{table}/part-"):
            with suppress(StoreDamagedError):
                rows = catalog.read_table(name, tables.ALL[table])
                rows = rows.filter(pl.col("run").is_in(complete_runs))
                if len(rows):
                    add.append(part_file(table, rows))
    if verified.replay_from is not None:
        add += _newcomers(rounds, verified.replay_from)
        later = [number for number in rounds.numbers() if number >= verified.replay_from]
        for name in [name for number in later[::-1] for name in rounds.files_of(number)]:
            if name in catalog.manifest.files:
                reasons.setdefault(name, f"round {verified.replay_from} lacks files or runs")
    on_disk = [name for name in reasons if (path / name).is_file()]
    moved = [_move(path, name, reasons[name]) for name in on_disk]
    catalog.commit(add, reasons)
    return moved


def _newcomers(rounds: Rounds, first: int) -> list[File]:
    """The rounds in which newcomers entered, so that rounds are replayed with the same field."""
    entered = dict(rounds.entered())
    for number in rounds.numbers():
        if number >= first:
            with suppress(StoreDamagedError):
                record = rounds.read(number)
                # Algorithms of the start may catch up, too, on problems that they lack.
                later = record.state.algorithms[record.state.initial :]
                if record.newcomer in later:
                    entered.setdefault(record.newcomer, record.state.entered)
    return [json_file(f"rounds/{ENTERED}", {"entered": entered})] if entered else []


def _move(path: Path, file: str, why: str) -> Moved:
    """Move a file to a free name in ``damaged/``."""
    first_target = path / manifest.DAMAGED / file
    target = first_target
    count = 1
    while target.exists():
        count += 1
        target = first_target.with_suffix(f".{count}{first_target.suffix}")
    file_io.move(path / file, target)
    return Moved(file, str(target.relative_to(path)), why)


def _runs(catalog: Catalog, table: str) -> set[str]:
    """The runs in all sound parts of a table."""
    return set().union(*run_ids(catalog, table, {}).values())


def _next_step(catalog: Catalog, lost: list[str], replayed: int) -> str | None:
    """The command that brings back what was lost."""
    path = catalog.path
    settings = catalog.manifest.config
    if not lost and not replayed:
        return None
    command = f"run CONFIG --store {path}"
    if replayed or (path / "rounds").exists():
        command = f"race CONFIG --store {path}"
    elif all(name.startswith(("posteriors/", "forests/")) for name in lost):
        command = f"infer {path}"
    elif settings is not None and settings.instances.suite == "imported":
        command = f"import SOURCE --store {path}"
    return f"give the `polarbear {command}` command again: it makes up for what was set aside"
