"""What an export is, and how what it writes gets to its place as a whole."""

from __future__ import annotations

import re
import secrets
import shutil
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from polarbear.errors import ExportFailedError
from polarbear.settings.options import Options, unknown
from polarbear.store import Store

ASIDE = ".writing-"  # where an export is made; moved to its place when it is whole
LONGEST_FILE_NAME = 120  # bytes, of the 255 that most systems allow


@dataclass(frozen=True)
class Written:
    """What an export came to, in words, and what a reader of it should know."""

    what: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExportResult:
    """What was exported; fields are the keys of `polarbear export --json`."""

    store: str
    format: str
    to: str
    algorithms: tuple[str, ...]
    what: str
    written: tuple[str, ...]
    notes: tuple[str, ...]


class Export(Options):
    """A form in which others read runs, rankings or posteriors; a subclass adds its options."""

    @abstractmethod
    def write(self, store: Store, algorithms: tuple[str, ...], place: Path) -> Written:
        """Write some algorithms of a store to a file or a folder that is not there yet."""


def export_store(
    store: Store,
    name: str,
    export: Export,
    place: Path,
    algorithms: Sequence[str] | None = None,
    force: bool = False,
) -> ExportResult:
    """Write a store to a place: all of it or nothing; what is there is not touched unasked."""
    chosen = _checked(store, algorithms)
    if not force:
        _check_free(place)
    aside = place.parent / f"{ASIDE}{secrets.token_hex(4)}"
    try:
        aside.mkdir(parents=True)
        told = export.write(store, chosen, aside / place.name)
        made = sorted(path for path in aside.rglob("*") if path.is_file())
        goals = [place.parent / path.relative_to(aside) for path in made]
        if not force:
            for goal in goals:
                _check_free(goal)
        for path, goal in zip(made, goals, strict=True):
            goal.parent.mkdir(parents=True, exist_ok=True)
            path.replace(goal)
    except OSError as error:
        raise ExportFailedError(f"cannot write {place}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return ExportResult(
        store=str(store.path),
        format=name,
        to=str(place),
        algorithms=chosen,
        what=told.what,
        written=tuple(map(str, goals)),
        notes=told.notes,
    )


def _checked(store: Store, algorithms: Sequence[str] | None) -> tuple[str, ...]:
    known = tuple(store.config["algorithms"])
    for name in algorithms or ():
        if name not in known:
            raise ExportFailedError(f"{unknown('algorithm', name, known)} (in {store.path})")
    return tuple(name for name in known if algorithms is None or name in algorithms)


def _check_free(path: Path) -> None:
    if path.is_dir() and not any(path.iterdir()):
        return
    if path.exists() or path.is_symlink():
        raise ExportFailedError(f"{path} is there already: name another place, or give --force")


def file_name(text: str) -> str:
    """A name as files can have it everywhere, and short enough for what is put around it."""
    made = re.sub(r"[^\w.+-]+", "_", text).strip("._")
    return made.encode()[:LONGEST_FILE_NAME].decode(errors="ignore") or "_"


def file_names(names: Sequence[str]) -> dict[str, str]:
    """A file name for each of some names, no two alike even where case does not count."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        base = made = file_name(name)
        number = 1
        while made.lower() in taken:
            number += 1
            made = f"{base}-{number}"
        taken.add(made.lower())
        found[name] = made
    return found
