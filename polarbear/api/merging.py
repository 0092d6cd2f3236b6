"""Several stores of one experiment, as of two machines, as one."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from polarbear.api.showing import Shown
from polarbear.api.store import Store
from polarbear.driver.merging import Union, unite, write_union
from polarbear.errors import (
    ConfigError,
    NotAStoreError,
    StoreError,
    StoreLockedError,
    StoreMismatchError,
)
from polarbear.store import Store as StoreOnDisk
from polarbear.store import files
from polarbear.store.lock import holder, locked
from polarbear.wording import counted


@dataclass(frozen=True, repr=False)
class Merged(Shown):
    """What stores came to as one; fields are the keys of `polarbear merge --json`.

    ``in_several`` runs were in more than one store, and are there once. ``rounds`` were decided
    anew from all runs; ``stopped_because`` is None where no store had a race.
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

    def _in_a_line(self) -> str:
        return f"{counted(self.runs, 'run')} of {counted(len(self.merged), 'store')}"


def merge(
    stores: Sequence[str | Path],
    into: str | Path,
    *,
    keep: Sequence[str] = (),
    mix_hosts: bool = False,
    first_wins: bool = False,
) -> Store:
    """Unite the runs of several stores in a new one, and take a race's decisions anew.

    The stores are left as they are. Their configurations must be of the same experiment: the same
    seed, suite and axis, and the same options under the same names. ``keep`` names algorithms whose
    runs count alike though different things made them, ``mix_hosts`` allows seconds of different
    machines, and with ``first_wins`` the first store is right where a run came out differently.
    """
    target = Path(into)
    if len(stores) < 2:
        raise ConfigError(f"a merge takes two stores or more, found {len(stores)}")
    if target.exists():
        raise NotAStoreError(f"{target} exists; name a folder that is not there yet")
    opened = [StoreOnDisk.open(Path(path)) for path in stores]
    if len({store.path.resolve() for store in opened}) < len(opened):
        raise ConfigError("a store is named twice; each counts once")
    for path in (store.path for store in opened):
        writer = holder(path / "lock")
        if writer is not None:
            raise StoreLockedError(f"{path} is being written by {writer}; wait for it, or end it")
    union = unite(opened, keep, mix_hosts, first_wins)
    _clear_leftovers(target)
    aside = target.with_name(f"{_aside(target)}{secrets.token_hex(4)}")
    try:
        rounds, because = _written(opened, union, aside, target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    disk = StoreOnDisk.open(target)
    done = Merged(
        store=str(target),
        merged=tuple(str(store.path) for store in opened),
        runs=len(union.runs),
        in_several=union.in_several,
        instances=len(disk.instances()),
        algorithms=tuple(union.config["algorithms"]),
        rounds=rounds,
        stopped_because=because,
        notes=union.notes,
    )
    return Store(disk, done)


def _aside(target: Path) -> str:
    """How folders begin in which a store of this name is being merged."""
    return f".{target.name}.merging-"


def _clear_leftovers(target: Path) -> None:
    """Take away what killed merges into this folder left beside it."""
    for leftover in target.parent.glob(f"{escape(_aside(target))}*"):
        with suppress(StoreError), locked(leftover / "lock"):  # who holds it is still merging
            shutil.rmtree(leftover, ignore_errors=True)


def _written(
    opened: Sequence[StoreOnDisk], union: Union, aside: Path, target: Path
) -> tuple[int, str | None]:
    """Make the merged store: how many rounds it was decided in, and why no more.

    It gets its name when it is whole, and before its lock is given back: nobody may take what
    nobody writes for a leftover.
    """
    disk = StoreOnDisk.create(aside, union.config)
    with disk.writing():
        write_union(opened, union, disk)
        raced = any(store.rounds.numbers() for store in opened)
        because = _decided(disk) if raced else None
        rounds = len(disk.rounds.numbers())
        files.move(aside, target)
    return rounds, because


def _decided(disk: StoreOnDisk) -> str:
    """Take the decisions of the race anew; why there are no more of them."""
    from polarbear.driver.replaying import replay

    try:
        return replay(disk).because
    except (ConfigError, StoreMismatchError) as error:  # a plug-in that is not installed here, say
        return f"its race cannot be decided here: {error}"
