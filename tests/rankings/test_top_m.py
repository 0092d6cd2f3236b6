"""Rankings of which only the best were recorded."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import polarbear as pb
from polarbear.errors import ImportFailedError
from polarbear.facts.evidence import evidence_of
from polarbear.formats.table import RankingsTable
from polarbear.inference.plackett_luce import composite_weight
from polarbear.inference.plackett_luce.likelihood import Likelihood, helmert
from polarbear.rankings import ABSENT, BELOW, UNRECORDED, rank
from polarbear.rankings.choice_sets import count_choice_sets
from polarbear.rankings.duels import duels_of
from polarbear.store import StoreOnDisk

CASES = [
    [0, 1, BELOW, BELOW],
    [BELOW, 0, BELOW, BELOW],
    [0, ABSENT, BELOW, BELOW],
    [2, 0, 1, BELOW],
    [BELOW, ABSENT, ABSENT, 0],
]


def top_m_probability(place: list[int], strength: np.ndarray) -> float:
    """Of all complete orders that agree with what was recorded, by enumeration."""
    there = [a for a, p in enumerate(place) if p != ABSENT]
    recorded = sorted((p, a) for a, p in enumerate(place) if p not in (ABSENT, BELOW))
    total = 0.0
    for order in permutations(there):
        if list(order[: len(recorded)]) != [a for _, a in recorded]:
            continue
        left, chance = list(order), 1.0
        for a in order:
            chance *= strength[a] / strength[left].sum()
            left.remove(a)
        total += chance
    return total


def as_positions(place: list[int]) -> np.ndarray:
    return np.array(place, dtype=np.int16)[None, :, None]


@pytest.mark.parametrize("place", CASES)
def test_their_likelihood_is_that_of_all_orders_that_agree(place: list[int]):
    mu = np.array([0.3, -0.7, 1.1, 0.0])
    found = Likelihood(count_choice_sets(as_positions(place))).evaluate(mu[None, None])[0]
    assert np.sum(found) == pytest.approx(np.log(top_m_probability(place, np.exp(mu))))


@pytest.mark.parametrize("place", [*CASES, [0, 0, BELOW, BELOW], [1, 0, 0, BELOW]])
def test_the_score_of_one_is_the_gradient_of_its_likelihood(place: list[int]):
    mu, step = np.array([0.3, -0.7, 1.1, 0.0]), 1e-6
    likelihood = Likelihood(count_choice_sets(as_positions(place)))
    numeric = [
        likelihood.evaluate((mu + by * unit)[None, None])[0].item() / (2 * by)
        for unit in np.eye(4)
        for by in (step, -step)
    ]
    scores = composite_weight.SingleRankings(as_positions(place)).scores(mu[None])
    gradient = np.add.reduceat(numeric, [0, 2, 4, 6])
    assert scores[0, 0] == pytest.approx(gradient @ helmert(4), abs=1e-7)


def test_values_that_were_not_recorded_are_below_and_do_not_tie():
    values = np.array([3.0, 1.0, UNRECORDED, UNRECORDED, np.nan])[None, :, None]
    places = rank(values, ~np.isnan(values))[0, :, 0]
    assert places.tolist() == [1, 0, BELOW, BELOW, ABSENT]


def test_duels_among_the_unrecorded_are_unknown():
    duels = duels_of(np.concatenate([as_positions([0, 1, BELOW, BELOW])] * 2))
    every = slice(0, 2)
    won, met = duels.pair_scores(every)
    assert met[0].tolist() == [True, True, True, True, True, False]
    assert won[0].tolist() == [1, 1, 1, 1, 1, 0]
    share, there = duels.first_scores(every, range(4))
    assert (share[0].tolist(), there[0].tolist()) == ([1, 0, 0, 0], [True] * 4)
    share, there = duels.first_scores(every, [2, 3])
    assert there[0].tolist() == [True, True, False, False]  # who is first of these two is unknown
    assert share[0].tolist() == [1, 1, 0, 0]
    assert not duels.group_scores(every, [2, 3], [[2]])[1].any()
    assert duels.group_scores(every, [1, 2, 3], [[1]])[0].all()


TABLE = "instance,t,algorithm,position\n" + "".join(
    f"{i},{t},{a},{p}\n"
    for i in ("i", "j", "k")
    for t in (1, 2)
    for a, p in (("A", 1), ("B", 2), ("C", "below"), ("D", "Below "))
)


def test_a_table_can_say_who_was_not_recorded(tmp_path: Path):
    (tmp_path / "r.csv").write_text(TABLE)
    pb.import_data(tmp_path / "r.csv", tmp_path / "one", "rankings")
    bare = "".join(line for line in TABLE.splitlines(keepends=True) if "elow" not in line)
    (tmp_path / "r.csv").write_text(bare + "l,1,C,1\nl,1,D,2\n")
    store = pb.import_data(tmp_path / "r.csv", tmp_path / "two", "rankings", unranked="below")
    for name in ("one", "two"):
        places = evidence_of(StoreOnDisk.open(tmp_path / name)).positions
        assert (places[:3] == np.array([0, 1, BELOW, BELOW])[None, :, None]).all()
    told = pb.import_data(tmp_path / "two", tmp_path / "three", "store")
    assert told.result.added == store.result.added == 7
    again = StoreOnDisk.open(tmp_path / "three").rankings()
    assert again.equals(StoreOnDisk.open(tmp_path / "two").rankings())


def test_a_ranking_of_which_nothing_was_recorded_is_left_out(tmp_path: Path):
    (tmp_path / "r.csv").write_text(TABLE + "m,1,A,below\nm,1,B,below\n")
    found = RankingsTable().read(tmp_path / "r.csv")
    assert [c.reason for c in found.rejected] == ["of its ranking nothing was recorded"]
    (tmp_path / "r.csv").write_text("instance,t,algorithm,position\nm,1,A,below\n")
    with pytest.raises(ImportFailedError, match="nothing was recorded"):
        RankingsTable().read(tmp_path / "r.csv")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["empirical", "dirichlet", "random-walk"])
def test_every_model_sees_the_recorded_ahead_and_nothing_among_the_others(model, tmp_path):
    rows = [
        f"i{i},{t},{a},{p}\n"
        for i in range(40)
        for t in (1, 2)
        for a, p in (("A", 1), ("B", 2), ("C", "below"), ("D", "below"))
    ]
    (tmp_path / "r.csv").write_text("instance,t,algorithm,position\n" + "".join(rows))
    store = pb.import_data(tmp_path / "r.csv", tmp_path / "s", "rankings")
    pairs = {
        (row["a"], row["b"], row["t"]): row["p_dominates"]
        for row in store.infer(model, draws=2000).pairs().iter_rows(named=True)
    }
    assert pairs["A", "C", 1.0] > 0.95
    assert pairs["B", "D", 2.0] > 0.95
    assert 0.2 < pairs["C", "D", 1.0] < 0.8
