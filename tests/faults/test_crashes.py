"""Commands on disks that fail, at random: power cuts and errors at some steps of each.

All steps, in all ways, are tried by benchmarks/crashes.py.
"""

from pathlib import Path

import numpy as np
import pytest

from polarbear.store import StoreOnDisk, file_io
from tests.faults.crashes import SCENARIOS, Scenario, Trials, by_lot
from tests.faults.layer import Step, recorded
from tests.faults.power import after_cut, relative
from tests.store.test_store import add, configured, instance, outcome


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::polarbear.errors.PolarBearWarning")  # few draws, on purpose
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_command_that_is_given_again_after_a_crash_comes_to_the_same(scenario, tmp_path):
    trials = Trials(scenario, tmp_path)
    cases = [*by_lot(trials.cuts, 6, seed=1), *by_lot(trials.errors, 3, seed=2)]
    assert [wrong for case in cases if (wrong := trials.tried(case))] == []


def test_parts_that_are_merged_are_all_there_after_any_power_cut(tmp_path: Path):
    config = configured()

    def prepare(root: Path) -> None:
        made = StoreOnDisk.create(root / "store", config.stored())
        with made.writing():
            for index in range(4):
                made.add_instances([instance(index)], "synthetic")
                add(made, outcome(config, "A", index, [(1, -float(index))]))

    def merge(root: Path) -> None:
        opened = StoreOnDisk.open(root / "store")
        with opened.writing():
            opened.merge_parts()

    def values(root: Path) -> list[float]:
        grid = StoreOnDisk.open(root / "store").on_grid(np.array([10.0]), ["A"])
        return [float(value) for value in grid.values.ravel()]

    trials = Trials(Scenario("merging parts", prepare, merge, values), tmp_path)
    assert [wrong for case in trials.cuts if (wrong := trials.tried(case))] == []


def test_a_disk_that_is_cut_off_keeps_what_was_synced_and_nothing_else_for_sure():
    here, aside, name = Path(), Path("aside"), Path("name")
    steps = [
        Step("create", aside),
        Step("put", aside, b"content"),
        Step("sync", aside),
        Step("rename", aside, to=name),
        Step("sync_folder", here),
    ]
    lost = [after_cut({}, steps, count, "lost") for count in range(6)]
    assert lost == [{}] * 5 + [{name: b"content"}]
    killed = [after_cut({}, steps, count, "killed") for count in range(6)]
    assert killed[1:4] == [{aside: b""}, {aside: b"content"}, {aside: b"content"}]
    assert killed[4:] == [{name: b"content"}] * 2
    (torn,) = {after_cut({}, steps, 2, "torn")[aside] for _ in range(3)}  # the same every time
    assert torn is not None
    assert torn != b"content"
    found = {frozenset(after_cut({}, steps, 4, "reordered", seed)) for seed in range(40)}
    assert found == {frozenset(), frozenset({aside}), frozenset({name})}


def test_a_folder_that_was_moved_has_all_its_files_after_a_power_cut(tmp_path: Path):
    old, new = tmp_path / "old", tmp_path / "new"
    with recorded() as steps:
        file_io.make_folder(old)
        file_io.make_folder(old / "inner")
        for folder in (old, old / "inner"):
            file_io.write_aside(folder / "aside", b"content", to=folder / "name")
        file_io.move(old, new)
    found = after_cut({}, relative(steps, tmp_path), len(steps), "lost")
    names = {str(path) for path in found}
    assert names >= {"new/name", "new/inner/name"}


def test_a_writer_that_does_not_sync_is_found_out(tmp_path: Path):
    from polarbear.store import fs

    def careless(root: Path) -> None:
        with fs.create(root / "aside") as file:
            fs.put(file, b"content")
        fs.rename(root / "aside", root / "name")
        fs.sync_folder(root)

    def once(root: Path) -> None:
        if not (root / "name").exists():
            careless(root)

    scenario = Scenario("careless", lambda root: None, once, lambda r: (r / "name").read_bytes())
    trials = Trials(scenario, tmp_path)
    wrong = [wrong for case in trials.cuts if (wrong := trials.tried(case))]
    assert any("the outcome is another" in text for text in wrong)
