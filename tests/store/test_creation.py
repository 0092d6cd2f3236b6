"""A store is created completely or not at all, by one process at a time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from polarbear.errors import NotAStoreError, StoreError, StoreLockedError
from polarbear.store import StoreOnDisk
from tests.faults.crashes import ERRORS
from tests.faults.layer import PowerCut, Step, failing, killed, recorded
from tests.faults.power import WAYS, after_cut, relative, write_folder
from tests.store.test_store import configured

SETTINGS = configured().stored()


def test_a_creation_that_is_killed_at_any_file_operation_can_be_repeated(tmp_path: Path):
    for at in count():
        folder = tmp_path / f"{at}" / "deep" / "store"
        try:
            with killed(at):
                StoreOnDisk.create(folder, SETTINGS)
            break
        except PowerCut:
            store = StoreOnDisk.create(folder, SETTINGS)
        with store.writing():
            assert StoreOnDisk.open(folder).settings == SETTINGS
        assert not [path.name for path in folder.iterdir() if path.name.startswith(".writing")]
    assert at > 10


@pytest.mark.parametrize("how", ERRORS)
def test_a_creation_that_meets_an_error_at_any_step_can_be_repeated(tmp_path: Path, how: str):
    for at in count():
        folder = tmp_path / f"{at}" / "deep" / "store"
        with failing(at, ERRORS[how], lasting=how == "full disk") as steps, suppress(StoreError):
            StoreOnDisk.create(folder, SETTINGS)
        store = StoreOnDisk.create(folder, SETTINGS)
        with store.writing():
            assert StoreOnDisk.open(folder).settings == SETTINGS
        if len(steps) <= at:
            break
    assert at > 10


@pytest.fixture(scope="module")
def creation(tmp_path_factory: pytest.TempPathFactory) -> list[Step]:
    """The steps of creating a store."""
    root = tmp_path_factory.mktemp("recorded")
    with recorded() as steps:
        StoreOnDisk.create(root / "deep" / "store", SETTINGS)
    return relative(steps, root)


@pytest.mark.parametrize("how", WAYS)
def test_the_remains_of_a_creation_after_a_power_cut_become_a_store(tmp_path, creation, how):
    for n_steps in range(len(creation) + 1):
        root = tmp_path / f"{n_steps}"
        write_folder(after_cut({}, creation, n_steps, how), root)
        if n_steps == len(creation):
            assert StoreOnDisk.open(root / "deep" / "store").settings == SETTINGS
        store = StoreOnDisk.create(root / "deep" / "store", SETTINGS)
        with store.writing():
            assert store.settings == SETTINGS


def test_threads_that_create_a_store_at_once_open_it_or_find_it_locked(tmp_path):
    start = threading.Barrier(4)

    def create(folder: Path) -> str:
        start.wait()
        try:
            with StoreOnDisk.create(folder, SETTINGS).writing():
                return "created"
        except StoreLockedError:
            return "locked"

    for trial in range(10):
        with ThreadPoolExecutor(4) as threads:
            outcomes = set(threads.map(create, [tmp_path / f"{trial}"] * 4))
        assert "created" in outcomes
        assert StoreOnDisk.open(tmp_path / f"{trial}").settings == SETTINGS


def test_a_folder_that_looks_half_created_but_holds_something_else_is_refused(tmp_path: Path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "diary.txt").write_text("ten miles")
    with pytest.raises(NotAStoreError, match="exists and is not a PolarBear store"):
        StoreOnDisk.create(tmp_path, SETTINGS)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["diary.txt", "runs"]
