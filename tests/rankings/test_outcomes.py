"""The order of outcomes: less violation first, then the better value, without a penalty."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polarbear.rankings import ABSENT, GridValues, Improvements, rank
from polarbear.rankings.outcomes import is_better, ordinals, total_violation
from polarbear.rankings.ranking import side_by_side

OUTCOMES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.0, 0.5, 3.0]), st.sampled_from([-2.0, 1.0, 7.0])),
    min_size=2,
    max_size=6,
)


def on_grid(outcomes: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Values and violations of one algorithm each, on one instance at one time."""
    violations, values = np.array(outcomes).T
    return values[np.newaxis, :, np.newaxis], violations[np.newaxis, :, np.newaxis]


@given(OUTCOMES)
def test_positions_and_ordinals_have_the_order_of_pairs(outcomes):
    values, violations = on_grid(outcomes)
    positions = rank(values, violations=violations)[0, :, 0]
    numbers = ordinals(values.ravel(), violations.ravel())
    for a, b in product(range(len(outcomes)), repeat=2):
        is_first = is_better(*outcomes[a], *outcomes[b])
        assert (positions[a] < positions[b]) == is_first == (numbers[a] < numbers[b])
        assert is_first == (outcomes[a] < outcomes[b])


@given(OUTCOMES, st.sampled_from([np.exp, np.cbrt, lambda x: x**3 + 5]))
def test_increasing_transformations_change_no_position(outcomes, transform):
    values, violations = on_grid(outcomes)
    positions = rank(values, violations=violations)
    stretched = np.expm1(violations)  # increasing, and 0 stays 0
    assert np.array_equal(rank(transform(values), violations=stretched), positions)


@given(OUTCOMES, st.floats(0, 10))
def test_no_violation_is_as_none_at_all(outcomes, tolerance):
    values, _ = on_grid(outcomes)
    zero = np.zeros(values.shape)
    positions = rank(values, tie_tolerance=tolerance, violations=zero)
    assert np.array_equal(positions, rank(values, tie_tolerance=tolerance))


def test_a_tolerance_ties_values_but_not_violations():
    values = np.array([1.0, 1.1, 1.0, 1.1, np.inf, np.nan])[np.newaxis, :, np.newaxis]
    violations = np.array([0.0, 0.0, 0.2, 0.2, np.inf, np.nan])[np.newaxis, :, np.newaxis]
    present = ~np.isnan(values)
    positions = rank(values, present, 0.5, violations)[0, :, 0]
    assert positions.tolist() == [0, 0, 1, 1, 2, ABSENT]


@pytest.mark.parametrize(
    ("constraints", "tolerance", "violation"),
    [
        ([], 0, 0),
        ([-3, 0], 0, 0),
        ([-3, 0.5, 2], 0, 2.5),
        ([0.5, 0.25], 0.75, 0),
        ([0.5, 0.26], 0.75, 0.76),
    ],
)
def test_a_violation_is_the_sum_of_positive_parts(constraints, tolerance, violation):
    assert total_violation(constraints, tolerance) == violation


def test_a_constraint_that_is_not_a_number_gives_no_violation():
    assert np.isnan(total_violation([1.0, np.nan, -1.0]))


def test_feasible_improvements_and_those_until_a_time():
    improvements = Improvements(
        np.array([1.0, 2.0, 5.0]), np.array([3.0, 9.0, 8.0]), np.array([2.0, 0.0, 0.0])
    )
    assert improvements.feasible().points() == [(2, 0, 9), (5, 0, 8)]
    assert improvements.up_to(2).points() == [(1, 2, 3), (2, 0, 9)]
    assert improvements.feasible().up_to(2).violations is None


def test_grids_side_by_side_keep_the_violations_of_one():
    times = np.array([1.0])
    first = GridValues(("i",), ("a",), times, np.array([[[4.0]]]), np.array([[[0.5]]]))
    second = GridValues(("i",), ("a",), times, np.array([[[6.0]]]))
    together = side_by_side(first, second, ("then", "now"))
    assert together.positions()[0, :, 0].tolist() == [1, 0]
    assert together.feasible_values()[0, :, 0].tolist() == [np.inf, 6]
