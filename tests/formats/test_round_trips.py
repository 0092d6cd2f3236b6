"""A store that is exported and imported again gives the same choice, or a note says why not."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import polarbear as pb
from polarbear.errors import ImportFailedError
from polarbear.execution.outcome import Status
from polarbear.formats import EXPORTS, FORMATS
from polarbear.formats.numbered_runs import STOPPED_ON_PURPOSE
from polarbear.store import StoreOnDisk
from tests.classical.helpers import Run, make_store
from tests.formats.helpers import trajectories

GRID = (10.0, 100.0, 1000.0)
N_COMPLETE = 12  # instances on which both algorithms run to the end
N_STOPPED = 36  # instances on which the better algorithm is stopped early
PREFERENCE = "at 1000"


def stopped_store(path: Path, axis: str = "evaluations") -> StoreOnDisk:
    """Powell wins at 1,000 wherever it got that far; on most instances it was stopped before."""
    n_instances = N_COMPLETE + N_STOPPED
    powell = [Run([1, 500], [9.0, 1.0 + i / 64], Status.BUDGET, 1000) for i in range(N_COMPLETE)]
    powell += [Run([1], [8.0 + i / 64], Status.BUDGET, 90) for i in range(N_STOPPED)]
    de = [Run([1, 400], [9.5, 3.0 + i / 64], Status.BUDGET, 1000) for i in range(n_instances)]
    de[-1] = Run([1], [9.75], Status.ENDED, 40)  # it keeps its best
    de[-2] = Run([], [], Status.CRASHED, 20)  # it found nothing
    specs = [
        {"imported": i, "function": 1 + i % 3, "dimension": 2, "instance": i, "optimum": 0.0}
        for i in range(n_instances)
    ]
    return make_store(path, {"Powell": powell, "DE": de}, grid=GRID, axis=axis, specs=specs)


def p_best(store: pb.Store, **options: Any) -> tuple[str, float]:
    selection = store.select(PREFERENCE, **options)
    return selection.choice, round(selection.ranking[0].p2bb, 2)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> pb.Store:
    return pb.open(stopped_store(tmp_path_factory.mktemp("stores") / "s").path)


@pytest.mark.parametrize(
    ("export", "format"),
    [("csv", "table"), ("parquet", "table"), ("preflib", "preflib"), ("store", "store")],
)
def test_an_import_of_an_export_chooses_the_same(export, format, store, tmp_path):
    source = store.path
    if export != "store":
        source = tmp_path / f"out.{export}"
        assert store.export(export, source).notes == ()
    imported = pb.import_data(source, tmp_path / "again", format)
    assert p_best(imported) == p_best(store)
    assert p_best(store)[0] == "Powell"


@pytest.mark.parametrize("format", ["ioh", "coco"])
def test_a_format_that_cannot_say_how_runs_ended_has_a_note_on_it(format, store, tmp_path):
    exported = store.export(format, tmp_path / "out")
    stopped = f"{N_STOPPED} of {2 * (N_COMPLETE + N_STOPPED) - 1} runs {STOPPED_ON_PURPOSE}"
    assert stopped in exported.notes
    assert "1 run without a value is left out" in exported.notes
    imported = pb.import_data(tmp_path / "out", tmp_path / "again", format)
    assert stopped in imported.result.notes
    assert p_best(imported)[0] == "DE"


def test_each_format_that_is_written_and_read_is_tried():
    assert set(EXPORTS) - {"csv", "parquet", "preflib", "ioh", "coco"} == {"arviz", "chooser"}
    assert {"table", "preflib", "store", "ioh", "coco"} <= set(FORMATS)


def test_a_table_has_everything_that_the_store_says_about_values_and_ends(store, tmp_path):
    store.export("csv", tmp_path / "out.csv")
    imported = pb.import_data(tmp_path / "out.csv", tmp_path / "again")
    assert imported.result.rejected == ()
    columns = ["algorithm", "instance", "status", "reached"]
    assert imported.runs().select(columns).equals(store.runs().select(columns))
    assert trajectories(StoreOnDisk.open(imported.path)) == trajectories(
        StoreOnDisk.open(store.path)
    )


def test_a_frame_of_trajectories_is_inferred_from_as_its_store(store, tmp_path):
    inferred = pb.infer(store.trajectories(), grid=GRID)
    stored = store.infer()
    assert inferred.algorithms == stored.algorithms == ("DE", "Powell")
    p_better = inferred.head_to_head(1, 0).mean(axis=0)
    assert p_better.tolist() == stored.head_to_head(1, 0).mean(axis=0).tolist()
    assert p_better[-1] > 0.9
    naive = pb.infer(store.trajectories().drop("run_status"), grid=GRID)
    assert naive.head_to_head(1, 0).mean(axis=0)[-1] < 0.5


@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_the_options_that_an_import_needs_are_in_a_note(name: str, tmp_path: Path):
    source = pb.open(stopped_store(tmp_path / "s", axis="seconds of a clock").path)
    (note,) = source.export(name, tmp_path / f"out.{name}").notes
    assert note == "rows do not say it: import them with --axis 'seconds of a clock'"


def table_with(statuses: list[str | None], **columns: Any) -> pl.DataFrame:
    n_rows = len(statuses)
    rows = {"algorithm": ["A", "B"] * n_rows, "instance": ["i"] * 2 * n_rows}
    rows |= {"t": [1.0 + k // 2 for k in range(2 * n_rows)], "y": [1.0, 2.0] * n_rows}
    return pl.DataFrame(rows | {"run_status": [s for s in statuses for _ in "AB"]} | columns)


@pytest.mark.parametrize(
    ("statuses", "words"),
    [
        (["budgt"], "unknown status of a run 'budgt'; did you mean 'budget'"),
        (["budget", "ended"], "A on i ended in several ways: budget and ended; a run ends once"),
    ],
)
def test_a_status_that_cannot_be_is_refused(statuses: list[str], words: str, tmp_path: Path):
    table_with(statuses).write_csv(tmp_path / "x.csv")
    with pytest.raises(ImportFailedError, match=words):
        pb.import_data(tmp_path / "x.csv", tmp_path / "s")


def test_a_status_may_be_given_in_another_column_and_for_some_runs_only(tmp_path: Path):
    rows = table_with([None, "budget"]).rename({"run_status": "end"})
    rows = rows.with_columns(end=pl.when(pl.col("algorithm") == "A").then("end"))
    rows.write_csv(tmp_path / "x.csv")
    source = tmp_path / "x.csv"
    store = pb.import_data(source, tmp_path / "s", status_column="end", after_end="keeps")
    assert dict(store.runs().select("algorithm", "status").rows()) == {"A": "budget", "B": "ended"}
