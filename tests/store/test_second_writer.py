"""A second writer whose lock does not work loses no run of the first, and damage is reported."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from polarbear.errors import StoreLockedError
from polarbear.execution.outcome import Outcome, Status
from polarbear.store import StoreOnDisk, file_io, fs, writer
from polarbear.store.repair import repair
from polarbear.store.runs import FinishedRun, Reason
from polarbear.store.verify import verify
from tests.faults.second_writer import BROKEN_LOCKS, Work, interleaved
from tests.store.test_store import configured, instance, outcome

CONFIG = configured("A", "B")
N_INSTANCES = 4
FEW_INTERLEAVINGS = 6
MANY_INTERLEAVINGS = 100  # for each way in which a lock can be broken


def finished_run(name: str, index: int) -> FinishedRun:
    run: Outcome = outcome(CONFIG, name, index, [(5, 3.0), (50, 1.0 + index)], Status.BUDGET)
    return FinishedRun.of(run, 2)


def adding(name: str) -> Work:
    """Adds the runs of an algorithm in several changes, then merges parts and sets a run aside."""

    def work(store: StoreOnDisk, finished: list[str]) -> None:
        for index in range(N_INSTANCES):
            run = finished_run(name, index)
            finished.append(run.run.run)
            store.add_runs([run])
        store.merge_parts(at_the_end=True)
        store.provenance.declare_alike(name, ["one", "other"])

    return work


def flaws_of(folder: Path, seed: int, broken_lock: str) -> list[str]:
    store = StoreOnDisk.create(folder / str(seed), CONFIG.stored())
    with store.writing():
        store.add_instances([instance(index) for index in range(N_INSTANCES)], "synthetic")
    return interleaved(store.path, seed, broken_lock, (adding("A"), adding("B")))


@pytest.mark.parametrize("broken_lock", BROKEN_LOCKS)
def test_two_writers_lose_no_run_and_verify_agrees_with_repair(tmp_path: Path, broken_lock: str):
    flaws = [flaws_of(tmp_path, seed, broken_lock) for seed in range(FEW_INTERLEAVINGS)]
    assert flaws == [[]] * FEW_INTERLEAVINGS


@pytest.mark.slow
@pytest.mark.parametrize("broken_lock", BROKEN_LOCKS)
def test_many_interleavings_of_two_writers_lose_no_run(tmp_path: Path, broken_lock: str):
    flaws = [flaws_of(tmp_path, 1000 + seed, broken_lock) for seed in range(MANY_INTERLEAVINGS)]
    assert flaws == [[]] * MANY_INTERLEAVINGS


@pytest.fixture
def stored(tmp_path: Path) -> StoreOnDisk:
    store = StoreOnDisk.create(tmp_path / "store", CONFIG.stored())
    with store.writing():
        store.add_instances([instance(0), instance(1)], "synthetic")
    return store


def remove_lock(store: Path) -> None:
    (store / "lock").unlink()


def replace_lock(store: Path) -> None:
    (store / "lock").rename(store / "lock.old")
    (store / "lock").write_bytes((store / "lock.old").read_bytes())


def take_lock(store: Path) -> None:
    (store / "lock").write_text('{"pid": 1, "host": "there", "since": "now", "command": "race"}')


def restore_manifest(store: Path) -> None:
    (store / "copy").write_bytes((store / "polarbear.json").read_bytes())
    (store / "copy").rename(store / "polarbear.json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (remove_lock, "the lock of .* was removed while this process was writing"),
        (replace_lock, "the lock of .* was taken by process"),
        (take_lock, "was taken by process 1 on there since now"),
    ],
)
def test_a_writer_that_lost_its_lock_replaces_no_manifest_and_repair_lists_its_runs(
    stored: StoreOnDisk, change: Callable[[Path], None], words: str
):
    run = finished_run("A", 0)
    with stored.writing():
        before = (stored.path / "polarbear.json").read_bytes()
        change(stored.path)
        with pytest.raises(StoreLockedError, match=words):
            stored.add_runs([run])
        with pytest.raises(StoreLockedError, match="`polarbear repair "):
            stored.set_aside.add(stored.runs(), Reason.FORGOTTEN)
            stored.provenance.declare_alike("A", ["one", "other"])
    assert (stored.path / "polarbear.json").read_bytes() == before
    assert not verify(stored.path).sound
    assert len(repair(stored.path).listed) == 2
    assert StoreOnDisk.open(stored.path).runs()["run"].to_list() == [run.run.run]
    assert verify(stored.path).sound


def test_a_manifest_that_was_replaced_since_it_was_read_is_not_replaced(
    stored: StoreOnDisk, monkeypatch: pytest.MonkeyPatch
):
    write_aside = file_io.write_aside

    def write_and_replace(path: Path, *arguments: Any, **options: Any) -> None:
        write_aside(path, *arguments, **options)
        if "runs" in path.parent.name:
            restore_manifest(stored.path)

    run = finished_run("A", 0)
    with stored.writing():
        with monkeypatch.context() as patched:
            patched.setattr(file_io, "write_aside", write_and_replace)
            with pytest.raises(StoreLockedError, match="another process has changed"):
                stored.add_runs([run])
        stored.add_runs([finished_run("B", 0)])  # on what it has read since
    repair(stored.path)
    assert len(StoreOnDisk.open(stored.path).runs()) == 2


def test_a_lock_whose_file_is_replaced_while_it_is_acquired_is_acquired_again(
    stored: StoreOnDisk, monkeypatch: pytest.MonkeyPatch
):
    acquire = writer._acquire
    n_acquired = 0

    def acquire_a_removed_file(handle: int) -> bool:
        nonlocal n_acquired
        n_acquired += 1
        if n_acquired == 1:
            remove_lock(stored.path)
        return acquire(handle)

    monkeypatch.setattr(writer, "_acquire", acquire_a_removed_file)
    with stored.writing():
        second = StoreOnDisk.open(stored.path).writing()
        with pytest.raises(StoreLockedError, match="is being written by process"), second:
            pass
        stored.add_runs([finished_run("A", 0)])
    assert n_acquired == 3  # again by the first, and in vain by the second


def test_a_file_system_without_sync_is_written(
    stored: StoreOnDisk, monkeypatch: pytest.MonkeyPatch
):
    def refuse(handle: int) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(fs.os, "fsync", refuse)
    with stored.writing():
        stored.add_runs([finished_run("A", 0)])
    assert verify(stored.path).sound
