"""The model without Plackett-Luce: draws of duels and first places, held against known answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from polarbear.inference.empirical.evenness import CONCENTRATIONS, evenness_weights
from scipy.stats import beta, kstest

from polarbear.inference.empirical import bootstrap
from polarbear.inference.empirical.bootstrap import Bootstrap, Imaginary
from polarbear.rankings import ABSENT, rank
from polarbear.rankings.duels import Duels, duels_of, place_of_pair

A, B, C, D, E = range(5)
LEVEL = 1e-4  # of each Kolmogorov-Smirnov test: how often it fails by chance, with another seed


@dataclass(frozen=True)
class Drawn:
    wins: np.ndarray
    firsts: np.ndarray


def draw(duels: Duels, draws: int, seed: int, **options: Any) -> Drawn:
    found = Bootstrap(duels, draws, seed, **options)
    return Drawn(found.wins(), found.firsts())


def orders(*rows: list[int], repeat: int = 1) -> np.ndarray:
    """Positions[instance, algorithm, time] of orders from first to last, at one time."""
    return np.array([np.argsort(row) for row in rows] * repeat)[:, :, None]


def random_positions(instances: int, n: int, times: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rank(rng.normal(size=(instances, n, times)).cumsum(axis=2) + np.arange(n)[:, None] / 3)


def pair(n: int, a: int, b: int) -> int:
    first, second = np.triu_indices(n, 1)
    return int(np.flatnonzero((first == a) & (second == b))[0])


@pytest.mark.parametrize("concentration", [2.0, 11.3])
def test_a_duel_is_beta_with_half_the_concentration_on_either_side(concentration: float):
    positions = random_positions(23, 4, 3)
    drawn = draw(duels_of(positions), 4000, seed=3, concentration=concentration)
    for a, b in zip(*np.triu_indices(4, 1), strict=True):
        won = (positions[:, a, 1] < positions[:, b, 1]).sum()
        expected = beta(concentration / 2 + won, concentration / 2 + 23 - won)
        assert kstest(drawn.wins[:, 1, pair(4, a, b)], expected.cdf).pvalue > LEVEL


def test_first_places_are_dirichlet_with_a_share_of_two_imaginary_instances_each():
    positions = random_positions(17, 5, 2)
    drawn = draw(duels_of(positions), 4000, seed=5, concentration=6.0)
    for i in range(5):
        first = (positions[:, i, 0] == 0).sum()
        expected = beta(2 / 5 + first, 2 - 2 / 5 + 17 - first)
        assert kstest(drawn.firsts[:, 0, i], expected.cdf).pvalue > LEVEL
    assert drawn.firsts.sum(axis=2) == pytest.approx(1, abs=1e-5)


def test_imaginary_wins_are_those_in_all_rotations_of_an_order_and_their_reversals():
    n, rng = 6, np.random.default_rng(4)
    places, weights, further = rng.permuted(np.arange(n)), *rng.random((2, 2 * n))
    order = np.argsort(places)
    rotations = [np.roll(order, -k) for k in range(n)]
    every = np.array(rotations + [rotation[::-1] for rotation in rotations])
    imaginary = Imaginary(places[None].astype(np.int16), weights[None], further[None])
    found = imaginary.wins()[0]
    for a, b in zip(*np.triu_indices(n, 1), strict=True):
        before = np.argmax(every == a, axis=1) < np.argmax(every == b, axis=1)
        assert found[pair(n, a, b)] == pytest.approx((weights + further)[before].sum(), rel=1e-12)
    first = [weights[every[:, 0] == a].sum() for a in range(n)]
    assert imaginary.firsts(range(n))[0] == pytest.approx(first, rel=1e-12)


def test_some_pairs_have_the_draws_that_they_have_among_all():
    n = 5
    bootstrap = Bootstrap(duels_of(random_positions(300, n, 3)), 50, seed=4)
    places = [place_of_pair(3, 1, n), place_of_pair(0, 4, n)]
    assert [pair(n, 1, 3), pair(n, 0, 4)] == places
    np.testing.assert_array_equal(bootstrap.wins(places), bootstrap.wins()[:, :, places])


def test_every_draw_is_one_distribution_over_orders():
    """P(a before b) + P(b before c) + P(c before a) is 1 or 2 in any order of three, so between
    them in any mixture of orders."""
    n = 5
    drawn = draw(duels_of(random_positions(12, n, 2)), 400, seed=1)
    for a in range(n):
        for b in range(a + 1, n):
            for c in range(b + 1, n):
                round_trip = (
                    drawn.wins[..., pair(n, a, b)]
                    + drawn.wins[..., pair(n, b, c)]
                    + 1
                    - drawn.wins[..., pair(n, a, c)]
                )
                assert round_trip.min() > 1 - 1e-5
                assert round_trip.max() < 2 + 1e-5


def test_who_is_first_in_a_draw_beats_everyone_at_least_as_often():
    n = 4
    drawn = draw(duels_of(random_positions(9, n, 1)), 400, seed=2, concentration=2.0)
    for a in range(n):
        for b in range(a + 1, n):
            wins = drawn.wins[:, 0, pair(n, a, b)]
            assert (wins >= drawn.firsts[:, 0, a] - 1e-5).all()
            assert (1 - wins >= drawn.firsts[:, 0, b] - 1e-5).all()


def test_draws_do_not_depend_on_threads_or_on_who_comes_later():
    positions = random_positions(300, 4, 6)
    one, two = (draw(duels_of(positions), 1200, seed=9, threads=k) for k in (1, 2))
    assert one.wins.tobytes() == two.wins.tobytes()
    assert one.firsts.tobytes() == two.firsts.tobytes()
    alone = draw(duels_of(positions[:, :2]), 1200, seed=9, concentration=4.0)
    beside = draw(duels_of(positions[:, :3]), 1200, seed=9, concentration=4.0)
    # the imaginary instances differ, those that were seen carry the same weights
    assert np.corrcoef(alone.wins[:, 0, 0], beside.wins[:, 0, 0])[0, 1] > 0.9


def test_draws_do_not_depend_on_how_many_pairs_are_drawn_at_once(monkeypatch: pytest.MonkeyPatch):
    values = np.random.default_rng(4).normal(size=(20, 6, 7))
    present = np.random.default_rng(5).random(values.shape[:2]) < 0.8
    duels = duels_of(rank(values, np.broadcast_to(present[:, :, None], values.shape)))
    whole = Bootstrap(duels, 100, 1)
    expected = whole.wins(), whole.firsts()
    monkeypatch.setattr(bootstrap, "_COLUMNS_AT_ONCE", 30)  # four pairs, and so on
    found = whole.wins(), whole.firsts()
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_seeds_of_one_problem_count_once():
    """A wins three problems of five; forty seeds of each tell nothing more about a sixth."""
    winners = np.array([A, A, B, A, B])
    once = orders(*[[w, 1 - w] for w in winners])
    often = np.repeat(once, 40, axis=0)
    problems = np.repeat([f"problem {k}" for k in range(5)], 40)
    plain = draw(duels_of(once), 2000, seed=1)
    clustered = draw(duels_of(often, problems), 2000, seed=1)
    assert clustered.wins == pytest.approx(plain.wins, abs=1e-6)
    assert 0.5 < (clustered.wins > 0.5).mean() < 0.8


def test_seeds_of_a_problem_need_not_stand_together():
    rng = np.random.default_rng(4)
    positions = random_positions(30, 3, 2)
    problems = np.arange(30) % 6
    sorted_rows = np.argsort(problems, kind="stable")
    shuffled = rng.permutation(30)
    first = draw(duels_of(positions[sorted_rows], problems[sorted_rows]), 500, seed=1)
    # the first row of each problem stays in front, so that problems keep their places
    kept = np.concatenate([np.arange(6), shuffled[shuffled >= 6]])
    other = draw(duels_of(positions[kept], problems[kept]), 500, seed=1)
    assert other.wins == pytest.approx(first.wins, abs=1e-6)


def test_only_instances_that_both_ran_on_speak_about_a_pair():
    positions = orders([A, B, C], repeat=8)
    positions[4:, C] = ABSENT
    drawn = draw(duels_of(positions), 4000, seed=1, concentration=2.0)
    assert kstest(drawn.wins[:, 0, pair(3, A, B)], beta(1 + 8, 1).cdf).pvalue > LEVEL
    assert kstest(drawn.wins[:, 0, pair(3, A, C)], beta(1 + 4, 1).cdf).pvalue > LEVEL
    # first places ask for everyone: four instances
    assert kstest(drawn.firsts[:, 0, A], beta(2 / 3 + 4, 4 / 3).cdf).pvalue > LEVEL


@pytest.mark.parametrize("missing", [0.0, 0.01, 0.5])
def test_each_column_counts_the_instances_that_it_has(missing: float):
    rng = np.random.default_rng(2)
    there = np.repeat(rng.random((30, 8)) >= missing, 5, axis=1)
    patterns, runs = bootstrap._patterns([there[:20], there[20:]])
    found = np.vstack(patterns)
    assert len(np.unique(found, axis=1).T) == found.shape[1]
    columns = np.hstack([np.repeat(found[:, [k]], end - begin, axis=1) for begin, end, k in runs])
    np.testing.assert_array_equal(columns, there)


def test_a_tie_is_half_a_win_and_shares_the_first_place():
    positions = np.zeros((10, 2, 1), dtype=np.int16)
    drawn = draw(duels_of(positions), 4000, seed=1)
    assert drawn.wins.mean() == pytest.approx(0.5, abs=0.02)
    three = draw(duels_of(np.zeros((200, 3, 1), dtype=np.int16)), 400, seed=1)
    assert three.firsts == pytest.approx(1 / 3, abs=0.1)


def test_even_pairs_teach_that_duels_are_even_and_plain_ones_that_they_are_not():
    met = np.full((10, 5), 100.0)
    even = evenness_weights(np.full((10, 5), 50.0), met)
    plain = evenness_weights(np.tile([[5.0], [95.0]], (5, 5)), met)
    assert even @ CONCENTRATIONS > 60
    assert plain @ CONCENTRATIONS < 6


def test_intervals_of_duels_cover_as_often_as_they_say():
    """Distributions over orders from the prior, concentration included, and 25 instances of each:
    90 % intervals cover 0.9 within 0.024, four standard errors of 2,400 pairs."""
    rng = np.random.default_rng(12)
    a, b = np.triu_indices(3, 1)
    covered = []
    for number in range(800):
        shares = rng.standard_gamma(rng.choice(CONCENTRATIONS) / 6, 6)
        shares /= shares.sum()
        order = rng.permutation(3)
        turned = [np.roll(order, shift) for shift in range(3)]
        kinds = np.argsort([*turned, *(one[::-1] for one in turned)], axis=1)
        positions = kinds[rng.choice(6, size=25, p=shares)][:, :, None]
        drawn = draw(duels_of(positions), 400, seed=number, threads=1).wins[:, 0]
        low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
        truth = shares @ (kinds[:, a] < kinds[:, b])
        covered.append((low <= truth) & (truth <= high))
    assert np.mean(covered) == pytest.approx(0.9, abs=0.024)


def test_those_who_left_the_field_are_compared_with_it():
    """C was out after four instances: A and B share the first places of all eight."""
    positions = orders([A, B, C], [B, C, A], [C, A, B], [A, C, B], repeat=2)
    positions[4:, C] = ABSENT
    found = Bootstrap(duels_of(positions), 4000, seed=1, concentration=2.0).firsts(field=[A, B])
    assert found[:, 0, :2].sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert kstest(found[:, 0, A], beta(1 + 6, 1 + 2).cdf).pvalue > LEVEL
    assert kstest(found[:, 0, C], beta(2 / 3 + 1, 4 / 3 + 3).cdf).pvalue > LEVEL


def test_a_group_has_the_winner_as_often_as_one_of_its_members_is_first():
    positions = orders([A, B, C], [B, A, C], [C, A, B], repeat=20)
    bootstrap = Bootstrap(duels_of(positions), 400, seed=1)
    firsts = bootstrap.firsts()
    found = bootstrap.has_winner([(A, B), (A, A), (A, B, C)], field=[A, B, C])
    assert found[:, 0, 0] == pytest.approx(firsts[:, 0, :2].sum(axis=1), abs=1e-5)
    assert found[:, 0, 1] == pytest.approx(firsts[:, 0, A], abs=1e-5)
    assert found[:, 0, 2] == pytest.approx(1, abs=1e-5)
