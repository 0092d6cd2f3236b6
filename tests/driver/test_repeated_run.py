"""A repeated run is compared with the stored one."""

import numpy as np
import pytest

from polarbear.driver.repeated_run import first_difference

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
    stored = (np.array(STORED[0]), np.array(STORED[1]))
    repeated = (np.array(t), np.array(y))
    assert first_difference(stored, repeated) == differs
    assert first_difference(repeated, stored) == differs
