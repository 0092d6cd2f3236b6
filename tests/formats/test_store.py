"""From an import to a store, and another store as a source."""

from pathlib import Path

import pytest

import polarbear as pb
from polarbear.errors import ImportFailedError, StoreMismatchError
from polarbear.formats.base import RunCollection, imported_points
from polarbear.formats.other_store import OtherStore
from polarbear.formats.table import TrajectoryTable
from polarbear.formats.transfer import GridOptions, ImportResult, add_imported
from polarbear.store import StoreOnDisk
from tests.formats.helpers import numbered_store, trajectories
from tests.support import Project


def test_runs_arrive_as_they_were(tmp_path: Path):
    store = numbered_store(tmp_path / "one")
    pb.import_data(store.path, tmp_path / "two", "store")
    imported = StoreOnDisk.open(tmp_path / "two")
    assert trajectories(imported) == trajectories(store)
    assert imported.problems() == store.problems()
    assert imported.settings.part("budget") == store.settings.part("budget")
    columns = ["algorithm", "instance", "seed", "status", "reached", "evaluations", "started"]
    assert imported.runs().select(columns).equals(store.runs().select(columns))
    assert pb.import_data(store.path, tmp_path / "two", "store").result.added == 0


def test_an_import_has_the_optima_that_the_suite_knows(project: Project):
    project.configure()
    project.done("run", "config.yaml")
    project.json("import", "config", "--format", "store", "--store", "copy")
    original = project.json("compare", "config")
    copy = project.json("compare", "copy")
    for key in ("aocc", "ecdf", "scale", "axis", "instances"):
        assert copy[key] == original[key]


def test_a_folder_of_something_else_is_refused(tmp_path: Path):
    with pytest.raises(ImportFailedError, match="is not a PolarBear store"):
        OtherStore().read(tmp_path)
    (tmp_path / "polarbear.json").write_text('{"format": 1, "config": {}}')
    with pytest.raises(ImportFailedError, match="is damaged"):
        OtherStore().read(tmp_path)


ROWS = "algorithm,instance,t,y\nA,i1,1,5\nA,i1,10,3\nB,i1,2,4\nB,i1,x,4\n"


def test_the_grid_spans_the_data_unless_ends_are_given(tmp_path: Path):
    (tmp_path / "data.csv").write_text(ROWS)
    grid = GridOptions(points=4, spacing="linear", last=7.0)
    add_imported(tmp_path / "s", TrajectoryTable().read(tmp_path / "data.csv"), grid)
    budget = StoreOnDisk.open(tmp_path / "s").settings.budget
    assert budget.times.tolist() == [1, 3, 5, 7]


def add_run(folder: Path, algorithm: str, **facts: float) -> ImportResult:
    runs = RunCollection(folder)
    runs.add(algorithm, "f1-d2-i1", [(1.0, 5.0)], facts)
    return add_imported(folder / "s", runs.imported())


def test_distances_to_the_optimum_and_other_values_are_not_mixed(tmp_path: Path):
    add_run(tmp_path, "A", optimum=0.0)
    add_run(tmp_path, "B", optimum=0.0)
    with pytest.raises(StoreMismatchError, match="is 0 in .* but unknown in the source"):
        add_run(tmp_path, "C")
    (tmp_path / "other").mkdir()
    for name, facts in (("A", {}), ("B", {"optimum": 0.0})):
        add_run(tmp_path / "other", name, **facts)
    (spec,) = StoreOnDisk.open(tmp_path / "other" / "s").instances()["spec"]
    assert "optimum" not in spec  # The stored spec does not change.


def test_instances_without_a_run_number_are_separate_problems(tmp_path: Path):
    points = [("A", "i1", 1.0, 5.0), ("A", "i2", 1.0, 4.0), ("A", "i3#2", 1.0, 3.0)]
    add_imported(tmp_path / "s", imported_points(points, tmp_path))
    assert StoreOnDisk.open(tmp_path / "s").problems() == {"i3#2": "i3"}


def test_few_times_of_the_data_are_the_grid_and_those_of_further_data_are_added(tmp_path: Path):
    def table(name: str, instance: str, times: list[int]) -> Path:
        rows = [f"{a},{instance},{t},{100 - t + k}" for k, a in enumerate("AB") for t in times]
        (tmp_path / name).write_text("\n".join(["algorithm,instance,t,y", *rows]))
        return tmp_path / name

    first = pb.import_data(table("1.csv", "i1", [0, 1, 5, 10]), tmp_path / "s")
    assert first.times.tolist() == [1, 5, 10]
    both = pb.import_data(table("2.csv", "i2", [2, 5, 20]), tmp_path / "s")
    assert both.times.tolist() == [1, 2, 5, 10, 20]
    chosen = pb.import_data(tmp_path / "1.csv", tmp_path / "c", points=2)
    assert chosen.times.tolist() == [1, 10]
    many = pb.import_data(table("3.csv", "i1", list(range(1, 103))), tmp_path / "m")
    assert len(many.times) < 30
    assert (many.times[0], many.times[-1]) == (1, 102)
