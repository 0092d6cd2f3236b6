"""Errors under the guarantee: a small version of benchmarks/guarantee.py, and its replays."""

from pathlib import Path
from typing import Any

import guarantee as benchmark
import numpy as np
import pytest
import race as races
import truths
from replay import Newcomer, Replayed, by_duels, replay
from scipy.stats import binom

import polarbear as pb
from polarbear.facts.evidence import evidence_of
from polarbear.racing import State
from polarbear.racing.rules import Rules
from polarbear.store import StoreOnDisk
from tests.support import synthetic

RATINGS = {"A": [0.5, 0.5, 0.2], "B": [0.3, 0.3, 0.3], "C": [0.15, 0.1, 0.1], "D": [0.05, 0.1, 0.4]}
GRID = [10, 30, 100]
FIRST_LIMIT = 32
LIMIT = 72


def config_of(names: str, limit: int) -> dict[str, Any]:
    """A race of some of the algorithms until the set is settled.

    Its runs depend on the seed and the names of algorithms only.
    """
    rules = {"alpha": 0.9, "regret": None, "limits": {"instances": limit}}
    suite = synthetic(RATINGS)
    suite["algorithms"] = [entry for entry in suite["algorithms"] if entry["name"] in names]
    return {"seed": 5, **suite, "budget": {"grid": GRID}, "race": rules}


def replayed(folder: Path, newcomer: Newcomer | None = None) -> Replayed:
    """The race on the values of all runs."""
    pb.run(config_of("ABCD", LIMIT), folder / "everything", instances=LIMIT, workers=1)
    grid = evidence_of(StoreOnDisk.open(folder / "everything")).grid
    rules = Rules(alpha=0.9, regret=None).under(temporal=False)
    return replay(
        grid.values, grid.algorithms, grid.times, rules, by_duels(rules), False, newcomer=newcomer
    )


def assert_same(state: State, other: State) -> None:
    assert state.eliminated == other.eliminated
    assert state.instances == other.instances
    np.testing.assert_array_equal(state.settled, other.settled)


def state_in(store: Path) -> State:
    last_round = StoreOnDisk.open(store).rounds.last()
    assert last_round is not None
    return last_round.state


def test_a_replayed_race_is_the_real_race(tmp_path: Path):
    pb.race(config_of("ABCD", LIMIT), tmp_path / "race")
    state = state_in(tmp_path / "race")
    assert state.eliminated
    assert_same(replayed(tmp_path).state, state)


def test_a_replayed_late_entry_is_the_real_one(tmp_path: Path):
    pb.race(config_of("ABC", FIRST_LIMIT), tmp_path / "race")
    assert state_in(tmp_path / "race").instances == FIRST_LIMIT
    pb.race(config_of("ABCD", LIMIT), tmp_path / "race")
    state = state_in(tmp_path / "race")
    assert state.entered
    assert_same(replayed(tmp_path, Newcomer(after=FIRST_LIMIT)).state, state)


def rows_of(names: tuple[str, ...], seeds: int) -> list[dict[str, Any]]:
    cells = [cell for cell in benchmark.CELLS if cell.name in names]
    assert len(cells) == len(names)
    rows = []
    for cell in cells:
        for seed in range(seeds):
            truth = truths.drawn(cell.truth, seed, benchmark.LIMIT)
            for guarantee in benchmark.GUARANTEES:
                rows += [
                    benchmark.one_race(cell, truth, guarantee, alpha, seed)
                    for alpha in benchmark.ALPHAS
                ]
    return rows


def test_seldom_is_an_ordered_pair_wrongly_eliminated():
    """If each pair is wrong in 5 % of races, which is the bound, 1 % of all seeds fail."""
    names = ("edge: even at 1 of 20 times", "even")
    rows = rows_of(names, seeds=3)
    for alpha in benchmark.ALPHAS:
        for cell in benchmark.by_cell(benchmark.races_of(rows, "pair", alpha)).values():
            errors = benchmark.Errors.of(cell)
            assert errors.nulls >= 3 * 12
            assert errors.most_of_a_pair <= binom.ppf(0.99, errors.races, 1 - alpha)
    text = benchmark.markdown(rows, [])
    assert f"| {names[0]} | 3 | 0/36 = 0.00% | 0 |" in text
    assert "## `none` at 0.99" in text


def test_errors_count_ordered_pairs_and_races():
    races_of_a_cell = [
        {"cell": "x", "wrong": [(0, 1), (2, 1)], "beyond": [(2, 1)], "p_any_wrong": 0.5},
        {"cell": "x", "wrong": [(0, 1)], "beyond": [], "p_any_wrong": 0.1},
        {"cell": "x", "wrong": [], "beyond": [], "p_any_wrong": 0.0},
    ]
    rows = [{"nulls": 4, "nulls_beyond": 2, **row} for row in races_of_a_cell]
    errors = benchmark.Errors.of(rows)
    assert (errors.wrong, errors.nulls, errors.most_of_a_pair) == (3, 12, 2)
    assert (errors.beyond, errors.nulls_beyond, errors.wrong_races) == (1, 6, 2)
    assert errors.p_any_wrong == pytest.approx(0.2)
    assert errors.p_of_as_many == pytest.approx(binom.sf(1, 3, 0.2))


def test_an_edge_is_even_at_one_time_and_its_twins_are_even():
    """Shares of 20,000 problems are within 0.015 of the truth, four standard errors."""
    truth = truths.drawn("edge0.5-constant", 1, 20_000)
    np.testing.assert_allclose(truths.head_to_head(truth.values), truth.wins, atol=0.015)
    assert (truth.wins[:, 0, 1] == 0.5).sum() == 1
    assert (truth.wins[:, 0, 2] == 0.5).all()
    assert not truth.better()[1, 0]
    facts = races.facts(truth, [(0, 1, 8)], [(8.0, {1, 2, 3})])
    assert facts["eliminated"][0]["wrong"]
    assert not facts["eliminated"][0]["beyond"]
