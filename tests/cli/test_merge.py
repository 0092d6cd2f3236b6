"""`polarbear merge`: stores of one experiment as one."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from polarbear.api import merge_stores
from polarbear.errors import StoreFullError
from polarbear.racing import RoundRecord
from polarbear.store import StoreOnDisk, file_io
from polarbear.store.file_io import folder_aside
from tests.cli.test_race import rounds, synthetic
from tests.cli.test_run import contents
from tests.store.editing import Row, copy_rounds, remove_rounds, rewrite
from tests.support import Project


def part_of(complete_store: Path, to: Path, keeps: Callable[[Row], Any]) -> None:
    """A copy of a store with only some of its runs, and no race."""
    shutil.copytree(complete_store, to)
    remove_rounds(to)
    change(to, lambda row: row if keeps(row) else None)


def change(store: Path, to: Callable[[Row], Row | None]) -> None:
    """Rewrite the rows of runs and trajectories, or leave some out."""
    for name in ("runs", "trajectories"):
        rewrite(store, name, to)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("whole"))
    synthetic(project, "good", "bad", "early", race={"limits": {"rounds": 4}, "alpha": 0.9})
    project.race("config.yaml")
    return project


@pytest.fixture
def complete_store(project: Project, template: Project) -> Path:
    """The store of a race with an elimination."""
    shutil.copytree(template.folder, project.folder, dirs_exist_ok=True)
    assert any(record.decisions.eliminated for record in _records(project.store))
    return project.store


def _records(store: Path) -> list[RoundRecord]:
    opened = StoreOnDisk.open(store)
    return [opened.rounds.read(number) for number in opened.rounds.numbers()]


def test_a_race_split_over_two_stores_and_merged_is_the_whole_again_to_the_byte(
    project, complete_store
):
    numbers = {
        name: i for i, name in enumerate(StoreOnDisk.open(complete_store).instances()["instance"])
    }
    first = project.folder / "A"
    second = project.folder / "B"
    part_of(complete_store, first, lambda row: numbers[row["instance"]] % 2 == 0)
    part_of(
        complete_store,
        second,
        lambda row: numbers[row["instance"]] % 2 == 1 or row["algorithm"] == "bad",
    )
    copy_rounds(complete_store, first)
    merge_facts = project.json("merge", "A", "B", "--into", "C")
    merged = StoreOnDisk.open(project.folder / "C")
    assert merge_facts["runs"] == len(StoreOnDisk.open(complete_store).runs())
    assert 0 < merge_facts["in_several"] < merge_facts["runs"]
    assert merged.runs().equals(StoreOnDisk.open(complete_store).runs())
    assert rounds(merged.path) == rounds(complete_store)
    project.race("config.yaml", "--store", "C")
    assert rounds(merged.path) == rounds(complete_store)


@pytest.mark.slow
def test_missing_runs_are_reported_and_then_made(project: Project, complete_store: Path):
    instances = StoreOnDisk.open(complete_store).instances()["instance"].to_list()
    part_of(complete_store, project.folder / "A", lambda row: row["instance"] in instances[:4])
    part_of(complete_store, project.folder / "B", lambda row: row["instance"] in instances[4:7])
    copy_rounds(complete_store, project.folder / "B")
    merge_facts = project.json("merge", "A", "B", "--into", "C")
    assert "cannot be decided yet" in merge_facts["stopped_because"]
    assert "not there" in merge_facts["stopped_because"]
    project.race("config.yaml", "--store", "C")
    assert rounds(project.folder / "C") == rounds(complete_store)


def test_a_run_that_came_out_differently_is_named_and_the_first_store_may_win(
    project, complete_store
):
    part_of(complete_store, project.folder / "A", lambda row: True)
    part_of(complete_store, project.folder / "B", lambda row: True)
    instance = StoreOnDisk.open(complete_store).instances()["instance"][0]

    def otherwise(row: Row) -> Row:
        is_changed = row["algorithm"] == "good" and row["instance"] == instance and "y" in row
        return {**row, "y": [y - 1 for y in row["y"]]} if is_changed else row

    change(project.folder / "B", otherwise)
    refusal = project.refused("merge", "A", "B", "--into", "C")
    assert f"good on {instance}, in A and B" in refusal
    assert refusal.count(" on ") == 1
    assert not (project.folder / "C").exists()
    project.done("merge", "A", "B", "--into", "C", "--first-wins")
    assert contents(project.folder / "C") == contents(project.folder / "A")


def test_a_disk_that_fills_up_while_decisions_are_taken_leaves_no_merged_store(
    project: Project, complete_store: Path, monkeypatch: pytest.MonkeyPatch
):
    shutil.copytree(complete_store, project.folder / "B")

    def full(store: StoreOnDisk) -> None:
        raise StoreFullError("no space left to write round-0001.json")

    with monkeypatch.context() as patched:
        patched.setattr(merge_stores, "replay", full)
        assert "no space left" in project.refused("merge", complete_store, "B", "--into", "C")
    assert not list(project.folder.glob("*C*"))
    assert project.json("merge", complete_store, "B", "--into", "C")["rounds"] == len(
        _records(complete_store)
    )


def test_files_of_a_killed_merge_are_removed_but_not_those_of_a_running_one(
    project, complete_store
):
    shutil.copytree(complete_store, project.folder / "B")
    with folder_aside(project.folder / "C") as other:
        killed = other.with_name(f"{other.name}x")
        killed.mkdir()
        project.json("merge", complete_store, "B", "--into", "C")
        assert not killed.exists()
        assert other.exists()


def test_a_merge_whose_signal_came_after_its_end_is_finished_quietly_when_repeated(
    project: Project, complete_store: Path, monkeypatch: pytest.MonkeyPatch
):
    shutil.copytree(complete_store, project.folder / "B")
    move = file_io.move

    def move_and_be_interrupted(old: Path, new: Path) -> None:
        move(old, new)
        raise KeyboardInterrupt

    command = ["merge", "config", "B", "--into", "C"]
    with monkeypatch.context() as patched:
        patched.setattr(file_io, "move", move_and_be_interrupted)
        interrupted = project(*command)
    assert interrupted.returncode == 130
    assert "the same command finishes the merge" in interrupted.stderr
    before = contents_of_files(project.folder / "C")
    finished = project.json(*command)
    assert finished["runs"] == len(StoreOnDisk.open(complete_store).runs())
    assert finished["rounds"] == len(_records(complete_store))
    assert contents_of_files(project.folder / "C") == before
    assert not list(project.folder.glob(".writing*"))


def test_a_merge_does_not_count_another_store_of_the_experiment_as_its_result(
    project: Project, complete_store: Path
):
    shutil.copytree(complete_store, project.folder / "B")
    part_of(complete_store, project.folder / "C", lambda row: row["algorithm"] != "bad")
    before = contents_of_files(project.folder / "C")
    refusal = project.refused("merge", "config", "B", "--into", "C")
    assert "C exists; name a folder that does not exist" in refusal
    assert contents_of_files(project.folder / "C") == before


def contents_of_files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_stores_of_different_experiments_are_refused_with_the_difference(project, complete_store):
    synthetic(project, "good", "bad", seed=7, race={"limits": {"rounds": 1}})
    project("race", "config.yaml", "--store", "other")
    refusal = project.refused("merge", "config", "other", "--into", "C")
    assert "seed: the one 1, the other 7" in refusal
    assert not (project.folder / "C").exists()
    assert "exists; name a folder" in project("merge", "config", "other", "--into", "other").stderr
    assert "two stores or more" in project("merge", "config", "--into", "C").stderr
    assert "named twice" in project("merge", "config", "./config", "--into", "C").stderr


def test_seconds_of_different_machines_are_refused_unless_meant(project: Project):
    project.configure(
        budget={"axis": "seconds", "grid": [0.01, 0.02]}, instances={"suite": "classic", "count": 2}
    )
    project.done("run", "config.yaml", "--store", "A")
    shutil.copytree(project.folder / "A", project.folder / "B")

    def elsewhere(row: Row) -> Row | None:
        if row["algorithm"] == "random":
            return None
        return {**row, "host": "b"} if "host" in row else row

    change(project.folder / "A", lambda row: row if row["algorithm"] == "random" else None)
    change(project.folder / "B", elsewhere)
    refusal = project.refused("merge", "A", "B", "--into", "C")
    assert "seconds of different machines are not comparable" in refusal
    merge_facts = project.json("merge", "A", "B", "--into", "C", "--mix-hosts")
    assert merge_facts["runs"] == 4
    assert merge_facts["stopped_because"] is None
