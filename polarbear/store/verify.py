"""Checks that every file of a store is as it was written, and that nothing is missing.

The rounds of a race need their files, and the instances and runs that they used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from polarbear.errors import NotAStoreError, StoreDamagedError
from polarbear.racing import RoundRecord
from polarbear.store import file_io, manifest, tables
from polarbear.store.catalog import Catalog
from polarbear.store.file_io import T
from polarbear.store.forests import Forests
from polarbear.store.generations import Generations
from polarbear.store.judgements import JUDGEMENTS, Judgements
from polarbear.store.manifest import check_nothing_leads_out, data_files
from polarbear.store.posteriors import Posteriors
from polarbear.store.rounds import ABOUT, ENTERED, MORE, SCHEMAS, Races, Rounds, folder_of
from polarbear.store.runs import PROVENANCE, SET_ASIDE, Provenance
from polarbear.wording import counted

Reasons = dict[str, str]  # why each file, named from the store, is damaged, missing or not listed
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
    catalog = Catalog(path)
    bad: Reasons = {}
    first = None
    try:
        listed = catalog.manifest
    except StoreDamagedError as error:
        bad = {manifest.NAME: error.why}
        flaws = {name: flaw_of(path, name) for name in on_disk}
        bad |= {name: flaw for name, flaw in flaws.items() if flaw}
        files = len(on_disk)
    else:
        files = len(listed.files)
        for name in listed.files:
            content_or_flaw(name, partial(catalog.read, name), bad)
        for name, read in _records(catalog):
            content_or_flaw(name, read, bad)
        all_listed = {*listed.files, *listed.obsolete}
        bad |= {name: NOT_LISTED for name in on_disk if name not in all_listed}
        bad |= _unmatched_runs(catalog, bad)
        first = unsupported_round(catalog, bad)
    damages = tuple(Damage(name, why) for name, why in bad.items())
    return Verified(str(path), not damages, files + 1, damages, first)


def check_is_store(path: Path) -> None:
    """Refuse a folder without any sound file of a store, or with a link that leads out of it."""
    check_nothing_leads_out(path)
    if not manifest.is_store(path) and all(flaw_of(path, name) for name in data_files(path)):
        problem = "is not a PolarBear store" if path.exists() else "does not exist"
        raise NotAStoreError(f"{path} {problem}")


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
    yield JUDGEMENTS, Judgements(catalog).read
    generations = Generations(catalog)
    for number in generations.numbers():
        yield generations.name(number), partial(generations.read, number)
    for folder, schema in tables.ALL.items():
        for name in catalog.names(f"{folder}/"):
            yield name, partial(catalog.read_table, name, schema)
    for name in catalog.names(f"{SET_ASIDE}-"):
        yield name, partial(catalog.read_table, name, tables.SET_ASIDE)
    posteriors = Posteriors(catalog, Rounds(catalog), races, past=False)
    for name in catalog.names("posteriors/"):
        key = name.removeprefix("posteriors/").rpartition("-")[0]
        yield name, partial(posteriors.read, key)
    forests = Forests(catalog)
    for name in catalog.names("forests/"):
        yield name, partial(forests.read, name.removeprefix("forests/").rpartition("-")[0])
    for number in races.numbers():
        yield f"{folder_of(number)}/{ABOUT}", partial(races.about, number)
    for rounds in (Rounds(catalog), *map(races.rounds, races.numbers())):
        yield f"{rounds.folder}/{ENTERED}", rounds.entered
        yield f"{rounds.folder}/{MORE}", rounds.requested
        for number in rounds.numbers():
            checkpoint, *estimates = rounds.files_of(number)
            yield checkpoint, partial(rounds.read, number)
            for name, schema in zip(estimates, SCHEMAS, strict=True):
                yield name, partial(catalog.read_table, name, schema)


def _unmatched_runs(catalog: Catalog, bad: Reasons) -> Reasons:
    """Parts with runs that have no trajectory, and parts with trajectories that have no run."""
    runs = run_ids(catalog, "runs", bad)
    trajectories = run_ids(catalog, "trajectories", bad)
    return {
        **_unmatched_parts(runs, trajectories, "trajectories"),
        **_unmatched_parts(trajectories, runs, "runs"),
    }


def _unmatched_parts(
    parts: dict[str, set[str]], other_parts: dict[str, set[str]], other_table: str
) -> Reasons:
    """The parts of a table with runs that the other table lacks."""
    ids_in_other = set().union(*other_parts.values())
    reasons = {}
    for name, ids in parts.items():
        n_missing = len(ids - ids_in_other)
        if n_missing:
            reasons[name] = f"{other_table} lacks {counted(n_missing, 'run')} that it has"
    return reasons


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
        if missing and not bad.keys() & names:
            bad[missing[0]] = file_io.MISSING
        record = content_or_flaw(names[0], partial(rounds.read, number), bad)
        if record is None or bad.keys() & names:
            return expected
        records.append(record)
    all_sound = not bad
    instance_parts = sound_parts(catalog, "instances", ["index", "instance"], bad).values()
    instances = dict(row for part in instance_parts for row in part.iter_rows())
    parts = sound_parts(catalog, "runs", ["algorithm", "instance", "budget"], bad).values()
    budgets: defaultdict[tuple[str, str], set[float]] = defaultdict(set)
    for part in parts:
        for name, instance, budget in part.iter_rows():
            budgets[name, instance].add(budget)
    for record in records:
        number = record.state.round
        stop = record.first + record.drawn
        drawn = [instances[i] for i in instances if record.first <= i < stop]
        n_lost_runs = 0
        for name in record.ran_to:
            needed = (record.ran_at or {}).get(name)
            for instance in drawn:
                stored = budgets[name, instance]
                n_lost_runs += not stored if needed is None else len({*needed} - stored)
        n_lost = {"instances": record.drawn - len(drawn), "runs": n_lost_runs}
        for table, count in n_lost.items():
            if count:
                if all_sound:
                    bad[table] = f"they lack {counted(count, table[:-1])} of round {number}"
                return number
    return None


def content_or_flaw(name: str, read: Callable[[], T], bad: Reasons) -> T | None:
    """The content of a file; None if it is bad, with the reason added to ``bad``."""
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
    parts = {name: content_or_flaw(name, partial(read, name), bad) for name in names}
    return {name: part for name, part in parts.items() if part is not None}


def run_ids(catalog: Catalog, table: str, bad: Reasons) -> dict[str, set[str]]:
    """The runs in each sound part of a table."""
    parts = sound_parts(catalog, table, ["run"], bad).items()
    return {name: set(part["run"]) for name, part in parts}
