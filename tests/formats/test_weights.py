"""Weights of instances from tables: read, kept, handed on, and refused where they make no sense."""

from pathlib import Path
from typing import Any

import pytest

import polarbear as pb
from polarbear.errors import ImportFailedError, StoreMismatchError
from polarbear.facts.evidence import evidence_of
from polarbear.facts.summary import first_at
from polarbear.formats.table import RankingsTable, TrajectoryTable
from polarbear.store import StoreOnDisk

VALUES = {"i1": (3, 5), "i2": (7, 2), "i3": (4, 4.5), "i4": (1, 6)}
WEIGHTS = {"i1": 2.0, "i2": 0.5, "i3": 1.0, "i4": 3.0}


def table(folder: Path, weights: dict[str, Any] = WEIGHTS) -> Path:
    rows = [
        f"{name},{instance},{t},{y - t / 10},{weights[instance]}"
        for instance, pair in VALUES.items()
        for name, y in zip("AB", pair, strict=True)
        for t in (1, 10)
    ]
    path = folder / "data.csv"
    path.write_text("\n".join(["algorithm,instance,t,y,w", *rows, ""]))
    return path


def imported(folder: Path, weights: dict[str, Any] = WEIGHTS) -> StoreOnDisk:
    pb.import_data(table(folder, weights), folder / "s", weight_column="w", points=2)
    return StoreOnDisk.open(folder / "s")


def test_a_column_of_weights_reaches_the_choice_sets(tmp_path: Path):
    store = imported(tmp_path)
    assert store.weights() == {"i1": 2.0, "i2": 0.5, "i4": 3.0}
    evidence = evidence_of(store)
    # A wins i1, i3 and i4, B wins i2
    assert evidence.choice_sets.wins.tolist() == [[6.0, 0.5]] * 2
    assert evidence.weights is not None
    assert evidence.weights.tolist() == list(WEIGHTS.values())
    assert first_at(store, 10.0) == pytest.approx({"A": 6 / 6.5, "B": 0.5 / 6.5})


def test_seeds_of_one_instance_share_its_weight(tmp_path: Path):
    path = tmp_path / "s.csv"
    rows = [
        f"{a},{i},{seed},1,{y},{w}"
        for i, w in (("p", 3), ("q", 1))
        for seed in (1, 2)
        for a, y in (("A", 1), ("B", 2))
    ]
    path.write_text("\n".join(["algorithm,instance,seed,t,y,w", *rows]))
    pb.import_data(path, tmp_path / "s", seed_column="seed", weight_column="w")
    evidence = evidence_of(StoreOnDisk.open(tmp_path / "s"))
    assert evidence.choice_sets.wins.tolist() == [[4.0, 0.0]]
    assert evidence.n_problems == 2


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "0", "1001", "heavy", ""])
def test_what_cannot_be_a_weight_ends_the_import_in_a_line(value: str, tmp_path: Path):
    path = table(tmp_path, {**WEIGHTS, "i3": value})
    with pytest.raises(ImportFailedError) as caught:
        TrajectoryTable(weight_column="w").read(path)
    message = str(caught.value)
    assert message.startswith(
        "line 10: the weight of 'i3' must be a number above 0 and at most 1,000"
    )
    assert "\n" not in message


def test_an_instance_has_one_weight_in_a_column_that_exists(tmp_path: Path):
    text = table(tmp_path).read_text()
    (tmp_path / "data.csv").write_text(text.replace("B,i1,10,4.0,2.0", "B,i1,10,4.0,5"))
    words = "line 5: 'i1' has the weight 5, but 2 before; an instance has one"
    with pytest.raises(ImportFailedError, match=words):
        TrajectoryTable(weight_column="w").read(tmp_path / "data.csv")
    with pytest.raises(ImportFailedError, match="no column 'v' for weight"):
        RankingsTable(position_column="y", weight_column="v").read(tmp_path / "data.csv")


def test_a_second_import_with_another_weight_is_refused(tmp_path: Path):
    imported(tmp_path)
    with pytest.raises(StoreMismatchError, match=r"weight of i1 is 2 in .*, but 4 in the source"):
        imported(tmp_path, {**WEIGHTS, "i1": 4})


@pytest.mark.parametrize("format", ["csv", "parquet", "preflib", "store"])
def test_exports_and_stores_keep_weights_for_the_way_back(format: str, tmp_path: Path):
    store = imported(tmp_path)
    source = store.path
    notes: tuple[str, ...] = ()
    if format != "store":
        source = tmp_path / (f"out.{format}" if format != "preflib" else "out")
        notes = pb.open(store.path).export(format, source).notes
    is_table = format in ("csv", "parquet")
    options = {"weight_column": "weight"} if is_table else {}
    pb.import_data(source, tmp_path / "copy", "table" if is_table else format, **options)
    assert StoreOnDisk.open(tmp_path / "copy").weights() == store.weights()
    assert (format == "preflib") == any("weights" in note for note in notes)


def test_a_frame_with_a_column_weight_is_weighted(tmp_path: Path):
    import polars as pl

    frame = pl.read_csv(table(tmp_path)).rename({"w": "weight"})
    weighted = pb.infer(frame, draws=500)
    assert any("instances have weights, from 0.5 to 3" in note for note in weighted.notes)
    unweighted = pb.infer(frame.drop("weight"), draws=500)
    assert weighted.theta[:, 0, 0].mean() > unweighted.theta[:, 0, 0].mean()
