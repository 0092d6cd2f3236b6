"""Whether a store is what was written: every file, and everything that must be there with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from polarbear.errors import NotAStoreError, StoreDamagedError
from polarbear.store import file_io, manifest, tables
from polarbear.store.catalog import Catalog
from polarbear.store.manifest import check_nothing_leads_out, data_files
from polarbear.store.posteriors import Posteriors
from polarbear.store.round_support import (
    Reasons,
    content_or_flaw,
    sound_parts,
    unsupported_round,
)
from polarbear.store.rounds import ABOUT, ENTERED, SCHEMAS, Races, Rounds, folder_of
from polarbear.store.runs import PROVENANCE, SET_ASIDE, Provenance
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
    on_disk, catalog = data_files(path), Catalog(path)
    bad: Reasons = {}
    first = None
    try:
        listed = catalog.manifest
    except StoreDamagedError as error:
        bad = {manifest.NAME: error.why}
        bad |= {name: why for name in on_disk if (why := flaw_of(path, name))}
        files = len(on_disk)
    else:
        files = len(listed.files)
        for name in listed.files:
            content_or_flaw(name, partial(catalog.read, name), bad)
        for name, read in _records(catalog):
            content_or_flaw(name, read, bad)
        known = {*listed.files, *listed.obsolete}
        bad |= {name: NOT_LISTED for name in on_disk if name not in known}
        bad |= _unmatched_runs(catalog, bad)
        first = unsupported_round(catalog, bad)
    damages = tuple(Damage(*one) for one in bad.items())
    return Verified(str(path), not damages, files + 1, damages, first)


def check_is_store(path: Path) -> None:
    """Refuse a folder without any file of a store, or with a link that leads out of it."""
    check_nothing_leads_out(path)
    if not manifest.is_store(path) and not data_files(path):
        what = "is not a PolarBear store" if path.exists() else "does not exist"
        raise NotAStoreError(f"{path} {what}")


def flaw_of(path: Path, name: str) -> str:
    """Why a file does not match the checksum that it carries itself, or an empty string."""
    try:
        data = file_io.read(path / name)
        if name.endswith(".json"):
            file_io.from_json(path / name, data)
    except FileNotFoundError:
        return file_io.MISSING
    except StoreDamagedError as error:
        return error.why
    if name.endswith(".parquet") and not name.endswith(f"-{file_io.digest(data)}.parquet"):
        return file_io.CHANGED
    return ""


def _records(catalog: Catalog) -> Iterator[tuple[str, Callable[[], object]]]:
    """The files of a store whose content has a form, with functions that read them."""
    races = Races(catalog)
    yield PROVENANCE, Provenance(catalog).read
    for folder, schema in tables.ALL.items():
        for name in catalog.names(f"{folder}/"):
            yield name, partial(catalog.read_table, name, schema)
    for name in catalog.names(f"{SET_ASIDE}-"):
        yield name, partial(catalog.read_table, name, tables.SET_ASIDE)
    posteriors = Posteriors(catalog, Rounds(catalog), races, past=False)
    for name in catalog.names("posteriors/"):
        key = name.removeprefix("posteriors/").rpartition("-")[0]
        yield name, partial(posteriors.read, key)
    for number in races.numbers():
        yield f"{folder_of(number)}/{ABOUT}", partial(races.about, number)
    for rounds in (Rounds(catalog), *map(races.rounds, races.numbers())):
        yield f"{rounds.folder}/{ENTERED}", rounds.entered
        for number in rounds.numbers():
            checkpoint, *estimates = rounds.files_of(number)
            yield checkpoint, partial(rounds.read, number)
            for name, schema in zip(estimates, SCHEMAS, strict=True):
                yield name, partial(catalog.read_table, name, schema)


def _unmatched_runs(catalog: Catalog, bad: Reasons) -> Reasons:
    """Parts with runs that have no trajectory, and parts with trajectories that have no run."""
    runs, trajectories = (
        {name: set(part["run"]) for name, part in sound_parts(catalog, table, ["run"], bad).items()}
        for table in ("runs", "trajectories")
    )
    found = {}
    for mine, others, table in ((runs, trajectories, "trajectories"), (trajectories, runs, "runs")):
        known = set().union(*others.values())
        for name, ids in mine.items():
            if ids - known:
                found[name] = f"{table} lacks {counted(len(ids - known), 'run')} that it has"
    return found
