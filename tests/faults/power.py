"""The contents of a disk after a power cut, which keeps only synced data for sure.

A sync of a file makes its data safe, a sync of its folder makes its name safe. Any part of all
other changes may survive; the ways to fail differ in the part that does.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.faults.layer import Step

# killed: only the process dies, and all changes survive. lost: no unsynced change survives.
# torn: names survive, data in part. reordered: any of the changes survive.
WAYS = ("killed", "lost", "torn", "reordered")

FOLDER = None  # A folder has this in place of a file's data.
Contents = dict[Path, bytes | None]


class File:
    """A file has synced data on the disk, and visible data for programs."""

    def __init__(self, synced: bytes = b"") -> None:
        self.synced = synced
        self.visible = synced

    def after_cut(self, how: str, rng: random.Random) -> bytes:
        """The data of the file after a power cut."""
        if self.visible == self.synced or how == "killed":
            return self.visible
        if how == "reordered":
            how = rng.choice(["lost", "torn", "killed"])
            return self.after_cut(how, rng)
        if how == "lost":
            return self.synced
        n_survive = rng.randrange(len(self.visible))
        filling = bytes(len(self.visible) - n_survive) if rng.random() < 0.5 else b""
        return self.visible[:n_survive] + filling


@dataclass(frozen=True)
class Naming:
    """A change to a folder's names that is pending until the folder is synced.

    ``moved`` is the old and the new path of a folder, which takes its files along.
    """

    folder: Path
    added: tuple[tuple[Path, File | None], ...] = ()
    removed: tuple[Path, ...] = ()
    moved: tuple[Path, Path] | None = None

    def after(self, moved: tuple[Path, Path]) -> Self:
        """The same change after its folder was moved."""
        added = tuple((_moved_path(path, moved), file) for path, file in self.added)
        removed = tuple(_moved_path(path, moved) for path in self.removed)
        return Naming(_moved_path(self.folder, moved), added, removed, self.moved)


class Disk:
    """Follows the steps of a command; all contents from before the command are synced."""

    def __init__(self, before: Contents) -> None:
        files = {path: None if data is None else File(data) for path, data in before.items()}
        self._synced: dict[Path, File | None] = files
        self._visible = dict(files)
        self._pending: list[Naming] = []

    def follow(self, step: Step) -> None:
        path = step.path
        file = self._visible.get(path)
        if step.operation == "create":
            self._name(Naming(path.parent, added=((path, File()),)))
        elif step.operation == "put":
            assert file is not None
            file.visible += step.data
        elif step.operation == "sync":
            assert file is not None
            file.synced = file.visible
        elif step.operation == "rename":
            assert step.to is not None
            if file is None:
                self._name(Naming(path.parent, moved=(path, step.to)))
            else:
                self._name(Naming(path.parent, added=((step.to, file),), removed=(path,)))
        elif step.operation == "remove" and path in self._visible:
            self._name(Naming(path.parent, removed=(path,)))
        elif step.operation == "make_folder" and path not in self._visible:
            self._name(Naming(path.parent, added=((path, None),)))
        elif step.operation == "sync_folder":
            self._sync_names(path)

    def _name(self, naming: Naming) -> None:
        _apply(naming, self._visible)
        self._pending.append(naming)

    def _sync_names(self, folder: Path) -> None:
        pending = self._pending
        self._pending = []
        for naming in pending:
            if naming.folder != folder:
                self._pending.append(naming)
                continue
            _apply(naming, self._synced)
            if naming.moved is not None:
                self._pending = [other.after(naming.moved) for other in self._pending]

    def after_cut(self, how: str, rng: random.Random) -> Contents:
        """The contents of the disk when the power is back."""
        files = dict(self._synced)
        for naming in self._pending:
            if how in ("killed", "torn") or (how == "reordered" and rng.random() < 0.5):
                _apply(naming, files)
        survivors: Contents = {
            path: FOLDER if file is None else file.after_cut(how, rng)
            for path, file in files.items()
        }
        return {path: data for path, data in survivors.items() if _is_reachable(path, survivors)}


def _apply(naming: Naming, names: dict[Path, File | None]) -> None:
    for path in naming.removed:
        names.pop(path, None)
    names.update(naming.added)
    if naming.moved is not None:
        inside = [path for path in names if path.is_relative_to(naming.moved[0])]
        names.update({_moved_path(path, naming.moved): names.pop(path) for path in inside})


def _moved_path(path: Path, moved: tuple[Path, Path]) -> Path:
    old, new = moved
    return new / path.relative_to(old) if path.is_relative_to(old) else path


def _is_reachable(path: Path, survivors: Contents) -> bool:
    """Whether all folders of a path survive; '.', the root of all paths, always does."""
    return (
        path.parent == path
        or path.parent == Path()
        or (path.parent in survivors and _is_reachable(path.parent, survivors))
    )


def relative(steps: Iterable[Step], root: Path) -> list[Step]:
    """The same steps with paths relative to a folder; steps outside of it are omitted."""
    return [
        Step(
            step.operation,
            step.path.relative_to(root),
            step.data,
            None if step.to is None else step.to.relative_to(root),
        )
        for step in steps
        if step.path.is_relative_to(root)
    ]


def contents_of(root: Path) -> Contents:
    """All files and folders in a folder, except locks."""
    return {
        path.relative_to(root): FOLDER if path.is_dir() else path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.name != "lock"
    }


def write_folder(contents: Contents, root: Path) -> None:
    """Write a new folder with these contents."""
    # The contents may hold the root itself, because a command may make it.
    for path, data in sorted({Path(): None, **contents}.items()):
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
