"""What a disk holds after a power cut: only what was synced is sure to be there.

A file's contents are safe once it was synced, its name once its folder was. Of everything else
any part may be there or not: that is what the ways to lose it choose from.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.faults.layer import Step

# The process alone dies; nothing unsynced is there; names are there, contents in part; any of it.
WAYS = ("killed", "lost", "torn", "reordered")

FOLDER = None  # in the place of a file's contents
Contents = dict[Path, bytes | None]


class File:
    """A file as the disk has it, and as programs see it."""

    def __init__(self, safe: bytes = b"") -> None:
        self.safe = self.seen = safe

    def left(self, how: str, rng: random.Random) -> bytes:
        """What is found in it after the cut."""
        if self.seen == self.safe or how == "killed":
            return self.seen
        if how == "reordered":
            how = rng.choice(["lost", "torn", "killed"])
            return self.left(how, rng)
        if how == "lost":
            return self.safe
        there = rng.randrange(len(self.seen))
        filling = bytes(len(self.seen) - there) if rng.random() < 0.5 else b""
        return self.seen[:there] + filling


@dataclass(frozen=True)
class Naming:
    """A change to a folder's names that waits for the folder to be synced.

    ``moved`` is a folder that was given another name, with all that is in it.
    """

    folder: Path
    given: tuple[tuple[Path, File | None], ...] = ()
    taken: tuple[Path, ...] = ()
    moved: tuple[Path, Path] | None = None

    def after(self, moved: tuple[Path, Path]) -> Self:
        """The same change where its folder goes by another name since."""
        given = tuple((_elsewhere(path, moved), file) for path, file in self.given)
        taken = tuple(_elsewhere(path, moved) for path in self.taken)
        return Naming(_elsewhere(self.folder, moved), given, taken, self.moved)


class Disk:
    """Follows the steps of a command; what was there before it is safe."""

    def __init__(self, before: Contents) -> None:
        files = {path: None if data is None else File(data) for path, data in before.items()}
        self._safe: dict[Path, File | None] = files
        self._seen = dict(files)
        self._waiting: list[Naming] = []

    def follow(self, step: Step) -> None:
        path, file = step.path, self._seen.get(step.path)
        if step.what == "create":
            self._name(Naming(path.parent, given=((path, File()),)))
        elif step.what == "put":
            assert file is not None
            file.seen += step.data
        elif step.what == "sync":
            assert file is not None
            file.safe = file.seen
        elif step.what == "rename":
            assert step.to is not None
            if file is None:
                self._name(Naming(path.parent, moved=(path, step.to)))
            else:
                self._name(Naming(path.parent, given=((step.to, file),), taken=(path,)))
        elif step.what == "remove" and path in self._seen:
            self._name(Naming(path.parent, taken=(path,)))
        elif step.what == "make_folder" and path not in self._seen:
            self._name(Naming(path.parent, given=((path, None),)))
        elif step.what == "sync_folder":
            waiting, self._waiting = self._waiting, []
            for naming in waiting:
                if naming.folder != path:
                    self._waiting.append(naming)
                    continue
                _apply(naming, self._safe)
                if naming.moved is not None:
                    self._waiting = [other.after(naming.moved) for other in self._waiting]

    def _name(self, naming: Naming) -> None:
        _apply(naming, self._seen)
        self._waiting.append(naming)

    def after_cut(self, how: str, rng: random.Random) -> Contents:
        """What is found when the power is back."""
        found = dict(self._safe)
        for naming in self._waiting:
            if how in ("killed", "torn") or (how == "reordered" and rng.random() < 0.5):
                _apply(naming, found)
        left = {
            path: FOLDER if file is None else file.left(how, rng) for path, file in found.items()
        }
        return {path: data for path, data in left.items() if _reachable(path, left)}


def _apply(naming: Naming, names: dict[Path, File | None]) -> None:
    for path in naming.taken:
        names.pop(path, None)
    names.update(naming.given)
    if naming.moved is not None:
        inside = [path for path in names if path.is_relative_to(naming.moved[0])]
        names.update({_elsewhere(path, naming.moved): names.pop(path) for path in inside})


def _elsewhere(path: Path, moved: tuple[Path, Path]) -> Path:
    old, new = moved
    return new / path.relative_to(old) if path.is_relative_to(old) else path


def _reachable(path: Path, found: Contents) -> bool:
    """A name whose folder was lost is lost with it; '.' is where everything stands."""
    return (
        path.parent == path
        or path.parent == Path()
        or (path.parent in found and _reachable(path.parent, found))
    )


def relative(steps: Iterable[Step], root: Path) -> list[Step]:
    """The same steps with paths as seen from a folder; those outside of it are left out."""
    return [
        Step(
            step.what,
            step.path.relative_to(root),
            step.data,
            None if step.to is None else step.to.relative_to(root),
        )
        for step in steps
        if step.path.is_relative_to(root)
    ]


def contents_of(root: Path) -> Contents:
    """All that is in a folder."""
    return {
        path.relative_to(root): FOLDER if path.is_dir() else path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.name != "lock"
    }


def laid_out(contents: Contents, root: Path) -> None:
    """Make a folder with these contents."""
    for path, data in sorted({Path(): None, **contents}.items()):  # a command may make the root
        if data is None:
            (root / path).mkdir()
        else:
            (root / path).write_bytes(data)


def after_cut(
    before: Contents, steps: Sequence[Step], count: int, how: str, seed: int = 0
) -> Contents:
    """The contents after a power cut that follows a number of steps."""
    disk = Disk(before)
    for step in steps[:count]:
        disk.follow(step)
    return disk.after_cut(how, random.Random(f"{seed}/{count}/{how}"))
