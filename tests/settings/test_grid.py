"""Grids of times: whole numbers on axes that count, others as they are."""

import numpy as np
import pytest

from polarbear.settings.grid import Budget

LOG = {"from": 1, "to": 50, "points": 12}


@pytest.mark.parametrize("axis", ["epochs", "evaluations", "training steps"])
def test_times_of_an_axis_that_counts_are_whole_and_each_is_there_once(axis: str):
    times = Budget.model_validate({"axis": axis, "grid": LOG}).times
    assert times.tolist() == sorted({*np.round(np.geomspace(1, 50, 12)).tolist()})
    assert len(times) < 12


@pytest.mark.parametrize("axis", ["seconds", "hours", "cost"])
def test_times_of_other_axes_are_not_rounded(axis: str):
    times = Budget.model_validate({"axis": axis, "grid": LOG}).times
    np.testing.assert_allclose(times, np.geomspace(1, 50, 12))


def test_times_that_are_given_as_fractions_stay_so():
    listed = Budget.model_validate({"axis": "epochs", "grid": [0.5, 1, 2]})
    assert listed.times.tolist() == [0.5, 1, 2]
    spaced = {"from": 0.5, "to": 2, "points": 4, "spacing": "linear"}
    fractions = Budget.model_validate({"axis": "epochs", "grid": spaced})
    assert fractions.times.tolist() == [0.5, 1, 1.5, 2]


def test_listed_times_that_suit_a_logarithmic_axis_are_mapped_in_its_units():
    listed = Budget.model_validate({"axis": "evaluations", "grid": [1, 10, 100, 1000]})
    np.testing.assert_allclose(listed.unit_times, [0, 1 / 3, 2 / 3, 1])
    even = Budget.model_validate({"axis": "evaluations", "grid": [10, 20, 30]})
    np.testing.assert_allclose(even.unit_times, [0, 0.5, 1])
