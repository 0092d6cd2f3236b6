"""Top-m rankings: only the positions of the best algorithms are recorded."""

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


def top_m_probability(positions: list[int], strength: np.ndarray) -> float:
    """The probability of a top-m ranking: the sum over all complete orders that agree with it."""
    present = [a for a, position in enumerate(positions) if position != ABSENT]
    recorded = [a for a in present if positions[a] != BELOW]
    recorded.sort(key=lambda a: positions[a])
    total = 0.0
    for order in permutations(present):
        if list(order[: len(recorded)]) != recorded:
            continue
        remaining = list(order)
        probability = 1.0
        for a in order:
            probability *= strength[a] / strength[remaining].sum()
            remaining.remove(a)
        total += probability
    return total


def as_array(positions: list[int]) -> np.ndarray:
    """The array positions[instance, algorithm, time] of a single ranking."""
    return np.array(positions, dtype=np.int16)[None, :, None]


@pytest.mark.parametrize("positions", CASES)
def test_the_likelihood_is_that_of_all_complete_orders_that_agree(positions: list[int]):
    mu = np.array([0.3, -0.7, 1.1, 0.0])
    likelihood = Likelihood(count_choice_sets(as_array(positions)))
    log_likelihood = np.sum(likelihood.evaluate(mu[None, None])[0])
    assert log_likelihood == pytest.approx(np.log(top_m_probability(positions, np.exp(mu))))


@pytest.mark.parametrize("positions", [*CASES, [0, 0, BELOW, BELOW], [1, 0, 0, BELOW]])
def test_the_score_of_a_ranking_is_the_gradient_of_its_likelihood(positions: list[int]):
    mu = np.array([0.3, -0.7, 1.1, 0.0])
    step = 1e-6
    likelihood = Likelihood(count_choice_sets(as_array(positions)))

    def log_likelihood(mu: np.ndarray) -> float:
        return likelihood.evaluate(mu[None, None])[0].item()

    gradient = [
        (log_likelihood(mu + step * unit) - log_likelihood(mu - step * unit)) / (2 * step)
        for unit in np.eye(4)
    ]
    scores = composite_weight.SingleRankings(as_array(positions)).scores(mu[None])
    assert scores[0, 0] == pytest.approx(gradient @ helmert(4), abs=1e-7)


def test_values_that_were_not_recorded_are_below_and_do_not_tie():
    values = np.array([3.0, 1.0, UNRECORDED, UNRECORDED, np.nan])[None, :, None]
    positions = rank(values, ~np.isnan(values))[0, :, 0]
    assert positions.tolist() == [1, 0, BELOW, BELOW, ABSENT]


def test_duels_among_the_unrecorded_are_unknown():
    duels = duels_of(np.concatenate([as_array([0, 1, BELOW, BELOW])] * 2))
    all_problems = slice(0, 2)
    won, met = duels.pair_scores(all_problems)
    assert met[0].tolist() == [True, True, True, True, True, False]
    assert won[0].tolist() == [1, 1, 1, 1, 1, 0]
    share, is_known = duels.first_scores(all_problems, range(4))
    assert share[0].tolist() == [1, 0, 0, 0]
    assert is_known[0].tolist() == [True] * 4
    share, is_known = duels.first_scores(all_problems, [2, 3])
    # The better one of the two unrecorded algorithms is unknown.
    assert is_known[0].tolist() == [True, True, False, False]
    assert share[0].tolist() == [1, 1, 0, 0]
    assert not duels.group_scores(all_problems, [2, 3], [[2]])[1].any()
    assert duels.group_scores(all_problems, [1, 2, 3], [[1]])[0].all()


TABLE = "instance,t,algorithm,position\n" + "".join(
    f"{instance},{t},A,1\n{instance},{t},B,2\n{instance},{t},C,below\n{instance},{t},D,Below \n"
    for instance in ("i", "j", "k")
    for t in (1, 2)
)


def test_a_table_can_say_which_algorithms_were_not_recorded(tmp_path: Path):
    (tmp_path / "r.csv").write_text(TABLE)
    pb.import_data(tmp_path / "r.csv", tmp_path / "one", "rankings")
    recorded = "".join(line for line in TABLE.splitlines(keepends=True) if "elow" not in line)
    (tmp_path / "r.csv").write_text(recorded + "l,1,C,1\nl,1,D,2\n")
    store = pb.import_data(tmp_path / "r.csv", tmp_path / "two", "rankings", unranked="below")
    for name in ("one", "two"):
        positions = evidence_of(StoreOnDisk.open(tmp_path / name)).positions
        assert (positions[:3] == np.array([0, 1, BELOW, BELOW])[None, :, None]).all()
    copy = pb.import_data(tmp_path / "two", tmp_path / "three", "store")
    assert copy.result.added == store.result.added == 7
    copied_rankings = StoreOnDisk.open(tmp_path / "three").rankings()
    assert copied_rankings.equals(StoreOnDisk.open(tmp_path / "two").rankings())


def test_a_ranking_without_any_recorded_position_is_left_out(tmp_path: Path):
    (tmp_path / "r.csv").write_text(TABLE + "m,1,A,below\nm,1,B,below\n")
    imported = RankingsTable().read(tmp_path / "r.csv")
    assert [rejected.reason for rejected in imported.rejected] == [
        "of its ranking nothing was recorded"
    ]
    (tmp_path / "r.csv").write_text("instance,t,algorithm,position\nm,1,A,below\n")
    with pytest.raises(ImportFailedError, match="nothing was recorded"):
        RankingsTable().read(tmp_path / "r.csv")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["empirical", "dirichlet", "random-walk"])
def test_every_model_ranks_recorded_algorithms_ahead_and_does_not_order_the_others(model, tmp_path):
    rows = [
        f"i{i},{t},A,1\ni{i},{t},B,2\ni{i},{t},C,below\ni{i},{t},D,below\n"
        for i in range(40)
        for t in (1, 2)
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
