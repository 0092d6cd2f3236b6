"""The classical view of weighted instances: what it says of one twice as heavy as of two alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polarbear.classical.attainment import resamples
from polarbear.classical.comparison_facts import expected_running_times
from polarbear.classical.disagreement import lead
from polarbear.classical.view import View, view
from polarbear.classical.view_options import ViewOptions
from polarbear.problems.weights import WEIGHT
from polarbear.store import Store
from tests.classical.helpers import Run, make_store

A = [Run([1, 10], [5.0, 0.5]), Run([1], [7.0], reached=100), Run([1, 30], [4.0, 0.1])]
B = [Run([4], [0.5]), Run([1, 50], [9.0, 0.2]), Run([2, 20], [3.0, 2.0])]
OPTIMUM = ViewOptions(optimum=0.0)


def heavy(path: Path) -> Store:
    specs = [{"imported": i, WEIGHT: weight} for i, weight in enumerate((1.0, 2.0, 1.0))]
    return make_store(path, {"A": A, "B": B}, specs=specs)


def double(path: Path) -> Store:
    return make_store(path, {"A": [*A, A[1]], "B": [*B, B[1]]})


@pytest.fixture
def views(tmp_path: Path) -> tuple[View, View]:
    one, two = heavy(tmp_path / "heavy"), double(tmp_path / "double")
    return view(one, options=OPTIMUM), view(two, options=OPTIMUM)


def test_means_and_leads_are_those_of_instances_seen_so_often(views: tuple[View, View]):
    one, two = views
    np.testing.assert_allclose(one.ecdf.mean, two.ecdf.mean)
    np.testing.assert_allclose(one.aocc.mean, two.aocc.mean)
    np.testing.assert_allclose(one.eaf.attained, two.eaf.attained)
    assert any("instances have weights, from 1 to 2" in note for note in one.notes())
    assert not any("weights" in note for note in two.notes())
    times = np.array([1.0, 10.0, 100.0])
    ahead, other = (lead(found, 0, 1, times, np.ones(3)) for found in views)
    assert ahead == pytest.approx(other)


def test_so_is_ert_while_runs_are_counted_once(tmp_path: Path):
    found = []
    for store in (heavy(tmp_path / "heavy"), double(tmp_path / "double")):
        found.append(expected_running_times(store, view(store, options=OPTIMUM), (1.0, 0.2)))
    one, two = ([point.ert for row in rows for point in row.at] for rows in found)
    assert one == pytest.approx(two)
    assert found[0][0].runs == 3


def test_a_heavy_problem_is_drawn_as_often_as_so_many():
    """A mean of 4,000 counts: five standard errors are 0.08."""
    drawn = resamples(["a", "b", "c"], 4000, 1, np.array([1.0, 2.5, 0.5])).times
    assert (drawn.sum(axis=1) == 4).all()
    assert drawn.mean(axis=0) == pytest.approx([1.0, 2.5, 0.5], abs=0.08)
