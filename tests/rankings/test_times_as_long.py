"""Factors of budget: against the definition by loops, and their invariances."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom

from polarbear.rankings.times_as_long import Factors, Trajectories, factors, summary

TIMES = np.array([2.0, 5.0, 9.0, 17.0, 40.0])
BUDGET = 40.0


def random_run(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The improvements of a run; some runs have none, and values of two runs may be equal."""
    n = int(rng.integers(0, 7))
    times = np.sort(rng.choice(np.arange(1, 41), n, replace=False)).astype(float)
    values = np.sort(rng.choice(np.arange(30), n, replace=False))[::-1].astype(float)
    return times, values


def random_runs(seed: int, n_runs: int = 40) -> tuple[list, list, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    runs = [random_run(rng) for _ in range(n_runs)]
    other_runs = [random_run(rng) for _ in range(n_runs)]
    ends = rng.choice([BUDGET, BUDGET, 9.0], n_runs)
    other_ends = rng.choice([BUDGET, BUDGET, 20.0], n_runs)
    return runs, other_runs, ends, other_ends


def cut(run: tuple[np.ndarray, np.ndarray], end: float) -> tuple[np.ndarray, np.ndarray]:
    is_watched = run[0] <= end
    return run[0][is_watched], run[1][is_watched]


def factor_by_definition(
    run: tuple, end: float, other: tuple, other_end: float, t: float
) -> tuple[float, float]:
    """The interval of one factor, by the definition; NaN where there is none."""
    if t > end or t > other_end:
        return np.nan, np.nan
    until_t = [(s, y) for s, y in zip(*other, strict=True) if s <= t]
    if not until_t:
        return np.nan, np.nan
    target = min(y for _, y in until_t)
    needed_by_other = min(s for s, y in until_t if y <= target)
    needed = [s for s, y in zip(*run, strict=True) if y <= target]
    if needed:
        return min(needed) / needed_by_other, min(needed) / needed_by_other
    return end / needed_by_other, np.inf


def both_factors(seed: int, transform=lambda y: y) -> Factors:
    runs, other_runs, ends, other_ends = random_runs(seed)
    runs = [cut(run, end) for run, end in zip(runs, ends, strict=True)]
    other_runs = [cut(run, end) for run, end in zip(other_runs, other_ends, strict=True)]
    algorithm = Trajectories.of([(t, transform(y)) for t, y in runs], ends)
    reference = Trajectories.of([(t, transform(y)) for t, y in other_runs], other_ends)
    return factors(algorithm, reference, TIMES)


@pytest.mark.parametrize("seed", range(5))
def test_factors_are_those_of_the_definition_by_loops(seed):
    runs, other_runs, ends, other_ends = random_runs(seed)
    expected = np.array(
        [
            [
                factor_by_definition(cut(run, end), end, cut(other, other_end), other_end, t)
                for t in TIMES
            ]
            for run, end, other, other_end in zip(runs, ends, other_runs, other_ends, strict=True)
        ]
    )
    computed = both_factors(seed)
    np.testing.assert_array_equal(computed.low, expected[:, :, 0])
    np.testing.assert_array_equal(computed.high, expected[:, :, 1])
    assert np.isinf(computed.high).any()
    assert np.isnan(computed.low).any()


@pytest.mark.parametrize("transform", [np.exp, np.arcsinh, lambda y: 3 * y - 100, np.cbrt])
def test_increasing_transformations_change_no_factor(transform):
    plain = both_factors(seed=7)
    transformed = both_factors(seed=7, transform=transform)
    np.testing.assert_array_equal(transformed.low, plain.low)
    np.testing.assert_array_equal(transformed.high, plain.high)


def test_identical_runs_have_the_factor_one():
    runs, _, ends, _ = random_runs(3)
    trajectories = Trajectories.of(
        [cut(run, end) for run, end in zip(runs, ends, strict=True)], ends
    )
    by_problem = factors(trajectories, trajectories, TIMES).by_problem(
        [str(k) for k in range(len(runs))]
    )
    result = summary(by_problem)
    assert (result.median, result.low, result.high) == (1, 1, 1)
    assert 0 < result.problems < len(runs)  # some have found nothing


def test_twice_the_time_is_a_factor_of_two():
    runs = [(np.array([2.0, 6.0, 10.0]), np.array([3.0, 2.0, 1.0]))] * 8
    slow_runs = [(2 * t, y) for t, y in runs]
    slow = Trajectories.of(slow_runs, [BUDGET] * 8)
    fast = Trajectories.of(runs, [BUDGET] * 8)
    assert summary(factors(slow, fast, TIMES).by_problem([*"abcdefgh"])).median == 2
    assert summary(factors(fast, slow, TIMES).by_problem([*"abcdefgh"])).median == 0.5


def test_a_median_that_is_not_reached_is_a_bound():
    """Five of eight runs never reach the value 1, which the reference has at time 10."""
    reference = Trajectories.of([(np.array([10.0]), np.array([1.0]))] * 8, [BUDGET] * 8)
    reaching = [(np.array([20.0]), np.array([1.0]))] * 3
    failing = [(np.array([20.0]), np.array([2.0]))] * 5
    algorithm = Trajectories.of(reaching + failing, [BUDGET] * 8)
    result = summary(factors(algorithm, reference, TIMES).by_problem([*"abcdefgh"]))
    assert (result.median, result.low, result.high) == (None, 4, None)
    # With three of eight the median is known, but not the upper end of its interval.
    algorithm = Trajectories.of(reaching + reaching[:2] + failing[:3], [BUDGET] * 8)
    result = summary(factors(algorithm, reference, TIMES).by_problem([*"abcdefgh"]))
    assert (result.median, result.low, result.high) == (2, 2, None)


def test_seeds_of_a_problem_count_once():
    low = np.array([[1.0, 1.0], [2.0, 2.0], [9.0, 9.0]])
    by_problem = Factors(low, low).by_problem(["a", "b", "b"])
    np.testing.assert_array_equal(by_problem.low, [1, 5.5])


def test_the_interval_of_a_median_is_binomial():
    values = np.arange(1.0, 41.0)
    result = summary(Factors(values, values))
    index = int(binom.ppf(0.025, 40, 0.5))
    assert (result.median, result.low, result.high) == (20.5, values[index - 1], values[-index])
    assert summary(Factors(values[:5], values[:5])).low is None  # two of 32 patterns are outside


def test_the_interval_covers_the_median_of_the_population():
    """The share of 1,000 intervals is within four standard errors of at least 0.95."""
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(1000):
        values = rng.lognormal(0.3, 1, 30)
        result = summary(Factors(values, values))
        assert result.low is not None
        assert result.high is not None
        covered += result.low <= np.exp(0.3) <= result.high
    assert covered >= 950 - 4 * np.sqrt(1000 * 0.95 * 0.05)


def test_without_a_common_problem_nothing_is_known():
    nothing = Trajectories.of([], [])
    result = summary(factors(nothing, nothing, TIMES).by_problem([]))
    assert (result.problems, result.median, result.low) == (0, None, None)


def test_first_times_are_found_in_runs_of_any_length():
    rng = np.random.default_rng(5)
    lengths = [0, 1, 2, 3, 64, 65, 0]
    runs = [
        (np.arange(1.0, n + 1), np.sort(rng.random(n))[::-1] if n else np.empty(0)) for n in lengths
    ]
    trajectories = Trajectories.of(runs, [100.0] * len(lengths))
    targets = rng.random((len(lengths), 50))
    first_times = trajectories.first_times(targets)
    for row, (start, stop) in enumerate(pairwise(trajectories.starts)):
        values = trajectories.values[start:stop]
        for column, target in enumerate(targets[row]):
            reached = np.flatnonzero(values <= target)
            expected = reached[0] + 1 if len(reached) else np.inf
            assert first_times[row, column] == expected
