"""Commands have the same outcome after power cuts and errors at steps chosen at random.

benchmarks/crashes.py tries all steps in all ways.
"""

from pathlib import Path

import numpy as np
import pytest

from polarbear.store import StoreOnDisk, file_io
from tests.faults.crashes import SCENARIOS, Case, Scenario, Trials, sampled
from tests.faults.layer import Step, recorded
from tests.faults.power import after_cut, relative
from tests.store.test_store import add, configured, instance, outcome


def failures(trials: Trials, cases: list[Case]) -> list[str]:
    """Descriptions of the cases in which something went wrong."""
    results = [trials.tried(case) for case in cases]
    return [wrong for wrong in results if wrong]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::polarbear.errors.PolarBearWarning")  # Few draws are enough.
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_command_that_is_repeated_after_a_crash_has_the_same_outcome(scenario, tmp_path):
    trials = Trials(scenario, tmp_path)
    cases = sampled(trials.cuts, 6, seed=1) + sampled(trials.errors, 3, seed=2)
    assert failures(trials, cases) == []


def test_all_merged_parts_survive_any_power_cut(tmp_path: Path):
    config = configured()

    def prepare(root: Path) -> None:
        store = StoreOnDisk.create(root / "store", config.stored())
        with store.writing():
            for index in range(4):
                store.add_instances([instance(index)], "synthetic")
                add(store, outcome(config, "A", index, [(1, -float(index))]))

    def merge(root: Path) -> None:
        store = StoreOnDisk.open(root / "store")
        with store.writing():
            store.merge_parts()

    def values(root: Path) -> list[float]:
        grid = StoreOnDisk.open(root / "store").on_grid(np.array([10.0]), ["A"])
        return [float(value) for value in grid.values.ravel()]

    trials = Trials(Scenario("merging parts", prepare, merge, values), tmp_path)
    assert failures(trials, trials.cuts) == []


def test_a_disk_keeps_only_synced_data_for_sure_after_a_power_cut():
    root = Path()
    aside = Path("aside")
    name = Path("name")
    steps = [
        Step("create", aside),
        Step("put", aside, b"content"),
        Step("sync", aside),
        Step("rename", aside, to=name),
        Step("sync_folder", root),
    ]
    lost = [after_cut({}, steps, count, "lost") for count in range(6)]
    assert lost == [{}] * 5 + [{name: b"content"}]
    killed = [after_cut({}, steps, count, "killed") for count in range(6)]
    assert killed[1:4] == [{aside: b""}, {aside: b"content"}, {aside: b"content"}]
    assert killed[4:] == [{name: b"content"}] * 2
    (torn,) = {after_cut({}, steps, 2, "torn")[aside] for _ in range(3)}  # Repeated cuts agree.
    assert torn is not None
    assert torn != b"content"
    surviving_names = {frozenset(after_cut({}, steps, 4, "reordered", seed)) for seed in range(40)}
    assert surviving_names == {frozenset(), frozenset({aside}), frozenset({name})}


def test_a_folder_that_was_moved_has_all_its_files_after_a_power_cut(tmp_path: Path):
    old = tmp_path / "old"
    new = tmp_path / "new"
    with recorded() as steps:
        file_io.make_folder(old)
        file_io.make_folder(old / "inner")
        for folder in (old, old / "inner"):
            file_io.write_aside(folder / "aside", b"content", to=folder / "name")
        file_io.move(old, new)
    contents = after_cut({}, relative(steps, tmp_path), len(steps), "lost")
    names = {str(path) for path in contents}
    assert names >= {"new/name", "new/inner/name"}


def test_trials_detect_a_writer_that_does_not_sync(tmp_path: Path):
    from polarbear.store import fs

    def careless(root: Path) -> None:
        with fs.create(root / "aside") as file:
            fs.put(file, b"content")
        fs.rename(root / "aside", root / "name")
        fs.sync_folder(root)

    def careless_once(root: Path) -> None:
        if not (root / "name").exists():
            careless(root)

    scenario = Scenario(
        "careless",
        prepare=lambda root: None,
        command=careless_once,
        outcome=lambda root: (root / "name").read_bytes(),
    )
    trials = Trials(scenario, tmp_path)
    assert any("the outcome is another" in text for text in failures(trials, trials.cuts))
