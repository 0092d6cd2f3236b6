"""The sequential test of the gate: exact probabilities, and error rates on simulated data."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from polarbear.regression.detectable import (
    POWER,
    can_turn_red,
    detectable,
    looks_until,
    p_below,
    problems_for_proof,
    smallest_limit,
)
from polarbear.regression.gate_decision import (
    GateVerdict,
    Level,
    Looks,
    decide,
    first_crossing,
    instances_for_failures,
    look_sizes,
    statistics,
    window_means,
    windows,
)

LEVEL = Level(tolerance=0.05, error=0.05, alarm=0.05, seed=3)


def looks(limit: int, last: int | None = None) -> Looks:
    """The looks of a gate with a limit of instances, up to the look at `last` instances."""
    sizes = tuple(size for size in look_sizes(limit) if last is None or size <= last)
    return Looks(sizes, tuple(size / limit for size in sizes))


def test_looks_end_at_the_limit_and_grow():
    assert look_sizes(100) == [8, 16, 24, 32, 40, 50, 62, 77, 96, 100]
    assert look_sizes(5) == [5]


@pytest.mark.parametrize("times", [1, 2, 7, 20])
def test_windows_include_each_single_time_and_all_times_together(times):
    spans = {tuple(span) for span in windows(times).tolist()}
    assert {(t, t + 1) for t in range(times)} <= spans
    assert (0, times) in spans
    assert all(0 <= start < stop <= times for start, stop in spans)


def test_means_of_windows_leave_out_missing_scores():
    scores = np.array([[1.0, 0.0, np.nan], [np.nan, np.nan, np.nan]])
    means = window_means(scores, np.array([(0, 2), (0, 3), (2, 3)]))
    np.testing.assert_allclose(means[0], [0.5, 0.5, np.nan])
    assert np.isnan(means[1]).all()


def test_random_signs_have_the_exact_distribution_of_sign_flips():
    """Eight problems have 256 patterns of signs, which are enumerated.

    Frequencies among random patterns are within five standard errors: one seed in a million fails.
    """
    scores = np.random.default_rng(4).random((8, 1))
    observed_and_random = statistics(scores, 0.5, [8], seed=1)[:, 0, 0]
    observed = observed_and_random[0]
    by_random_signs = observed_and_random[1:]
    signs = np.array(list(product([-1, 1], repeat=8)))
    centred = scores[:, 0] - 0.5
    exact = signs @ centred / np.sqrt((centred**2).sum())
    assert observed == pytest.approx(centred.sum() / np.sqrt((centred**2).sum()), abs=1e-5)
    for bound in (0.5, 1.0, 2.0):
        p = (exact > bound).mean()
        error = np.sqrt(p * (1 - p) / len(by_random_signs))
        assert (by_random_signs > bound).mean() == pytest.approx(p, abs=5 * error + 1e-9)


def test_sign_patterns_cross_the_bounds_as_often_as_the_error_allows():
    """Random signs in place of the data cross a bound at most as often as the error of 10 %."""
    scores = np.random.default_rng(5).integers(0, 2, (40, 6)).astype(float)
    sizes = look_sizes(40)
    shares = [size / 40 for size in sizes]
    path = statistics(scores, 0.5, sizes, seed=1).max(axis=2)
    crosses = [
        first_crossing(np.vstack([path[k], path[1:]]), shares, 0.1) is not None
        for k in range(1, 400)
    ]
    assert sum(crosses) <= binom.ppf(0.999, len(crosses), 0.1)
    # Looks are discrete, so that the error spent stays below its bound.
    assert sum(crosses) >= binom.ppf(0.001, len(crosses), 0.06)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.45, 0.5])
def test_false_alarms_are_rare_for_even_versions_and_at_the_tolerance(rate):
    """60 gates of independent duels at 6 times: at a rate of 5 %, one seed in 100 fails."""
    false_alarms = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 2])
        scores = (rng.random((40, 6)) < rate).astype(float)
        false_alarms += decide(scores, looks(40), LEVEL, True).verdict is GateVerdict.WORSE
    assert false_alarms <= binom.ppf(0.99, 60, 0.05)


def test_a_version_that_always_loses_is_worse_and_one_that_always_wins_is_better():
    for score, expected in ((0.0, GateVerdict.WORSE), (1.0, GateVerdict.BETTER)):
        scores = np.full((16, 6), score)
        decision = decide(scores, looks(40, 16), LEVEL, True)
        assert (decision.verdict, decision.span) == (expected, (0, 5))


def test_a_loss_in_a_window_is_found_in_that_window():
    scores = np.full((40, 12), 0.5)
    scores[:, 4:6] = 0.0
    decision = decide(scores, looks(40), LEVEL, True)
    assert decision.verdict is GateVerdict.WORSE
    assert decision.span is not None
    assert decision.span[0] <= 5
    assert decision.span[1] >= 4


def test_draws_at_every_time_are_no_worse():
    decision = decide(np.full((8, 5), 0.5), looks(40, 8), LEVEL, True)
    assert (decision.verdict, decision.open_times) == (GateVerdict.NO_WORSE, 0)
    assert decide(np.full((8, 5), 0.5), looks(40, 8), LEVEL, False).verdict is GateVerdict.UNDECIDED


def test_further_seeds_of_a_problem_count_towards_the_limit():
    """100 instances of ten problems are slightly won: at the limit the verdict is final."""
    scores = np.full((10, 5), 0.6)
    sizes = look_sizes(100)
    looks = Looks(tuple(min(n, 10) for n in sizes), tuple(n / 100 for n in sizes))
    assert decide(scores, looks, LEVEL, True).verdict is not GateVerdict.UNDECIDED


def test_a_pass_needs_enough_instances_to_detect_a_share_of_failures():
    n = instances_for_failures(LEVEL)
    assert 0.95**n <= 0.05 < 0.95 ** (n - 1)


@pytest.mark.slow
def test_detectable_is_what_a_gate_finds():
    """Losses at one time, on 60 gates: at a power of 0.9, one seed in 1,000 fails."""
    rng = np.random.default_rng(3)
    level = replace(LEVEL, seed=1)
    looks_at_100 = looks(100)
    even = rng.integers(0, 2, (100, 4)).astype(float)
    could_have_shown = detectable(even, looks_at_100, level)
    assert could_have_shown is not None
    assert could_have_shown.win_rate is not None
    found = 0
    for seed in range(60):
        gate_rng = np.random.default_rng([seed, 4])
        scores = gate_rng.integers(0, 2, (100, 4)).astype(float)
        lost = gate_rng.random(100) < 1 - 2 * could_have_shown.win_rate
        scores[lost, seed % 4] = 0
        found += decide(scores, looks_at_100, level, False).verdict is GateVerdict.WORSE
    assert binom.ppf(0.001, 60, 0.85) <= found
    assert could_have_shown.power >= POWER


def test_a_smaller_loss_than_detectable_is_found_less_often():
    scores = np.random.default_rng(3).integers(0, 2, (50, 4)).astype(float)
    few = detectable(scores[:24], looks(24), LEVEL)
    many = detectable(scores, looks(50), LEVEL)
    assert few is not None
    assert many is not None
    assert (few.win_rate or 0) < many.win_rate
    assert detectable(np.full((50, 4), 0.5), looks(50), LEVEL) is None


def test_the_smallest_limit_is_the_one_from_which_a_gate_can_turn_red():
    smallest = smallest_limit(LEVEL)
    assert smallest is not None
    assert can_turn_red(looks_until(smallest), LEVEL)
    assert not can_turn_red(looks_until(smallest - 1), LEVEL)
    assert smallest_limit(replace(LEVEL, tolerance=0.4)) > smallest


def test_the_number_of_problems_for_a_proof_grows_as_the_tolerance_shrinks():
    scores = np.random.default_rng(3).integers(0, 2, (50, 4)).astype(float)
    wide = problems_for_proof(scores, LEVEL)
    narrow = problems_for_proof(scores, replace(LEVEL, tolerance=0.025))
    assert wide is not None
    assert narrow == pytest.approx(4 * wide, rel=0.01)
    assert problems_for_proof(scores, replace(LEVEL, tolerance=0.0)) is None


def test_a_tolerance_in_time_gives_each_side_half_of_the_error():
    level = replace(LEVEL, tolerance=0.0, longer=0.1)
    assert level.error_of_worse == level.error_of_better == 0.025
    assert instances_for_failures(level) == 59


def test_the_probability_of_being_worse_is_that_of_the_mean_win_rate():
    assert p_below(np.full((20, 3), 0.0), 0.45, 1) == 1
    assert p_below(np.full((20, 3), 0.5), 0.45, 1) == 0
    even = np.repeat([[0.0, 1.0], [1.0, 0.0]], 20, axis=0)[:, :1]
    assert p_below(even, 0.5, 1) == pytest.approx(0.5, abs=0.05)
