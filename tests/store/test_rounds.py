"""Checkpoints and beliefs of rounds are the same after they were stored and read."""

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

CHECKPOINTS = sorted((Path(__file__).parents[1] / "data" / "rounds").glob("*.json"))


@pytest.fixture
def store(tmp_path: Path) -> StoreOnDisk:
    return StoreOnDisk.create(tmp_path / "store", configured().stored())


def record_in(path: Path) -> RoundRecord:
    return RoundRecord.from_plain(json.loads(path.read_text()))


def random_beliefs(names: tuple[str, ...], n_times: int, joint: bool = False) -> Beliefs:
    rng = np.random.default_rng(3)
    n = len(names)
    above, above_error, alike = rng.uniform(size=(3, n_times, n, n))
    always, always_error, crossing = rng.uniform(size=(3, n, n))
    for symmetric in (above_error, alike, always_error, crossing):
        # A stored table has one number for each pair.
        symmetric[:] = (symmetric + symmetric.swapaxes(-2, -1)) / 2
    for table in (above, above_error, alike, always, always_error, crossing):
        table[..., np.arange(n), np.arange(n)] = np.nan
    times = np.arange(n_times) + 0.5
    mean, low, high, best = rng.uniform(size=(4, n, n_times))
    beliefs = Beliefs(names, times, mean, low, high, best, above, above_error, alike)
    if not joint:
        return beliefs
    return beliefs._replace(always_above=always, always_above_error=always_error, crossing=crossing)


def assert_same(beliefs: Beliefs, expected: Beliefs) -> None:
    for field, expected_field in zip(beliefs, expected, strict=True):
        if isinstance(field, np.ndarray):
            np.testing.assert_array_equal(field, expected_field)
        else:
            assert field == expected_field


@pytest.mark.parametrize("path", CHECKPOINTS, ids=lambda path: path.stem)
def test_a_checkpoint_is_read_and_written_again_to_the_byte(path: Path, store: StoreOnDisk):
    record = record_in(path)
    store.rounds.add(record, random_beliefs(record.state.algorithms, len(record.state.times)))
    (number,) = store.rounds.numbers()
    written = store.path / "rounds" / f"round-{number:04}.json"
    lines_without_checksum = written.read_bytes().splitlines()[:-2]
    content = b"\n".join([*lines_without_checksum, b"}\n"]).replace(b",\n}", b"\n}")
    assert content == path.read_bytes()
    assert store.rounds.read(number).to_plain() == record.to_plain()


def test_a_round_with_rules_of_another_version_is_read_and_keeps_them(store: StoreOnDisk):
    plain = json.loads(CHECKPOINTS[0].read_text())
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


def test_a_round_whose_rules_name_no_guarantee_was_decided_without_one():
    plain = json.loads(CHECKPOINTS[0].read_text())
    plain["rules"].pop("guarantee", None)
    record = RoundRecord.from_plain(plain)
    assert record.settings.rules.guarantee == "none"
    assert "guarantee" not in record.to_plain()["rules"]


def test_there_are_checkpoints_of_every_sort():
    records = [record_in(path) for path in CHECKPOINTS]
    assert any(record.decisions.eliminated for record in records)
    assert any(record.newcomer for record in records)
    states = [json.loads(path.read_text())["state"] for path in CHECKPOINTS]
    pairs = [pair for state in states for pair in state["pairs"]]
    letters = {letter for pair in pairs for letter in pair["settled"]}
    assert set("><x-") <= letters


@pytest.mark.parametrize(
    "facts",
    [
        *({}, {"state": 3}, {"state": None}, {"threats": None}),
        *({"inference": facts} for facts in ({}, {"model": 3}, {"model": "empirical", ";": 3})),
    ],
)
def test_the_error_for_a_damaged_checkpoint_names_it_and_says_how_to_repair_it(facts, store):
    plain = json.loads(CHECKPOINTS[0].read_text())
    number = plain["state"]["round"]
    valid_facts = plain if "state" not in facts and facts else {"x": 1}
    store.catalog.commit([json_file(f"rounds/round-{number:04}.json", {**valid_facts, **facts})])
    with pytest.raises(StoreDamagedError, match=r"round-000.\.json is damaged.*polarbear repair"):
        store.rounds.read(number)


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize(("names", "n_times"), [(("A", "B"), 1), (("C", "A", "B"), 4)])
def test_beliefs_are_restored_from_their_tables(names: tuple[str, ...], n_times: int, joint: bool):
    beliefs = random_beliefs(names, n_times, joint)
    assert_same(beliefs_from_tables(*beliefs_to_tables(beliefs)), beliefs)


def test_untrusted_beliefs_keep_ratings_and_no_pairs():
    beliefs = random_beliefs(("A", "B", "C"), 3)
    unknown = np.full_like(beliefs.above, np.nan)
    untrusted = beliefs._replace(above=unknown, above_error=unknown, alike=unknown)
    ratings, pairs = beliefs_to_tables(untrusted)
    assert len(pairs) == 0
    restored = beliefs_from_tables(ratings, pairs)
    assert not restored.trusted
    assert_same(restored, untrusted)
