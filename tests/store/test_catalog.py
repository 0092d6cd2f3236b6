"""The list of files: damage of any kind is noticed, changes are complete or not made at all."""

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
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled_once(tmp_path_factory, "store with a file of every kind", store_damage.fill)


@pytest.fixture(scope="module")
def raced(made: Path) -> Path:
    return made / "store"


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
    damages = (store_damage.damage(Random(n), good, store, kind) for n in range(40))
    assert [wrong for wrong in damages if wrong] == []


def test_a_mixture_of_two_versions_is_reported_and_loses_nothing(made: Path, tmp_path: Path):
    """A slow copy takes some files before a change and others after it."""
    versions = [store_damage.contents(path) for path in sorted((made / "versions").iterdir())]
    mixed = (store_damage.mixture(Random(n), versions, tmp_path / "mixed") for n in range(25))
    assert [wrong for wrong in mixed if wrong] == []


def test_no_command_fails_badly_on_json_of_other_types_depths_and_sizes(store: Path):
    good = store_damage.contents(store)
    mutated = (store_damage.mutated_json(Random(n), good, store) for n in range(25))
    assert [wrong for wrong in mutated if wrong] == []


def test_a_file_that_is_not_listed_is_reported_and_not_read(store: Path):
    runs = len(StoreOnDisk.open(store).all_runs())
    part = first(store, "runs/*")
    pl.read_parquet(part).head(1).with_columns(run=pl.lit("x")).write_parquet(
        store / "runs" / "part-mine.parquet"
    )
    assert [(d.file, d.why) for d in verify(store).damaged] == [
        ("runs/part-mine.parquet", NOT_LISTED)
    ]
    assert len(StoreOnDisk.open(store).all_runs()) == runs


def test_an_algorithm_is_renamed_everywhere_or_nowhere(store: Path, tmp_path: Path):
    """Killed after any file operation: readers see the old or the new names."""
    with recorded() as steps:
        done = Path(shutil.copytree(store, tmp_path / "done"))
        with StoreOnDisk.open(done).writing():
            rename(StoreOnDisk.open(done), "good", "best")
    outcomes = [essence(store), essence(done)]
    seen = set()
    for at in range(0, len(steps), 7):
        copy = Path(shutil.copytree(store, tmp_path / f"{at}"))
        with pytest.raises(PowerCut), killed(at), StoreOnDisk.open(copy).writing():
            rename(StoreOnDisk.open(copy), "good", "best")
        found = StoreOnDisk.open(copy)
        seen.add(name := next(n for n in found.settings.algorithms if n in ("good", "best")))
        assert set(found.runs()["algorithm"]) == set(found.settings.algorithms)
        with found.writing():
            pass
        assert essence(copy) == outcomes[name == "best"]
        assert verify(copy).sound
        assert not list(copy.rglob(f"{file_io.ASIDE}*"))
    assert seen == {"good", "best"}


def test_a_change_that_fails_leaves_nothing_behind(tmp_path: Path):
    made = StoreOnDisk.create(tmp_path / "store", configured_store().stored())
    ranking = {"instance": "i", "t": 1.0, "algorithm": ["A"], "position": [1.0]}
    table = table_file("rankings/a", [ranking], tables.RANKINGS)
    changed = [json_file("provenance.json", {"alike": {}, "seeds_of": {}}), table]
    with recorded() as steps:
        made.catalog.commit([changed[1]])
    for at in range(len(steps)):
        with failing(at, errno.ENOSPC), pytest.raises(StoreError):
            made.catalog.commit([changed[0]], made.catalog.names("rankings/a-"))
        made.catalog.recover()
        assert verify(made.path).sound
        assert not list(made.path.rglob(f"{file_io.ASIDE}*"))
        made.catalog.commit([changed[1]], ["provenance.json"])


@pytest.mark.parametrize("folder", [".", "rounds", "races/race-0001", "posteriors", "damaged/runs"])
def test_the_next_writer_removes_what_a_killed_one_has_left(store: Path, folder: str):
    (store / folder).mkdir(exist_ok=True, parents=True)
    for name in ("round-0001.json", "abcd"):
        (store / folder / f"{file_io.ASIDE}{name}").write_bytes(b"half")
    with StoreOnDisk.open(store).writing():
        pass
    assert not list(store.rglob(f"{file_io.ASIDE}*"))
    assert verify(store).sound


def test_a_file_outside_of_a_store_is_written_without_what_killed_writers_have_left(tmp_path: Path):
    target, other = tmp_path / "page.html", tmp_path / "other.html"
    with pytest.raises(PowerCut), killed(2):
        file_io.write_whole(target, b"new")
    with pytest.raises(PowerCut), killed(2):
        file_io.write_whole(other, b"new")
    with file_io.folder_aside(target) as alive:
        left = alive.with_name(f"{alive.name}x")
        left.mkdir()
        file_io.write_whole(target, b"new")
        assert alive.exists()
        assert not left.exists()
    assert target.read_bytes() == b"new"
    (remaining,) = tmp_path.glob(f"{file_io.ASIDE}*")  # which belongs to the other file
    file_io.write_whole(other, b"new")
    assert not remaining.exists()


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
    made = StoreOnDisk.create(tmp_path / "store", configured_store().stored())
    name, _ = file = json_file("provenance.json", {"alike": {}, "seeds_of": {"A": "B"}})
    made.catalog.commit([file])
    (made.path / name).unlink()
    made.catalog.commit([file])
    assert made.provenance.seed_name("A") == "B"
    assert verify(made.path).sound


def test_a_reader_finds_a_file_that_is_listed_and_not_yet_in_place(tmp_path, monkeypatch):
    made = StoreOnDisk.create(tmp_path / "store", configured_store().stored())
    facts = {"alike": {}, "seeds_of": {"A": "B"}}
    with monkeypatch.context() as patch:
        patch.setattr(Catalog, "_put_in_place", lambda self, name: None)
        made.catalog.commit([json_file("provenance.json", facts)])
    assert not (made.path / "provenance.json").exists()
    assert made.catalog.stat("provenance.json").st_size
    assert StoreOnDisk.open(made.path).provenance.seed_name("A") == "B"
    with made.writing():
        assert (made.path / "provenance.json").exists()
    assert made.catalog.read_record("provenance.json", Origins) == Origins(**facts)


def test_a_posterior_without_its_facts_is_damaged(tmp_path: Path):
    made = StoreOnDisk.create(tmp_path / "store", configured_store().stored())
    made.catalog.commit(
        [table_file("posteriors/key", [{"draw": 1}], pa.schema({"draw": pa.int64()}))]
    )
    for read in (made.posteriors.read, made.posteriors.metadata):
        with pytest.raises(StoreDamagedError, match="key-.*is damaged.*polarbear repair"):
            read("key")


def test_a_file_that_the_disk_cannot_read_is_damaged_and_one_without_permission_is_not(raced: Path):
    (name, *_) = Catalog(raced).names("runs/")
    for number, message in ((errno.EIO, "the disk cannot read it"), (errno.EACCES, "Permission")):
        fresh = Catalog(raced)
        assert fresh.manifest
        with failing(0, number), pytest.raises(StoreError, match=message) as found:
            fresh.read(name)
        assert isinstance(found.value, StoreDamagedError) == (number == errno.EIO)
