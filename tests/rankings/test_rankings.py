"""Rankings and choice sets, compared with brute force over every ordering of every tie."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polarbear.errors import RankingError
from polarbear.rankings import ABSENT, choice_sets, rank
from polarbear.rankings.choice_sets import ChoiceSets, count_choice_sets


def brute_force_terms(positions, weight=1.0):
    """w and {set: c} of one ranking, averaged over the product of the orderings of its ties."""
    wins: dict[int, float] = {}
    sets: dict[frozenset, float] = {}
    blocks = [
        [i for i, p in enumerate(positions) if p == position]
        for position in sorted({p for p in positions if p != ABSENT})
    ]
    orderings = list(itertools.product(*(itertools.permutations(b) for b in blocks)))
    for blocks_in_order in orderings:
        order = [i for block in blocks_in_order for i in block]
        for k in range(len(order) - 1):
            remaining = frozenset(order[k:])
            sets[remaining] = sets.get(remaining, 0.0) + weight / len(orderings)
            wins[order[k]] = wins.get(order[k], 0.0) + weight / len(orderings)
    return wins, sets


def brute_force(positions, weights):
    n_instances, n, n_times = positions.shape
    wins = np.zeros((n_times, n))
    sets: list[dict[int, float]] = [{} for _ in range(n_times)]
    for p, t in itertools.product(range(n_instances), range(n_times)):
        wins_of_ranking, sets_of_ranking = brute_force_terms(positions[p, :, t], weights[p])
        for i, w in wins_of_ranking.items():
            wins[t, i] += w
        for members, c in sets_of_ranking.items():
            mask = sum(1 << i for i in members)
            sets[t][mask] = sets[t].get(mask, 0.0) + c
    return wins, sets


def sets_at(counted: ChoiceSets, t: int) -> dict[int, float]:
    part = slice(counted.offsets[t], counted.offsets[t + 1])
    return dict(zip(counted.masks[part].tolist(), counted.counts[part].tolist(), strict=True))


@st.composite
def random_rankings(draw):
    n = draw(st.integers(2, 6))
    shape = (draw(st.integers(1, 4)), n, draw(st.integers(1, 3)))
    size = math.prod(shape)
    values = draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, np.inf]), min_size=size, max_size=size))
    present = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    weights = draw(st.lists(st.floats(0.1, 5), min_size=shape[0], max_size=shape[0]))
    return np.reshape(values, shape), np.reshape(present, shape), np.array(weights)


@given(random_rankings())
@settings(max_examples=150, deadline=None, derandomize=True)
def test_choice_sets_of_tied_partial_weighted_rankings_equal_brute_force(case):
    values, present, weights = case
    positions = rank(values, present)
    counted = count_choice_sets(positions, weights)
    wins, sets = brute_force(positions, weights)
    np.testing.assert_allclose(counted.wins, wins, atol=1e-12)
    for t, expected in enumerate(sets):
        counts_by_mask = sets_at(counted, t)
        assert counts_by_mask.keys() == expected.keys()
        for mask, c in expected.items():
            assert counts_by_mask[mask] == pytest.approx(c, abs=1e-12)


@given(random_rankings())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_positions_have_no_gaps_and_order_the_present_by_value(case):
    values, present, _ = case
    positions = rank(values, present)
    assert ((positions == ABSENT) == ~present).all()
    for p, t in itertools.product(range(values.shape[0]), range(values.shape[2])):
        ranked = np.flatnonzero(present[p, :, t])
        if len(ranked):
            distinct = np.unique(values[p, ranked, t])
            expected = np.searchsorted(distinct, values[p, ranked, t])
            assert positions[p, ranked, t].tolist() == expected.tolist()


@pytest.mark.parametrize("weights", [np.ones(20), np.linspace(0.5, 2, 20)])
def test_counting_in_small_portions_changes_nothing(monkeypatch, weights):
    positions = rank(np.random.default_rng(0).integers(0, 4, (20, 6, 4)).astype(float))
    expected = count_choice_sets(positions, weights)
    monkeypatch.setattr(choice_sets, "MAX_TERMS", 1)
    in_portions = count_choice_sets(positions, weights)
    np.testing.assert_array_equal(in_portions.offsets, expected.offsets)
    np.testing.assert_array_equal(in_portions.masks, expected.masks)
    np.testing.assert_array_equal(in_portions.counts, expected.counts)


def test_coverage_counts_rankings_of_two_or_more_algorithms_and_their_pairs():
    positions = np.broadcast_to(np.arange(50)[None, :, None], (4, 50, 2)).copy()
    positions[:2, 0] = ABSENT
    positions[2:, 49] = ABSENT
    counted = count_choice_sets(positions)
    assert counted.coverage.rankings.tolist() == [4, 4]
    assert counted.wins[0, [0, 1, 48, 49]].tolist() == [2, 4, 2, 0]
    assert np.argwhere(~counted.coverage.met).tolist() == [[0, 49], [49, 0]]
    assert counted.pick(np.array([1])).coverage.rankings.tolist() == [4]


def test_a_ten_way_tie_is_exact_in_at_most_1023_terms():
    counted = count_choice_sets(rank(np.zeros((1, 10, 1))))
    assert len(counted.masks) <= 1023
    assert counted.sampled_ties == 0
    np.testing.assert_allclose(counted.wins, 0.9)
    assert sets_at(counted, 0)[1023] == pytest.approx(1.0)
    assert sets_at(counted, 0)[0b11] == pytest.approx(1 / 45)


def test_a_tie_too_wide_for_its_closed_form_is_sampled_fairly_and_counted():
    positions = rank(np.zeros((3, 40, 2)))
    counted = count_choice_sets(positions, seed=5)
    assert counted.sampled_ties == 6
    np.testing.assert_allclose(counted.wins, 3 * (1 - 1 / 40))
    member = counted.masks[:, None] >> np.arange(40) & 1
    share = counted.counts / member.sum(axis=1)
    gradient = counted.wins[0] - (share[:, None] * member)[: counted.offsets[1]].sum(axis=0)
    np.testing.assert_allclose(gradient, 0, atol=1e-9)
    with_same_seed = count_choice_sets(positions[:1], seed=5)
    np.testing.assert_array_equal(with_same_seed.masks, counted.masks)
    with_other_seed = count_choice_sets(positions, seed=6)
    assert not np.array_equal(with_other_seed.masks, counted.masks)


def test_a_block_of_ties_spans_the_tolerance_from_its_best_value():
    values = np.array([0.0, 0.6, 1.1, 1.6, np.inf, np.inf]).reshape(1, 6, 1)
    assert rank(values, tie_tolerance=1.0).ravel().tolist() == [0, 0, 1, 1, 2, 2]
    assert rank(values).ravel().tolist() == [0, 1, 2, 3, 4, 4]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rank(np.zeros((2, 3))), r"values\[instance, algorithm, time\]"),
        (lambda: rank(np.full((1, 2, 1), np.nan)), "not a number"),
        (lambda: rank(np.zeros((1, 2, 1)), tie_tolerance=-1), "tolerance"),
        (lambda: rank(np.zeros((1, 201, 1))), "at most 200"),
        (lambda: count_choice_sets(np.zeros((2, 3, 1)), np.array([1.0, 0.0])), "weights"),
        (lambda: count_choice_sets(np.zeros((4, 51, 1))), "50 algorithms, found 51: use the model"),
    ],
)
def test_values_that_cannot_be_ranked_are_refused_with_the_reason(call, message):
    with pytest.raises(RankingError, match=message):
        call()
