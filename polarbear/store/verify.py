"""Whether a store is what was written: every file, and everything that must be there beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from polarbear.errors import NotAStoreError, StoreDamagedError, StoreError
from polarbear.racing import RoundRecord
from polarbear.store import checksums, files, manifest, tables
from polarbear.store.stated import FOLDERS, check_nothing_leads_out
from polarbear.store.store import Store
from polarbear.wording import counted


@dataclass(frozen=True)
class Damage:
    """A file that is not what was written, or not there; named as seen from the store."""

    file: str
    why: str


@dataclass(frozen=True)
class Verified:
    """What was found in a store; fields are the keys of `polarbear verify --json`.

    ``without_checksum`` counts files that an older version wrote, which can only be believed.
    ``replay_from`` is the first round that does not stand on what is there, None if all do.
    """

    store: str
    sound: bool
    files: int
    without_checksum: int
    damaged: tuple[Damage, ...]
    replay_from: int | None


def verify(path: Path) -> Verified:
    """Read everything in a store; nothing is changed."""
    check_is_one(path)
    found: list[Damage] = []
    count = without = 0
    for file in files_of(path):
        count += 1
        try:
            without += not _has_checksum(file)
        except StoreDamagedError as error:
            found.append(Damage(str(file.relative_to(path)), error.why))
    if not manifest.is_in(path):
        found.append(Damage(manifest.NAME, "it is not there"))
    elif manifest.NAME not in {damage.file for damage in found}:
        found += _manifest_damage(path)
    bad = {damage.file for damage in found}
    found += _without_partner(path, bad)
    first, lacking = unsupported(path, {damage.file for damage in found})
    found += lacking
    return Verified(str(path), not found, count, without, tuple(found), first)


def check_is_one(path: Path) -> None:
    """Refuse a folder in which nothing of a store is left, or from which something leads out."""
    check_nothing_leads_out(path)
    if not manifest.is_in(path) and not any(files_of(path)):
        what = "is not a PolarBear store" if path.exists() else "does not exist"
        raise NotAStoreError(f"{path} {what}")


def files_of(path: Path) -> Iterator[Path]:
    """The files of a store that carry data; what else lies in it is nobody's business."""
    known = [path / manifest.NAME, *sorted(path.glob("*.parquet")), *sorted(path.glob("*.json"))]
    for folder in FOLDERS:
        for ending in ("json", "parquet"):
            known += sorted((path / folder).rglob(f"*.{ending}"))
    yield from (file for file in dict.fromkeys(known) if file.is_file() and not file.is_symlink())


def _has_checksum(file: Path) -> bool:
    """Whether a file that can be read carries a checksum."""
    if file.suffix == ".json":
        files.read_json(file)
    else:
        files.read_any(file)
    return checksums.has_one(files.read_whole(file))


def _manifest_damage(path: Path) -> list[Damage]:
    try:
        manifest.read(path)
    except StoreDamagedError as error:
        return [Damage(manifest.NAME, error.why)]
    except StoreError:  # another version's: its words come when it is opened
        pass
    return []


def _without_partner(path: Path, bad: set[str]) -> list[Damage]:
    """Runs that have no trajectories; a trajectory without its run was left by a killed writer."""
    parts = files.part_paths(path / "trajectories")
    there = {part.name: _ids(part) for part in parts if f"trajectories/{part.name}" not in bad}
    everywhere = set().union(*there.values())
    found = []
    for part in files.part_paths(path / "runs"):
        file = f"trajectories/{part.name}"
        if f"runs/{part.name}" in bad or file in bad:
            continue
        lacking = _ids(part) - everywhere
        if lacking and part.name in there:
            why = f"it lacks {counted(len(lacking), 'run')} of runs/{part.name}"
            found.append(Damage(file, why))
        elif lacking:
            found.append(Damage(file, "it is not there, but its runs are"))
    return found


def _ids(part: Path) -> set[str]:
    folder = part.parent.name
    return set(files.read_part(part, tables.ALL[folder], ["run"])["run"].to_pylist())


def check_rounds(path: Path) -> None:
    """Refuse to go on with a race of which a round, or what it stands on, is not there."""
    first, lacking = unsupported(path, set())
    if first is not None:
        raise files.damaged(path / lacking[0].file, lacking[0].why)


def unsupported(path: Path, bad: set[str]) -> tuple[int | None, list[Damage]]:
    """The first round that does not stand on what is there and sound, and what it lacks."""
    store = Store(path, {})
    rounds: list[RoundRecord] = []
    first: int | None = None
    found: list[Damage] = []
    for number in range(1, max(store.round_numbers(), default=0) + 1):
        names = [f"rounds/{kind}-{number:04}.parquet" for kind in ("ratings", "pairs")]
        wanted = [*names, f"rounds/round-{number:04}.json"]
        missing = [Damage(file, "it is not there") for file in wanted if not (path / file).exists()]
        if not missing and not bad & set(wanted):
            try:
                rounds.append(store.round(number))
            except StoreDamagedError as error:
                missing = [Damage(wanted[-1], error.why)]
        if missing or bad & set(wanted):
            first, found = first or number, [*found, *missing]
    return (first, found) if first is not None else _without_runs(path, rounds, bad)


def _without_runs(
    path: Path, rounds: list[RoundRecord], bad: set[str]
) -> tuple[int | None, list[Damage]]:
    """The first round whose instances or runs are not all there."""
    known: dict[int, str] = {}
    runs: set[tuple[str, str]] = set()
    for part in files.part_paths(path / "instances"):
        if f"instances/{part.name}" not in bad:
            table = files.read_part(part, tables.INSTANCES, ["index", "instance"])
            known.update(zip(*(table[c].to_pylist() for c in ("index", "instance")), strict=True))
    for part in files.part_paths(path / "runs"):
        if not bad & {f"runs/{part.name}", f"trajectories/{part.name}"}:
            table = files.read_part(part, tables.RUNS, ["algorithm", "instance"])
            runs.update(
                zip(*(table[c].to_pylist() for c in ("algorithm", "instance")), strict=True)
            )
    for record, indices in zip(rounds, drawn_in(rounds), strict=True):
        number = record.state.round
        if any(index not in known for index in indices):
            lost = sum(index not in known for index in indices)
            what = f"lack {counted(lost, 'instance')} of round {number}"
            return number, [] if bad else [Damage("instances", what)]
        wanted = {(name, known[index]) for name in record.ran_to for index in indices}
        if wanted - runs:
            what = f"lack {counted(len(wanted - runs), 'run')} of round {number}"
            return number, [] if bad else [Damage("runs", what)]
    return None, []


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
