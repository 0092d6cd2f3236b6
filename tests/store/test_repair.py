"""Damage is found by `verify`, set aside by `repair`, and made up for by the race that goes on."""

import errno
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from polarbear.errors import StoreDamagedError, StoreError
from polarbear.store import StoreOnDisk
from polarbear.store.catalog import Catalog
from polarbear.store.repair import repair
from polarbear.store.verify import verify
from tests.faults import store_damage
from tests.faults.layer import failing
from tests.faults.races import CONFIG, WITH_NEWCOMER, essence, raced
from tests.sharing import filled_once
from tests.store.editing import rewrite


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled_once(
        tmp_path_factory, "an undisturbed race", lambda folder: raced(folder / "store")
    )


@pytest.fixture
def store(undisturbed: Path, tmp_path: Path) -> Path:
    shutil.copytree(undisturbed / "store", tmp_path / "store")
    return tmp_path / "store"


def flip(path: Path, seed: int = 0) -> None:
    rng = random.Random(seed)
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data) // 2)] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def first(folder: Path, pattern: str = "*.parquet") -> Path:
    return min(folder.glob(pattern))


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "a flipped bit in runs": lambda s: flip(first(s / "runs")),
    "a flipped bit in trajectories": lambda s: flip(first(s / "trajectories")),
    "a flipped bit in instances": lambda s: flip(first(s / "instances")),
    "a flipped bit in the posterior": lambda s: flip(first(s / "posteriors")),
    "a flipped bit in the first round": lambda s: flip(s / "rounds" / "round-0001.json"),
    "a flipped bit in a middle round": lambda s: flip(s / "rounds" / "round-0002.json"),
    "a flipped bit in the last round": lambda s: flip(s / "rounds" / "round-0004.json"),
    "ratings deleted": lambda s: first(s / "rounds", "ratings-0003-*").unlink(),
    "a round deleted": lambda s: (s / "rounds" / "round-0002.json").unlink(),
    "runs deleted": lambda s: first(s / "runs").unlink(),
    "trajectories deleted": lambda s: first(s / "trajectories").unlink(),
    "instances deleted": lambda s: first(s / "instances").unlink(),
    "a manifest cut short": lambda s: (s / "polarbear.json").write_bytes(b'{"format": 1, "co'),
    "a manifest without config": lambda s: (s / "polarbear.json").write_text('{"format": 1}'),
    "a manifest deleted": lambda s: (s / "polarbear.json").unlink(),
    "a bit in everything": lambda s: [flip(p) for p in s.rglob("*.*") if p.is_file()],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_race_that_goes_on_after_repair_ends_as_if_nothing_had_happened(
    damage: Callable[[Path], Any], store: Path, undisturbed: Path
):
    damage(store)
    found = verify(store)
    assert not found.sound
    assert found.damaged
    told = repair(store)
    assert told.moved or found.damaged[0].why.startswith("it is not there")
    again = verify(store)
    assert again.damaged == ()
    assert again.sound
    raced(store)
    assert essence(store) == essence(undisturbed / "store")
    assert verify(store).sound


def test_what_is_sound_is_found_sound_and_left_as_it_is(store: Path):
    before = store_damage.contents(store)
    found = verify(store)
    assert found.sound
    assert (found.damaged, found.replay_from) == ((), None)
    assert found.files == len(before)
    assert repair(store).moved == ()
    assert store_damage.contents(store) == before


@pytest.mark.parametrize("table", ["instances", "runs", "trajectories", "posteriors"])
def test_a_file_that_could_not_be_read_once_is_set_aside_and_made_up_for(
    table: str, store: Path, undisturbed: Path
):
    with failing(-1, 0) as steps:
        repair(Path(shutil.copytree(store, store.parent / "copy")))
    of_table = [i for i, step in enumerate(steps) if step.path.parent.name == table]
    for number, at in enumerate(of_table):
        copy = Path(shutil.copytree(store, store.parent / f"{number}"))
        with failing(at, errno.EIO):
            repair(copy)
        assert verify(copy).sound
        raced(copy)
        assert essence(copy) == essence(undisturbed / "store")


def test_what_was_set_aside_is_kept_with_its_reason(store: Path):
    damaged = store / "rounds" / "round-0003.json"
    flip(damaged)
    content = damaged.read_bytes()
    told = repair(store)
    assert (store / "damaged" / "rounds" / "round-0003.json").read_bytes() == content
    assert sorted(move.file.split("-")[0] for move in told.moved) == [
        *("rounds/pairs", "rounds/pairs", "rounds/ratings", "rounds/ratings"),
        *("rounds/round", "rounds/round"),
    ]
    reasons = {move.file: move.why for move in told.moved}
    assert reasons["rounds/round-0003.json"] == "its content does not match its checksum"
    assert (told.rounds_kept, told.rounds_to_replay, told.runs_lost) == (2, 2, 0)
    assert told.next is not None
    assert "polarbear race CONFIG" in told.next


def test_nothing_is_run_again_that_was_not_lost(store: Path):
    flip(store / "rounds" / "round-0001.json")
    repair(store)
    assert raced(store) == 0
    part = first(store / "trajectories")
    lost = len(pl.read_parquet(part))
    flip(part)
    assert repair(store).runs_lost == lost
    assert raced(store) == lost


@pytest.mark.parametrize("lost", ["round-0002.json", "ratings-0002-*.parquet"])
def test_a_race_does_not_go_on_where_a_middle_round_is_missing(store: Path, lost: str):
    file = first(store / "rounds", lost)
    file.unlink()
    with pytest.raises(StoreDamagedError, match=f"{file.name} is damaged .it is not there.*repair"):
        raced(store)


def test_a_race_does_not_go_on_without_the_runs_that_its_rounds_stand_on(store: Path):
    for table in ("runs", "trajectories"):
        rewrite(store, table, lambda row: row if row["algorithm"] == "good" else None)
    with pytest.raises(StoreDamagedError, match="lack .* runs? of round .*polarbear repair"):
        raced(store)


def test_rounds_are_replayed_with_newcomers_entering_when_they_did(store: Path, tmp_path: Path):
    raced(store, WITH_NEWCOMER)
    joined = [r for r in range(1, 8) if StoreOnDisk.open(store).rounds.read(r).newcomer]
    assert joined[0] == 5
    assert len(joined) > 1
    wanted = essence(store)
    for number in (1, 4, 5):
        copy = Path(shutil.copytree(store, tmp_path / f"{number}"))
        flip(copy / "rounds" / f"round-{number:04}.json")
        repair(copy)
        assert raced(copy, WITH_NEWCOMER) == 0
        found = essence(copy)
        found["rounds"].pop("entered.json", None)
        assert found == wanted


def test_a_store_without_its_configuration_asks_for_it(store: Path):
    (store / "polarbear.json").write_text("{}")
    repair(store)
    with pytest.raises(StoreError, match="has lost its configuration; give the `race`"):
        StoreOnDisk.open(store)
    assert StoreOnDisk.create(store, CONFIG.stored()).settings == CONFIG.stored()


def test_sound_parts_that_are_not_listed_are_taken_in(store: Path, undisturbed: Path):
    """As in a slow copy that took polarbear.json before small parts were merged."""
    catalog = Catalog(store)
    before = catalog.manifest.to_bytes()
    for table in ("runs", "trajectories"):
        rewrite(store, table, lambda row: row)
    rewrite(store, "instances", lambda row: row)
    (store / "polarbear.json").write_bytes(before)
    assert not verify(store).sound
    assert repair(store).runs_lost == 0
    assert raced(store) == 0
    assert essence(store) == essence(undisturbed / "store")
