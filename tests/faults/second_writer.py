"""Two processes that write one store at the same time because its lock does not work.

The processes are threads here. Each waits before every file operation of the store until it is its
turn, which is drawn at random, so that a seed always gives the same interleaving.
"""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from polarbear.errors import StoreError
from polarbear.store import StoreOnDisk, writer
from polarbear.store.repair import repair
from polarbear.store.verify import verify
from tests.faults.layer import Step, under_the_store

MAX_HEAD_START = 60  # file operations of one writer before the other one begins
WRITER_NAMES = ("first", "second")
Work = Callable[[StoreOnDisk, list[str]], None]  # adds the names of runs that are finished


class Turns:
    """Lets one thread at a time continue, drawn at random among all that have not ended."""

    def __init__(self, random: Random, names: tuple[str, ...]) -> None:
        self._random = random
        self._running = set(names)
        self._waiting: set[str] = set()
        self._turn = ""
        self._changed = threading.Condition()

    def wait(self) -> None:
        name = threading.current_thread().name
        if name not in WRITER_NAMES:
            return
        with self._changed:
            self._waiting.add(name)
            self._draw()
            self._changed.wait_for(lambda: self._turn == name)
            self._turn = ""
            self._waiting.remove(name)

    def end(self) -> None:
        with self._changed:
            self._running.remove(threading.current_thread().name)
            self._draw()

    def _draw(self) -> None:
        if not self._turn and self._running and self._waiting == self._running:
            self._turn = self._random.choice(sorted(self._waiting))
            self._changed.notify_all()


def lock_is_granted_twice(store: Path) -> AbstractContextManager[Any]:
    return mock.patch.object(writer.fcntl, "flock")


def lock_is_removed(store: Path) -> AbstractContextManager[Any]:
    """Every writer first removes the file of the lock."""
    acquire = writer._open_and_acquire

    def remove_and_acquire(path: Path) -> int:
        path.unlink(missing_ok=True)
        return acquire(path)

    return mock.patch.object(writer, "_open_and_acquire", remove_and_acquire)


BROKEN_LOCKS = {"granted twice": lock_is_granted_twice, "removed": lock_is_removed}


def interleaved(store: Path, seed: int, broken_lock: str, works: tuple[Work, Work]) -> list[str]:
    """Let two writers work on a store at once; returns what is wrong afterwards."""
    random = Random(seed)
    turns = Turns(random, WRITER_NAMES)
    finished: list[str] = []
    crashes: list[BaseException] = []
    delays = [0, random.randrange(MAX_HEAD_START)]
    random.shuffle(delays)

    def write(work: Work, delay: int) -> None:
        try:
            for _ in range(delay):
                turns.wait()
            with suppress(StoreError):
                disk = StoreOnDisk.open(store)
                with disk.writing():
                    work(disk, finished)
        except BaseException as error:
            crashes.append(error)
        finally:
            turns.end()

    def in_turn(step: Step, do: Callable[[], Any]) -> Any:
        turns.wait()
        return do()

    with under_the_store(in_turn), BROKEN_LOCKS[broken_lock](store):
        threads = [
            threading.Thread(target=write, args=arguments, name=name)
            for name, *arguments in zip(WRITER_NAMES, works, delays, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    flaws = [f"{type(error).__name__}: {error}" for error in crashes]
    verified = verify(store)
    repaired = repair(store)
    reported = (repaired.moved, repaired.missing, repaired.listed, repaired.restored)
    if verified.sound == any(reported):
        flaws.append(f"verify: {verified}; repair: {repaired}")
    if not verify(store).sound:
        flaws.append(f"after repair: {verify(store)}")
    lost = set(finished).difference(StoreOnDisk.open(store).runs()["run"])
    if lost:
        flaws.append(f"{len(lost)} of {len(finished)} finished runs lost; repair: {repaired}")
    return flaws
