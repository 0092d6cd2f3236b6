"""Several stores of one experiment, as of two machines, as one."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from polarbear.api.showing import Shown
from polarbear.api.store import Store
from polarbear.driver.merging import Union, unite, write_union
from polarbear.errors import ConfigError, NotAStoreError, StoreError, StoreLockedError
from polarbear.store import Store as StoreOnDisk
from polarbear.store.files import explained
from polarbear.store.lock import holder
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
    aside = target.with_name(f".{target.name}.merging-{secrets.token_hex(4)}")
    try:
        rounds, because = _written(opened, union, aside)
        with explained(target):
            aside.rename(target)
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


def _written(opened: Sequence[StoreOnDisk], union: Union, folder: Path) -> tuple[int, str | None]:
    """The merged store in a folder: how many rounds it was decided in, and why no more."""
    from polarbear.driver.replaying import replay

    disk = StoreOnDisk.create(folder, union.config)
    with disk.writing():
        write_union(opened, union, disk)
        if not any(store.round_numbers() for store in opened):
            return 0, None
        try:
            ended = replay(disk)
        except (ConfigError, StoreError) as error:  # a plug-in that is not installed here, say
            return 0, f"its race cannot be decided here: {error}"
        return len(disk.round_numbers()), ended.because
