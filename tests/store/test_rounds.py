"""Rounds on disk: checkpoints and beliefs come back the same."""

import json
from pathlib import Path

import numpy as np
import pytest

from polarbear.errors import StoreDamagedError
from polarbear.inference.beliefs import Beliefs
from polarbear.racing import RoundRecord, Rules
from polarbear.store import StoreOnDisk
from polarbear.store.catalog import json_file
from polarbear.store.rounds import beliefs_from_tables, beliefs_to_tables
from tests.store.test_store import configured

KEPT = sorted((Path(__file__).parents[1] / "data" / "rounds").glob("*.json"))


@pytest.fixture
def store(tmp_path: Path) -> StoreOnDisk:
    return StoreOnDisk.create(tmp_path / "store", configured().stored())


def kept(path: Path) -> RoundRecord:
    return RoundRecord.from_plain(json.loads(path.read_text()))


def made_up(names: tuple[str, ...], times: int, joint: bool = False) -> Beliefs:
    rng, n = np.random.default_rng(3), len(names)
    above, error, alike = rng.uniform(size=(3, times, n, n))
    for sides in (error, alike):  # a table keeps one number of each pair
        sides[:] = (sides + sides.swapaxes(1, 2)) / 2
    always, always_error, crossing = rng.uniform(size=(3, n, n))
    for sides in (always_error, crossing):
        sides[:] = (sides + sides.T) / 2
    for table in (above, error, alike, always, always_error, crossing):
        table[..., np.arange(n), np.arange(n)] = np.nan
    mean, low, high, best = rng.uniform(size=(4, n, times))
    found = Beliefs(names, np.arange(times) + 0.5, mean, low, high, best, above, error, alike)
    if not joint:
        return found
    return found._replace(always_above=always, always_above_error=always_error, crossing=crossing)


def same(one: Beliefs, other: Beliefs) -> None:
    for a, b in zip(one, other, strict=True):
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_a_checkpoint_is_read_and_written_again_to_the_byte(path: Path, store: StoreOnDisk):
    record = kept(path)
    store.rounds.add(record, made_up(record.state.algorithms, len(record.state.times)))
    (number,) = store.rounds.numbers()
    written = store.path / "rounds" / f"round-{number:04}.json"
    *lines, _, _ = written.read_bytes().splitlines()  # less its checksum
    assert b"\n".join([*lines, b"}\n"]).replace(b",\n}", b"\n}") == path.read_bytes()
    assert store.rounds.read(number).to_plain() == record.to_plain()


def test_a_round_with_rules_of_another_version_is_read_and_keeps_them(store: StoreOnDisk):
    plain = json.loads(KEPT[0].read_text())
    del plain["rules"]["epsilon"]
    plain["rules"]["patience"] = 3
    plain["rules"]["batch"]["sorted"] = True
    plain["settings"] = {"failures": "last", "seasons": [1, 2]}
    record = RoundRecord.from_plain(plain)
    assert record.settings.rules.alpha == plain["rules"]["alpha"]
    assert record.settings.rules.epsilon == Rules().epsilon
    assert record.settings.rules.batch.max == plain["rules"]["batch"]["max"]
    assert record.settings.failures == "last"
    store.catalog.commit([store.rounds.checkpoint(record)])
    (number,) = store.rounds.numbers()
    assert store.rounds.read(number).to_plain() == record.to_plain() == plain


def test_checkpoints_of_every_sort_are_among_those_tried():
    records = [kept(path) for path in KEPT]
    assert any(record.decisions.eliminated for record in records)
    assert any(record.newcomer for record in records)
    letters = {c for path in KEPT for p in json.loads(path.read_text())["state"]["pairs"]
               for c in p["settled"]}  # fmt: skip
    assert set("><x-") <= letters


@pytest.mark.parametrize(
    "facts",
    [
        *({}, {"state": 3}, {"state": None}, {"threats": None}),
        *({"inference": found} for found in ({}, {"model": 3}, {"model": "empirical", ";": 3})),
    ],
)
def test_a_checkpoint_that_lacks_something_is_named_with_the_way_out(facts, store):
    plain = json.loads(KEPT[0].read_text())
    number = plain["state"]["round"]
    known = plain if "state" not in facts and facts else {"x": 1}
    store.catalog.commit([json_file(f"rounds/round-{number:04}.json", {**known, **facts})])
    with pytest.raises(StoreDamagedError, match=r"round-000.\.json is damaged.*polarbear repair"):
        store.rounds.read(number)


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize(("names", "times"), [(("A", "B"), 1), (("C", "A", "B"), 4)])
def test_beliefs_come_back_from_their_tables(names: tuple[str, ...], times: int, joint: bool):
    told = made_up(names, times, joint)
    same(beliefs_from_tables(*beliefs_to_tables(told)), told)


def test_beliefs_that_were_not_to_be_trusted_keep_ratings_and_no_pairs():
    told = made_up(("A", "B", "C"), 3)
    unknown = np.full_like(told.above, np.nan)
    blind = told._replace(above=unknown, above_error=unknown, alike=unknown)
    ratings, pairs = beliefs_to_tables(blind)
    assert len(pairs) == 0
    back = beliefs_from_tables(ratings, pairs)
    assert not back.trusted
    same(back, blind)
