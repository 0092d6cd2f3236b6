"""The catalog notices damage of any kind, and its changes are complete or do not happen."""

import errno
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random

import polars as pl
import pyarrow as pa
import pytest

from polarbear.errors import StoreDamagedError, StoreError
from polarbear.store import StoreOnDisk, catalog, file_io, tables
from polarbear.store.catalog import Catalog, json_file, table_file
from polarbear.store.rename import rename
from polarbear.store.repair import repair
from polarbear.store.runs import Origins
from polarbear.store.verify import NOT_LISTED, check_rounds, verify
from tests.faults import store_damage
from tests.faults.layer import PowerCut, failing, killed, recorded
from tests.faults.races import essence
from tests.sharing import filled_once
from tests.store.test_store import configured as configured_store


@pytest.fixture(scope="module")
def folder_of_versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store that has a file of every kind, and with its earlier versions."""
    return filled_once(tmp_path_factory, "store with a file of every kind", store_damage.fill)


@pytest.fixture(scope="module")
def raced(folder_of_versions: Path) -> Path:
    return folder_of_versions / "store"


@pytest.fixture
def store(raced: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(raced, tmp_path / "store"))


KINDS_OF_ROUNDS = ("round", "ratings", "pairs")


def first(store: Path, pattern: str) -> Path:
    return min(store.glob(pattern))


@pytest.mark.parametrize("kind", store_damage.KINDS)
def test_a_damage_of_any_file_is_noticed_and_not_read_as_other_data(store: Path, kind: str):
    good = store_damage.contents(store)
    assert {store_damage.kind_of(name) for name in good} == {
        *("polarbear.json", "provenance.json", "set", "posteriors"),
        *("instances/part", "runs/part", "trajectories/part", "rankings/part"),
        *("speculative/part", "rankings/derived"),
        *(f"{folder}/{file}" for folder in ("rounds", "races") for file in KINDS_OF_ROUNDS),
        *("rounds/entered.json", "races/race.json"),
    }
    errors = [store_damage.damage(Random(n), good, store, kind) for n in range(40)]
    assert [error for error in errors if error] == []


def test_a_mixture_of_two_versions_is_reported_and_loses_nothing(
    folder_of_versions: Path, tmp_path: Path
):
    """A slow copy takes some files before a change and others after it."""
    folders = sorted((folder_of_versions / "versions").iterdir())
    versions = [store_damage.contents(folder) for folder in folders]
    errors = [store_damage.mixture(Random(n), versions, tmp_path / "mixed") for n in range(25)]
    assert [error for error in errors if error] == []


def test_no_command_fails_badly_on_json_of_other_types_depths_and_sizes(store: Path):
    good = store_damage.contents(store)
    errors = [store_damage.mutated_json(Random(n), good, store) for n in range(25)]
    assert [error for error in errors if error] == []


def test_a_file_that_is_not_listed_is_reported_and_not_read(store: Path):
    n_runs = len(StoreOnDisk.open(store).all_runs())
    part = first(store, "runs/*")
    pl.read_parquet(part).head(1).with_columns(run=pl.lit("x")).write_parquet(
        store / "runs" / "part-mine.parquet"
    )
    assert [(d.file, d.why) for d in verify(store).damaged] == [
        ("runs/part-mine.parquet", NOT_LISTED)
    ]
    assert len(StoreOnDisk.open(store).all_runs()) == n_runs


def test_an_algorithm_is_renamed_everywhere_or_nowhere(store: Path, tmp_path: Path):
    """After a kill at any file operation, readers see the old or the new names."""
    with recorded() as steps:
        renamed = Path(shutil.copytree(store, tmp_path / "renamed"))
        with StoreOnDisk.open(renamed).writing():
            rename(StoreOnDisk.open(renamed), "good", "best")
    outcomes = {"good": essence(store), "best": essence(renamed)}
    names = set()
    for at in range(0, len(steps), 7):
        copy = Path(shutil.copytree(store, tmp_path / f"{at}"))
        with pytest.raises(PowerCut), killed(at), StoreOnDisk.open(copy).writing():
            rename(StoreOnDisk.open(copy), "good", "best")
        reader = StoreOnDisk.open(copy)
        algorithms = reader.settings.algorithms
        name = next(name for name in algorithms if name in outcomes)
        names.add(name)
        assert set(reader.runs()["algorithm"]) == set(algorithms)
        with reader.writing():
            pass
        assert essence(copy) == outcomes[name]
        assert verify(copy).sound
        assert not list(copy.rglob(f"{file_io.ASIDE}*"))
    assert names == {"good", "best"}


def test_a_change_that_fails_leaves_nothing_behind(tmp_path: Path):
    path = tmp_path / "store"
    files = StoreOnDisk.create(path, configured_store().stored()).catalog
    ranking = {"instance": "i", "t": 1.0, "algorithm": ["A"], "position": [1.0]}
    table = table_file("rankings/a", [ranking], tables.RANKINGS)
    provenance = json_file("provenance.json", {"alike": {}, "seeds_of": {}})
    with recorded() as steps:
        files.commit([table])
    for at in range(len(steps)):
        with failing(at, errno.ENOSPC), pytest.raises(StoreError):
            files.commit([provenance], files.names("rankings/a-"))
        files.recover()
        assert verify(path).sound
        assert not list(path.rglob(f"{file_io.ASIDE}*"))
        files.commit([table], ["provenance.json"])


@pytest.mark.parametrize("folder", [".", "rounds", "races/race-0001", "posteriors", "damaged/runs"])
def test_the_next_writer_removes_partial_files_of_a_killed_one(store: Path, folder: str):
    (store / folder).mkdir(exist_ok=True, parents=True)
    for name in ("round-0001.json", "abcd"):
        (store / folder / f"{file_io.ASIDE}{name}").write_bytes(b"half")
    with StoreOnDisk.open(store).writing():
        pass
    assert not list(store.rglob(f"{file_io.ASIDE}*"))
    assert verify(store).sound


def test_writing_a_file_outside_of_a_store_removes_partial_files_of_killed_writers(tmp_path: Path):
    target = tmp_path / "page.html"
    other = tmp_path / "other.html"
    with pytest.raises(PowerCut), killed(2):
        file_io.write_whole(target, b"new")
    with pytest.raises(PowerCut), killed(2):
        file_io.write_whole(other, b"new")
    with file_io.folder_aside(target) as folder_in_use:
        abandoned_folder = folder_in_use.with_name(f"{folder_in_use.name}x")
        abandoned_folder.mkdir()
        file_io.write_whole(target, b"new")
        assert folder_in_use.exists()
        assert not abandoned_folder.exists()
    assert target.read_bytes() == b"new"
    (partial_other,) = tmp_path.glob(f"{file_io.ASIDE}*")
    file_io.write_whole(other, b"new")
    assert not partial_other.exists()


def test_a_number_of_rounds_or_instances_beyond_reason_takes_no_time(store: Path):
    listing = Catalog(store)
    plain = StoreOnDisk.open(store).rounds.read(2).to_plain()
    listing.commit([json_file("rounds/round-0002.json", {**plain, "drawn": 10**12})])
    assert verify(store).replay_from == 2
    with pytest.raises(StoreDamagedError, match="instances is damaged .they lack 9.*of round 2"):
        check_rounds(store)
    (store / "rounds" / "round-99999999.json").write_bytes(b"{}")
    repair(store)
    assert verify(store).sound
    listed = replace(listing.manifest, files={"rounds/round-99999999.json": "0" * 32})
    (store / "polarbear.json").write_bytes(listed.to_bytes())
    assert verify(store).damaged[0].file == "polarbear.json"


@pytest.mark.parametrize(
    "texts",
    [["x"] * 10**6, ["x" * 10**5] * 90, [f"{n}{'x' * 10**5}" for n in range(90)]],
    ids=["many", "one long text in every row", "many long texts"],
)
def test_a_small_file_that_expands_to_very_much_is_damaged(store, monkeypatch, texts):
    monkeypatch.setattr(catalog, "MAX_TABLE_BYTES", 10**6)
    rows = pl.DataFrame({"run": texts})
    name, data = table_file("runs/part", rows, pa.schema([("run", pa.string())]))
    assert len(data) < 10**4
    Catalog(store).commit([(name, data)])
    with pytest.raises(StoreDamagedError, match=r"expand to .,...,... or more.*polarbear repair"):
        StoreOnDisk.open(store).runs()
    assert {damage.file for damage in verify(store).damaged} == {name}


def test_a_missing_file_that_is_added_again_with_the_same_content_is_written(tmp_path: Path):
    store = StoreOnDisk.create(tmp_path / "store", configured_store().stored())
    file = json_file("provenance.json", {"alike": {}, "seeds_of": {"A": "B"}})
    store.catalog.commit([file])
    (store.path / file[0]).unlink()
    store.catalog.commit([file])
    assert store.provenance.seed_name("A") == "B"
    assert verify(store.path).sound


def test_a_reader_finds_a_file_that_is_listed_and_not_yet_in_place(tmp_path, monkeypatch):
    store = StoreOnDisk.create(tmp_path / "store", configured_store().stored())
    facts = {"alike": {}, "seeds_of": {"A": "B"}}
    with monkeypatch.context() as patch:
        patch.setattr(Catalog, "_put_in_place", lambda *arguments: None)
        store.catalog.commit([json_file("provenance.json", facts)])
    assert not (store.path / "provenance.json").exists()
    assert store.catalog.stat("provenance.json").st_size
    assert StoreOnDisk.open(store.path).provenance.seed_name("A") == "B"
    with store.writing():
        assert (store.path / "provenance.json").exists()
    assert store.catalog.read_record("provenance.json", Origins) == Origins(**facts)


def test_a_posterior_without_its_facts_is_damaged(tmp_path: Path):
    store = StoreOnDisk.create(tmp_path / "store", configured_store().stored())
    without_facts = table_file("posteriors/key", [{"draw": 1}], pa.schema({"draw": pa.int64()}))
    store.catalog.commit([without_facts])
    for read in (store.posteriors.read, store.posteriors.metadata):
        with pytest.raises(StoreDamagedError, match="key-.*is damaged.*polarbear repair"):
            read("key")


def test_a_file_that_the_disk_cannot_read_is_damaged_and_one_without_permission_is_not(raced: Path):
    name = Catalog(raced).names("runs/")[0]
    for number, message in ((errno.EIO, "the disk cannot read it"), (errno.EACCES, "Permission")):
        fresh = Catalog(raced)
        assert fresh.manifest
        with failing(0, number), pytest.raises(StoreError, match=message) as error:
            fresh.read(name)
        assert isinstance(error.value, StoreDamagedError) == (number == errno.EIO)
