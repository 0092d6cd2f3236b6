"""The list of files: damage of any kind is noticed, changes are complete or not made at all."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from polarbear.driver.evidence import cached_posterior, evidence_of, keep
from polarbear.errors import StoreDamagedError, StoreError
from polarbear.inference import ModelOptions
from polarbear.store import Store, file_io
from polarbear.store.catalog import Catalog, json_file, table_file
from polarbear.store.rename import rename
from polarbear.store.verify import NOT_LISTED, verify
from tests.driver.test_loop import configured, run
from tests.faults.bit_flips import DIFFERENT, REFUSED, flipped_bits
from tests.faults.layer import PowerCut, failing, killed, recorded
from tests.faults.races import essence
from tests.sharing import filled_once
from tests.store.test_store import configured as configured_store


def fill(folder: Path) -> None:
    """A store with a file of every kind: a race of two rounds, a posterior of Plackett-Luce, and an
    imported ranking."""
    config = configured(rules={"batch": {"start": 4, "min": 4}, "limits": {"rounds": 2}})
    _, store, _ = run(config, folder / "store")
    evidence = evidence_of(store)
    learned = cached_posterior(store, evidence, ModelOptions(model="dirichlet", draws=400), seed=1)
    with store.writing():
        keep(store, evidence, learned)
        ranking = {"instance": ["x"], "t": [10.0], "algorithm": [["good", "bad"]]}
        store.add_rankings(pl.DataFrame({**ranking, "position": [[1.0, 2.0]]}))


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled_once(tmp_path_factory, "store with a file of every kind", fill) / "store"


@pytest.fixture
def store(raced: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(raced, tmp_path / "store"))


def first(store: Path, pattern: str) -> Path:
    return min(store.glob(pattern))


def test_of_500_flipped_bits_none_is_read_as_different_data(store: Path):
    told = flipped_bits(store, 500, seed=1)
    assert {kind for kind, _ in told} == {
        *("polarbear.json", "instances", "runs", "trajectories", "posteriors"),
        *("rankings/part", "rankings/derived"),
        *("rounds/round", "rounds/ratings", "rounds/pairs"),
    }
    assert {what for _, what in told} == {REFUSED}
    assert DIFFERENT not in {what for _, what in told}


def swap(one: Path, other: Path) -> None:
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)


def exchange_numbers(store: Path) -> None:
    """Rename the ratings of round 1 to round 2 and the other way round."""
    one, two = (first(store, f"rounds/ratings-000{n}-*.parquet") for n in (1, 2))
    one.rename(one.with_name(one.name.replace("0001", "0002")))
    two.rename(two.with_name(two.name.replace("0002", "0001")))


TAMPERED: dict[str, Callable[[Path], object]] = {
    "rounds swapped": lambda s: swap(s / "rounds/round-0001.json", s / "rounds/round-0002.json"),
    "ratings swapped": exchange_numbers,
    "a round copied": lambda s: shutil.copy(
        s / "rounds/round-0002.json", s / "rounds/round-0003.json"
    ),
    "the last round deleted": lambda s: (s / "rounds/round-0002.json").unlink(),
    "a posterior deleted": lambda s: first(s, "posteriors/*").unlink(),
    "a posterior renamed": lambda s: first(s, "posteriors/*").rename(
        s / "posteriors" / f"0000-{'0' * 32}.parquet"
    ),
    "a part copied": lambda s: shutil.copy(first(s, "runs/*"), s / "runs" / "part-copy.parquet"),
    "a part truncated": lambda s: first(s, "runs/*").write_bytes(b"PAR1"),
    "instances of another store": lambda s: pl.DataFrame({"a": [1]}).write_parquet(
        first(s, "instances/*")
    ),
}


@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED.keys())
def test_verify_notices_swapped_copied_renamed_and_missing_files(
    store: Path, tamper: Callable[[Path], object]
):
    assert verify(store).sound
    tamper(store)
    assert not verify(store).sound


def test_a_file_that_is_not_listed_is_reported_and_not_read(store: Path):
    runs = len(Store.open(store).all_runs())
    part = first(store, "runs/*")
    pl.read_parquet(part).head(1).with_columns(run=pl.lit("x")).write_parquet(
        store / "runs" / "part-mine.parquet"
    )
    assert [(d.file, d.why) for d in verify(store).damaged] == [
        ("runs/part-mine.parquet", NOT_LISTED)
    ]
    assert len(Store.open(store).all_runs()) == runs


def test_a_mixture_of_two_versions_of_a_store_is_reported_and_loses_nothing(
    store: Path, tmp_path: Path
):
    """A slow copy takes polarbear.json before a change and a folder after it, or the reverse."""
    later = Path(shutil.copytree(store, tmp_path / "later"))
    opened = Store.open(later)
    with opened.writing():
        rename(opened, "good", "best")
    for folder in ("runs", "rounds", "posteriors"):
        for base, other in ((store, later), (later, store)):
            mixed = Path(shutil.copytree(base, tmp_path / f"{base.name} with {folder}"))
            shutil.rmtree(mixed / folder)
            shutil.copytree(other / folder, mixed / folder)
            names = sorted(path.name for path in mixed.rglob("*.*"))
            assert not verify(mixed).sound
            with Store.open(mixed).writing():
                pass
            assert sorted(path.name for path in mixed.rglob("*.*")) == names


def test_an_algorithm_is_renamed_everywhere_or_nowhere(store: Path, tmp_path: Path):
    """Killed after any file operation: readers see the old or the new names."""
    with recorded() as steps:
        done = Path(shutil.copytree(store, tmp_path / "done"))
        with Store.open(done).writing():
            rename(Store.open(done), "good", "best")
    outcomes = [essence(store), essence(done)]
    seen = set()
    for at in range(0, len(steps), 7):
        copy = Path(shutil.copytree(store, tmp_path / f"{at}"))
        with pytest.raises(PowerCut), killed(at), Store.open(copy).writing():
            rename(Store.open(copy), "good", "best")
        found = Store.open(copy)
        seen.add(name := next(n for n in found.config["algorithms"] if n in ("good", "best")))
        assert set(found.runs()["algorithm"]) == set(found.config["algorithms"])
        with found.writing():
            pass
        assert essence(copy) == outcomes[name == "best"]
        assert verify(copy).sound
        assert not list(copy.rglob(f"{file_io.ASIDE}*"))
    assert seen == {"good", "best"}


def test_a_change_that_fails_leaves_nothing_behind(tmp_path: Path):
    made = Store.create(tmp_path / "store", configured_store().plain())
    table = table_file("a", [{"x": 1}, {"x": 2}], pa.schema({"x": pa.int64()}))
    changed = [json_file("provenance.json", {"alike": {}, "seeds_of": {}}), table]
    with recorded() as steps:
        made.catalog.commit([changed[1]])
    for at in range(len(steps)):
        with failing(at, errno.ENOSPC), pytest.raises(StoreError):
            made.catalog.commit([changed[0]], made.catalog.names("a-"))
        made.catalog.recover()
        assert verify(made.path).sound
        assert not list(made.path.rglob(f"{file_io.ASIDE}*"))
        made.catalog.commit([changed[1]], ["provenance.json"])


def test_a_missing_file_that_is_added_again_with_the_same_content_is_written(tmp_path: Path):
    made = Store.create(tmp_path / "store", configured_store().plain())
    name, _ = file = json_file("provenance.json", {"alike": {}, "seeds_of": {"A": "B"}})
    made.catalog.commit([file])
    (made.path / name).unlink()
    made.catalog.commit([file])
    assert made.provenance.seed_name("A") == "B"
    assert verify(made.path).sound


def test_a_reader_finds_a_file_that_is_listed_and_not_yet_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    made = Store.create(tmp_path / "store", configured_store().plain())
    facts = {"alike": {}, "seeds_of": {"A": "B"}}
    with monkeypatch.context() as patch:
        patch.setattr(Catalog, "_put_in_place", lambda self, name: None)
        made.catalog.commit([json_file("provenance.json", facts)])
    assert not (made.path / "provenance.json").exists()
    assert Store.open(made.path).provenance.seed_name("A") == "B"
    with made.writing():
        assert (made.path / "provenance.json").exists()
    assert made.catalog.read_json("provenance.json") == facts


def test_a_posterior_without_its_facts_is_damaged(tmp_path: Path):
    made = Store.create(tmp_path / "store", configured_store().plain())
    made.catalog.commit(
        [table_file("posteriors/key", [{"draw": 1}], pa.schema({"draw": pa.int64()}))]
    )
    for read in (made.posteriors.read, made.posteriors.facts):
        with pytest.raises(StoreDamagedError, match="key-.*is damaged.*polarbear repair"):
            read("key")


def test_a_file_that_the_disk_cannot_read_is_damaged_and_one_without_permission_is_not(raced: Path):
    (name, *_) = Catalog(raced).names("runs/")
    for number, message in ((errno.EIO, "the disk cannot read it"), (errno.EACCES, "Permission")):
        catalog = Catalog(raced)
        assert catalog.manifest
        with failing(0, number), pytest.raises(StoreError, match=message) as found:
            catalog.read(name)
        assert isinstance(found.value, StoreDamagedError) == (number == errno.EIO)
