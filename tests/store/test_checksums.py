"""Checksums: whatever is damaged is noticed, and what older versions wrote is still read."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from polarbear.driver.evidence import evidence_of
from polarbear.driver.posterior_cache import cached_posterior, keep
from polarbear.errors import StoreDamagedError
from polarbear.inference import ModelOptions
from polarbear.store import Store, checksums, files
from tests.driver.test_rounds import configured, run
from tests.faults.bit_flips import DIFFERENT, REFUSED, flipped_bits
from tests.sharing import filled_once
from tests.store.test_store import configured as configured_store


def fill(folder: Path) -> None:
    """A store with a file of every kind: a race of two rounds, a posterior of Plackett-Luce, and an
    imported ranking."""
    import polars as pl

    config = configured(rules={"batch": {"start": 4, "min": 4}, "limits": {"rounds": 2}})
    _, store, _ = run(config, folder / "store")
    evidence = evidence_of(store)
    learned = cached_posterior(store, evidence, ModelOptions(model="dirichlet", draws=400), seed=1)
    with store.writing():
        keep(store, evidence, learned)
    ranking = {"instance": ["x"], "t": [10.0], "algorithm": [["good", "bad"]]}
    with store.writing():
        store.add_rankings(pl.DataFrame({**ranking, "position": [[1.0, 2.0]]}))


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled_once(tmp_path_factory, "store with checksums", fill) / "store"


def test_of_500_flipped_bits_none_is_read_as_different_data(raced: Path):
    told = flipped_bits(raced, 500, seed=1)
    assert {kind for kind, _ in told} == {
        *("polarbear.json", "instances", "runs", "trajectories", "posteriors"),
        *("rankings/part", "rankings/derived", "rankings/choice"),
        *("rounds/round", "rounds/ratings", "rounds/pairs"),
    }
    assert [kind for kind, what in told if what == DIFFERENT] == []
    assert sum(count for (_, what), count in told.items() if what == REFUSED) > 450


def test_every_file_of_a_store_carries_a_checksum(raced: Path):
    stored = [path for path in raced.rglob("*") if path.is_file() and path.name != "lock"]
    assert [path for path in stored if not checksums.has_one(bytearray(path.read_bytes()))] == []


def test_whatever_is_read_of_a_store_is_read_where_checksums_are_verified():
    room = Path(files.__file__).parent
    readers = re.compile(r"read_bytes|read_text|read_parquet|read_table\(path|ParquetFile\(path")
    found = {file.name for file in room.glob("*.py") if readers.search(file.read_text())}
    # The docstring of tables.py tells others how to read; a race's progress is no part of its data.
    assert found <= {"tables.py", "progress.py"}
    asked = [file.name for file in room.glob("*.py") if "disk.read(" in file.read_text()]
    assert asked == ["files.py"]


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 100_000])
def test_any_change_of_a_word_or_of_the_order_changes_the_checksum(size: int):
    rng = random.Random(size)
    data = bytearray(rng.randbytes(size))
    before = checksums.checksum(data)
    assert len(before) == checksums.DIGITS
    assert checksums.checksum(data + b"\0") != before
    for _ in range(min(size, 200)):
        changed = bytearray(data)
        changed[rng.randrange(size)] ^= 1 << rng.randrange(8)
        assert checksums.checksum(changed) != before
    for block in (8, 512, 4096):  # words, sectors and pages that were swapped
        if size >= 2 * block:
            swapped = data[block : 2 * block] + data[:block] + data[2 * block :]
            assert checksums.checksum(swapped) != before


def test_two_flips_that_cancel_in_one_sum_are_seen_in_the_other():
    data = bytearray(8 * 512 * 4)
    data[0] = 1
    before = checksums.checksum(data)
    in_a_row, in_a_column = bytearray(data), bytearray(data)
    in_a_row[0], in_a_row[8] = 0, 1
    in_a_column[0], in_a_column[8 * 512] = 0, 1
    assert len({before, checksums.checksum(in_a_row), checksums.checksum(in_a_column)}) == 3


def test_a_store_that_an_older_version_wrote_is_read(raced: Path, tmp_path: Path):
    """As it wrote: the same files without their checksums."""
    old = tmp_path / "old"
    for path in sorted(raced.rglob("*")):
        copy = old / path.relative_to(raced)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".json":
            facts = json.loads(path.read_text())
            del facts[checksums.KEY]
            copy.write_text(json.dumps(facts))
        elif path.suffix == ".parquet":
            pq.write_table(pq.read_table(path, partitioning=None), copy)
    new, found = Store.open(raced), Store.open(old)
    assert not any(checksums.has_one(bytearray(p.read_bytes())) for p in old.rglob("*.parquet"))
    assert found.config == new.config
    assert found.runs().equals(new.runs())
    assert len(keys := new.posterior_keys()) == 2
    assert all(found.posterior(key) == new.posterior(key) for key in keys)
    assert found.round(2).to_plain() == new.round(2).to_plain()
    assert [run["run"] for run, _, _ in found.trajectories()] == [
        run["run"] for run, _, _ in new.trajectories()
    ]


def test_a_name_that_looks_like_a_checksum_does_no_harm(tmp_path: Path):
    names = [checksums.BLANK, checksums.IN_JSON.decode() + "0" * 16, "checksum"]
    config = configured_store(*names)
    made = Store.create(tmp_path / "store", config.plain())
    assert list(Store.open(made.path).config["algorithms"]) == names
    path = made.path / "polarbear.json"
    path.write_bytes(path.read_bytes().replace(b'"seed": 1', b'"seed": 2'))
    with pytest.raises(StoreDamagedError, match="its checksum is wrong"):
        Store.open(made.path)


def test_facts_beside_draws_may_look_like_a_checksum(tmp_path: Path):
    import pyarrow as pa

    made = Store.create(tmp_path / "store", configured_store().plain())
    facts = {"text": checksums.BLANK + checksums.IN_PARQUET.decode()}
    draws = pa.table({"draw": [1], "chain": [0], "theta": [[0.5]], "hyper": [[]]})
    made.add_posterior("key", draws, facts)
    assert made.posterior_facts("key") == facts
    path = made.path / "posteriors" / "key.parquet"
    assert checksums.holds(bytearray(path.read_bytes()))


def test_a_posterior_without_its_facts_is_damaged(tmp_path: Path):
    import pyarrow as pa

    made = Store.create(tmp_path / "store", configured_store().plain())
    (made.path / "posteriors").mkdir()
    pq.write_table(pa.table({"draw": [1]}), made.path / "posteriors" / "key.parquet")
    for read in (made.posterior, made.posterior_facts):
        with pytest.raises(StoreDamagedError, match="key.parquet is damaged.*polarbear repair"):
            read("key")


def test_a_file_that_the_disk_cannot_read_is_damaged_and_one_that_may_not_be_read_is_not(
    raced: Path,
):
    import errno

    from tests.faults.layer import failing

    (path, *_) = files.part_paths(raced / "runs")
    with failing(0, errno.EIO), pytest.raises(StoreDamagedError, match="the disk cannot read it"):
        files.read_whole(path)
    with failing(0, errno.EACCES), pytest.raises(Exception, match="cannot read .*Permission") as e:
        files.read_whole(path)
    assert not isinstance(e.value, StoreDamagedError)
