"""Bring a damaged store back to the last state that can be vouched for.

What is damaged is moved into ``damaged/``, never destroyed, with everything that stands on it: the
runs of lost trajectories, and the rounds from the first that lacks anything. What is left is sound;
the command that made the store then runs what is missing and replays those rounds. Nothing of the
configuration is executed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from polarbear.errors import StoreDamagedError, StoreError
from polarbear.store import files, manifest
from polarbear.store.lock import locked
from polarbear.store.rounds import ENTERED
from polarbear.store.store import Store
from polarbear.store.verify import Verified, check_is_one, verify

DAMAGED = "damaged"


@dataclass(frozen=True)
class Moved:
    """A file that was set aside, where to, and why."""

    file: str
    to: str
    why: str


@dataclass(frozen=True)
class Repaired:
    """What was done to a store; fields are the keys of `polarbear repair --json`.

    ``runs_lost`` counts runs that are to be run again, as far as what was lost can still be
    counted; ``next`` says what to do now, or is None where nothing is.
    """

    store: str
    moved: tuple[Moved, ...]
    rounds_kept: int
    rounds_to_replay: int
    runs_lost: int
    next: str | None


def repair(path: Path) -> Repaired:
    """Set aside what is damaged and what stands on it; a store that is sound is left as it is."""
    check_is_one(path)
    with locked(path / "lock"):
        before = Store(path, {}).round_numbers()
        moved: list[Moved] = []
        runs = _count_runs(path)
        while not (found := verify(path)).sound:  # what was set aside may leave more without base
            more = _set_aside(path, found)
            if not more and not manifest.is_lost(path):
                worst = found.damaged[0]
                raise StoreError(f"{path}/{worst.file} cannot be set aside ({worst.why})")
            moved += more
        kept = Store(path, {}).round_numbers()
    replayed = max(before, default=0) - max(kept, default=0)
    lost = runs - _count_runs(path)
    return Repaired(
        str(path), tuple(moved), len(kept), replayed, lost, _next(path, moved, replayed)
    )


def _set_aside(path: Path, found: Verified) -> list[Moved]:
    """One pass: rounds first, the last one first, so that a race never goes on without its base."""
    moved = []
    if found.replay_from is not None:
        _note_who_entered(path, found.replay_from)
        why = f"round {found.replay_from} does not stand on what is there"
        reasons = {damage.file: damage.why for damage in found.damaged}
        for file in _rounds_from(path, found.replay_from):
            moved.append(_move(path, file, reasons.get(file, why)))
    for damage in found.damaged:
        for file, why in _with_what_stands_on_it(path, damage.file, damage.why):
            if (path / file).is_file():
                moved.append(_move(path, file, why))
        if damage.file == manifest.NAME:
            manifest.write_lost(path)
    return moved


def _with_what_stands_on_it(path: Path, file: str, why: str) -> Iterator[tuple[str, str]]:
    folder, _, name = file.partition("/")
    if folder == "runs" and name:  # first, since without its runs it would be cleared away
        yield f"trajectories/{name}", f"its {file} is damaged"
    yield file, why
    if folder == "trajectories":
        yield f"runs/{name}", f"its {file} is damaged"
    if folder == "rankings" and not name.startswith("part-"):
        key = name.removesuffix(".parquet").rsplit("-", 1)[-1]
        for posterior in _inferred_from(path, key):
            yield posterior, f"its {file} is damaged"


def _inferred_from(path: Path, evidence: str) -> Iterator[str]:
    store = Store(path, {})
    for key in store.posterior_keys():
        try:
            if store.posterior_facts(key).get("evidence") == evidence:
                yield f"posteriors/{key}.parquet"
        except StoreDamagedError:
            continue


def _rounds_from(path: Path, first: int) -> list[str]:
    """The files of rounds from a number on, the newest first, each round's checkpoint first."""
    found = []
    for file in (path / "rounds").glob("*-*.*"):
        kind, _, number = file.stem.partition("-")
        if kind in ("round", "ratings", "pairs") and number.isdigit() and int(number) >= first:
            found.append((-int(number), kind != "round", f"rounds/{file.name}"))
    return [name for _, _, name in sorted(found)]


def _note_who_entered(path: Path, first: int) -> None:
    """Keep when newcomers came in, so that rounds are replayed with the same field."""
    store = Store(path, {})
    entered = dict(store.entered())
    for number in store.round_numbers():
        if number >= first:
            try:
                record = store.round(number)
            except StoreDamagedError:
                continue
            if record.newcomer is not None:
                entered[record.newcomer] = record.state.entered
    if entered:
        files.write_json(path / "rounds" / ENTERED, {"entered": entered}, indent=1)


def _move(path: Path, file: str, why: str) -> Moved:
    place, count = path / DAMAGED / file, 1
    while place.exists():
        count += 1
        place = (path / DAMAGED / file).with_suffix(f".{count}{Path(file).suffix}")
    files.move(path / file, place)
    return Moved(file, str(place.relative_to(path)), why)


def _count_runs(path: Path) -> int:
    """Runs in the parts that can be read."""
    ids: set[str] = set()
    for part in files.part_paths(path / "runs"):
        try:
            ids.update(files.read_any(part)["run"].to_pylist())
        except (StoreError, KeyError):
            continue
    return len(ids)


def _next(path: Path, moved: list[Moved], replayed: int) -> str | None:
    """What brings back what was lost."""
    if not moved:
        return None
    touched = {move.file.split("/")[0] for move in moved}
    try:
        imported = Store.open(path).config["instances"].get("suite") == "imported"
    except StoreError:
        imported = False
    if replayed or (path / "rounds").exists():
        return (
            f"give the `polarbear race CONFIG --store {path}` command again: it runs what is "
            "missing, and replays the rounds that were set aside"
        )
    if imported and touched != {"posteriors"}:
        return f"give the `polarbear import SOURCE --store {path}` commands again"
    if touched <= {"posteriors", "rankings"}:
        return "give the `polarbear infer` command again: posteriors are inferred anew"
    return (
        f"give the `polarbear run CONFIG --store {path}` or `race` command again: it runs what is "
        "missing"
    )
