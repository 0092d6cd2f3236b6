"""Random search draws the same points whatever the budget or the block, all over the box."""

import numpy as np
import pytest

from polarbear.algorithms import random_search
from polarbear.problems.base import Kind
from tests.algorithms.helpers import Box, algorithm, run

KINDS = (Kind.CONTINUOUS, Kind.INTEGER)
IT = algorithm("random-search")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block", [1, 7, 1000])
def test_the_points_do_not_depend_on_the_block(kind, block, monkeypatch):
    expected = run(IT, Box.cube(3), budget=500, kind=kind)
    monkeypatch.setattr(random_search, "BLOCK", block)
    assert np.array_equal(run(IT, Box.cube(3), budget=500, kind=kind).points, expected.points)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_box_is_filled_evenly(seed: int):
    box = Box(np.array([-1e6, 0.0, 5.0]), np.array([1e6, 1e-9, 5.5]))
    points = run(IT, box, budget=8000, seed=seed).points
    assert box.contains(points)
    shares = (points - box.lower) / (box.upper - box.lower)
    counts = np.array([np.histogram(column, 10, (0, 1))[0] for column in shares.T])
    assert np.all(np.abs(counts - 800) < 5 * np.sqrt(800))


def test_whole_numbers_are_integers_between_both_bounds_and_equally_frequent():
    box = Box(np.array([0.0, -2.0, 7.0]), np.array([1.0, 2.0, 7.0]))
    points = run(IT, box, lambda x: 0.0, 10_000, kind=Kind.INTEGER).points
    assert points.dtype == np.int64
    for column, values in zip(points.T, ([0, 1], [-2, -1, 0, 1, 2], [7]), strict=True):
        drawn_values, counts = np.unique(column, return_counts=True)
        assert drawn_values.tolist() == values
        assert np.all(np.abs(counts - 10_000 / len(values)) < 5 * np.sqrt(10_000 / len(values)))
