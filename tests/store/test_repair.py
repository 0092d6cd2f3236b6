"""`verify` finds damage, `repair` sets it aside, and a continued race replaces what was lost."""

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
def test_a_race_that_continues_after_repair_ends_like_an_undisturbed_one(
    damage: Callable[[Path], Any], store: Path, undisturbed: Path
):
    damage(store)
    before = verify(store)
    assert not before.sound
    assert before.damaged
    repairs = repair(store)
    assert repairs.moved or before.damaged[0].why.startswith("it is not there")
    after = verify(store)
    assert after.damaged == ()
    assert after.sound
    raced(store)
    assert essence(store) == essence(undisturbed / "store")
    assert verify(store).sound


def test_a_sound_store_is_verified_and_not_changed_by_repair(store: Path):
    before = store_damage.contents(store)
    verification = verify(store)
    assert verification.sound
    assert (verification.damaged, verification.replay_from) == ((), None)
    assert verification.files == len(before)
    assert repair(store).moved == ()
    assert store_damage.contents(store) == before


@pytest.mark.parametrize("table", ["instances", "runs", "trajectories", "posteriors"])
def test_a_file_that_could_not_be_read_once_is_set_aside_and_replaced(
    table: str, store: Path, undisturbed: Path
):
    with failing(-1, 0) as steps:
        repair(Path(shutil.copytree(store, store.parent / "copy")))
    steps_on_table = [i for i, step in enumerate(steps) if step.path.parent.name == table]
    for number, at in enumerate(steps_on_table):
        copy = Path(shutil.copytree(store, store.parent / f"{number}"))
        with failing(at, errno.EIO):
            repair(copy)
        assert verify(copy).sound
        raced(copy)
        assert essence(copy) == essence(undisturbed / "store")


def test_a_damaged_file_is_kept_with_the_reason_for_setting_it_aside(store: Path):
    damaged = store / "rounds" / "round-0003.json"
    flip(damaged)
    content = damaged.read_bytes()
    repairs = repair(store)
    assert (store / "damaged" / "rounds" / "round-0003.json").read_bytes() == content
    assert sorted(move.file.split("-")[0] for move in repairs.moved) == [
        *("rounds/pairs", "rounds/pairs", "rounds/ratings", "rounds/ratings"),
        *("rounds/round", "rounds/round"),
    ]
    reasons = {move.file: move.why for move in repairs.moved}
    assert reasons["rounds/round-0003.json"] == "its content does not match its checksum"
    assert (repairs.rounds_kept, repairs.rounds_to_replay, repairs.runs_lost) == (2, 2, 0)
    assert repairs.next is not None
    assert "polarbear race CONFIG" in repairs.next


def test_only_lost_runs_are_repeated(store: Path):
    flip(store / "rounds" / "round-0001.json")
    repair(store)
    assert raced(store) == 0
    part = first(store / "trajectories")
    n_lost = len(pl.read_parquet(part))
    flip(part)
    assert repair(store).runs_lost == n_lost
    assert raced(store) == n_lost


@pytest.mark.parametrize("pattern", ["round-0002.json", "ratings-0002-*.parquet"])
def test_a_race_does_not_continue_if_a_middle_round_is_missing(store: Path, pattern: str):
    file = first(store / "rounds", pattern)
    file.unlink()
    with pytest.raises(StoreDamagedError, match=f"{file.name} is damaged .it is not there.*repair"):
        raced(store)


def test_a_race_does_not_continue_without_the_runs_of_its_rounds(store: Path):
    for table in ("runs", "trajectories"):
        rewrite(store, table, lambda row: row if row["algorithm"] == "good" else None)
    with pytest.raises(StoreDamagedError, match="lack .* runs? of round .*polarbear repair"):
        raced(store)


def test_in_replayed_rounds_newcomers_enter_at_the_same_time(store: Path, tmp_path: Path):
    raced(store, WITH_NEWCOMER)
    rounds = StoreOnDisk.open(store).rounds
    with_newcomer = [number for number in range(1, 8) if rounds.read(number).newcomer]
    assert with_newcomer[0] == 5
    assert len(with_newcomer) > 1
    expected = essence(store)
    for number in (1, 4, 5):
        copy = Path(shutil.copytree(store, tmp_path / f"{number}"))
        flip(copy / "rounds" / f"round-{number:04}.json")
        repair(copy)
        assert raced(copy, WITH_NEWCOMER) == 0
        replayed = essence(copy)
        replayed["rounds"].pop("entered.json", None)
        assert replayed == expected


def test_a_store_without_its_configuration_asks_for_it(store: Path):
    (store / "polarbear.json").write_text("{}")
    repair(store)
    with pytest.raises(StoreError, match="has lost its configuration; give the `race`"):
        StoreOnDisk.open(store)
    assert StoreOnDisk.create(store, CONFIG.stored()).settings == CONFIG.stored()


def test_sound_parts_that_are_not_listed_are_added(store: Path, undisturbed: Path):
    """A slow copy has such parts if it copied polarbear.json before small parts were merged."""
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
