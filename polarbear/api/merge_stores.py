"""Unites several stores of one experiment, for example of two machines."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from polarbear.api.store_handle import Store
from polarbear.config.stored_settings import StoredSettings
from polarbear.driver.merging import Union, replay, unite, write_union
from polarbear.errors import (
    ConfigError,
    NotAStoreError,
    StoreLockedError,
    StoreMismatchError,
)
from polarbear.records import Record
from polarbear.store import StoreOnDisk, file_io
from polarbear.store.manifest import has_config
from polarbear.store.writer import holder
from polarbear.wording import counted, joined


@dataclass(frozen=True, repr=False)
class Merged(Record):
    """The result of a merge; fields are the keys of `polarbear merge --json`.

    ``in_several`` is the number of runs that were in more than one store. The ``rounds`` were
    decided again from all runs; ``stopped_because`` is None where no store had a race.
    """

    store: str
    merged: tuple[str, ...]
    runs: int
    in_several: int
    instances: int
    algorithms: tuple[str, ...]
    rounds: int
    stopped_because: str | None
    notes: tuple[str, ...]

    def one_line(self) -> str:
        several = f", {self.in_several} of them in several" if self.in_several else ""
        return (
            f"{counted(self.runs, 'run')} of {counted(len(self.algorithms), 'algorithm')} on "
            f"{counted(self.instances, 'instance')} from {joined(self.merged)} in {self.store}"
            f"{several}"
        )


def merge(
    stores: Sequence[str | Path],
    into: str | Path,
    *,
    keep: Sequence[str] = (),
    mix_hosts: bool = False,
    first_wins: bool = False,
) -> Store:
    """Unite the runs of several ``stores`` in a new one, and decide their race again.

    The stores are not changed. Their configurations must be of the same experiment: the same seed,
    suite and axis, and the same options under the same names. The new store is the folder ``into``.
    ``keep`` names algorithms whose runs are united although different code made them, ``mix_hosts``
    allows seconds of different machines, and with ``first_wins`` the first store decides where two
    runs differ. If ``into`` is already the result of this merge, for example of one that was
    interrupted at its very end, nothing is written.

    >>> more = pb.run(config, "more", instances=30)
    >>> len(pb.merge(["results", "more"], into="both").instances())
    30
    """
    target = Path(into)
    if len(stores) < 2:
        raise ConfigError(f"a merge takes two stores or more, found {len(stores)}")
    if target.exists() and not has_config(target):
        raise _not_free(target)
    opened = [StoreOnDisk.open(Path(path)) for path in stores]
    if len({store.path.resolve() for store in opened}) < len(opened):
        raise ConfigError("a store is named twice; each counts once")
    if target.resolve() in [store.path.resolve() for store in opened]:
        raise _not_free(target)
    for path in (store.path for store in opened):
        writer = holder(path / "lock")
        if writer is not None:
            raise StoreLockedError(
                f"{path} is being written by {writer.words}; wait for it, or end it"
            )
    union = unite(opened, keep, mix_hosts, first_wins)
    if target.exists() and StoreOnDisk.open(target).settings != union.settings:
        raise _not_free(target)
    with file_io.folder_aside(target) as aside:
        reason = _write(opened, union, aside, target)
    disk = StoreOnDisk.open(target)
    merged = Merged(
        store=str(target),
        merged=tuple(str(store.path) for store in opened),
        runs=len(union.runs),
        in_several=union.in_several,
        instances=len(disk.instances()),
        algorithms=tuple(union.settings.algorithms),
        rounds=len(disk.rounds.numbers()),
        stopped_because=reason,
        notes=union.notes,
    )
    return Store(disk, merged)


def _write(opened: Sequence[StoreOnDisk], union: Union, aside: Path, target: Path) -> str | None:
    """Write the merged store and decide its race again; returns why the race stopped."""
    disk = StoreOnDisk.create(aside, union.settings)
    reason = None
    with disk.writing():
        write_union(opened, union, disk)
        if any(store.rounds.numbers() for store in opened):
            try:
                reason = replay(disk).because
            except (ConfigError, StoreMismatchError) as error:  # for example a missing plug-in
                reason = f"its race cannot be decided here: {error}"
        if not target.exists():
            file_io.move(aside, target)
        elif _content(disk) != _content(StoreOnDisk.open(target)):
            raise _not_free(target)
    return reason


def _content(store: StoreOnDisk) -> tuple[StoredSettings, set[str]]:
    """The configuration of a store, and the names of its files with their checksums.

    A posterior has no checksum here: its file contains the seconds that it took.
    """
    files = store.catalog.manifest.files
    contents = {
        name.rpartition("-")[0] if name.startswith("posteriors/") else f"{name} {checksum}"
        for name, checksum in files.items()
    }
    return store.settings, contents


def _not_free(target: Path) -> NotAStoreError:
    return NotAStoreError(f"{target} exists; name a folder that does not exist")
