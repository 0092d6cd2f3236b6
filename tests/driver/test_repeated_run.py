"""A repeated run is compared with the stored one."""

import numpy as np
import pytest

from polarbear.driver.repeated_run import first_difference
from polarbear.rankings import Improvements

STORED = ([1.0, 5.0, 9.0], [3.0, 2.0, 1.0])


@pytest.mark.parametrize(
    ("t", "y", "differs"),
    [
        (STORED[0], STORED[1], None),
        ([1.0, 4.0, 9.0], [3.0, 2.0, 1.0], 4.0),
        ([1.0, 5.0, 9.0], [3.0, 2.5, 1.0], 5.0),
        ([1.0, 5.0], [3.0, 2.0], 9.0),
        ([1.0, 5.0, 9.0, 12.0], [3.0, 2.0, 1.0, 0.0], 12.0),
        ([], [], 1.0),
    ],
)
def test_the_first_improvement_that_is_not_the_same_is_found(t, y, differs):
    stored = Improvements(np.array(STORED[0]), np.array(STORED[1]))
    repeated = Improvements(np.array(t), np.array(y))
    assert first_difference(stored, repeated) == differs
    assert first_difference(repeated, stored) == differs


def test_violations_that_are_not_the_same_are_found():
    times = np.array([1.0, 5.0])
    values = np.array([3.0, 2.0])
    stored = Improvements(times, values, np.array([2.0, 0.0]))
    repeated = Improvements(times, values, np.array([2.0, 0.5]))
    assert first_difference(stored, repeated) == 5.0
    assert first_difference(stored, stored) is None
