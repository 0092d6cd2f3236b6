"""Very many times: win probabilities are looked at on some of them, and drawn through between."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from polarbear.inference.interpolated import Interpolated

from polarbear.inference import ModelOptions, Posterior, infer, relations
from polarbear.inference.empirical import knots
from polarbear.rankings import GridValues, count_choice_sets, rank
from polarbear.store.records import posterior_from_table, posterior_to_table

TIMES = 31
UNIT = np.linspace(0, 1, TIMES)


@pytest.fixture
def posterior(monkeypatch: pytest.MonkeyPatch) -> Posterior:
    """Of four algorithms, of which two cross, at 31 times of which sixteen are looked at."""
    monkeypatch.setattr(knots, "_MOST_KNOTS", 16)
    monkeypatch.setattr(knots, "_FEWEST_KNOTS", 5)
    return inferred()


def inferred(smoothing: str = "learned") -> Posterior:
    rng = np.random.default_rng(1)
    level = np.array([0.0, 0.3, 0.6, 0.3])[:, None] + np.outer([0, 0, 0, 1], UNIT - 0.5)
    values = level + rng.standard_normal((80, 4, 1))
    positions = rank(values)
    options = ModelOptions(model="empirical", smoothing=smoothing, draws=1000)
    return infer(count_choice_sets(positions), UNIT, options, 1, positions=positions)


def test_lines_go_through_the_knots():
    rng = np.random.default_rng(2)
    at_knots, places = rng.random((5, 4, 6), dtype=np.float32), np.array([0, 2, 7, 9])
    curves = Interpolated(at_knots, places)
    assert curves.shape == (5, 10, 6)
    every = np.asarray(curves)
    np.testing.assert_array_equal(every[:, places], at_knots)
    expected = [[np.interp(range(10), places, d[:, k]) for k in range(6)] for d in at_knots]
    np.testing.assert_allclose(every, np.array(expected).swapaxes(1, 2), rtol=1e-6)
    np.testing.assert_array_equal(curves[:, 3, 1:4], every[:, 3, 1:4])
    np.testing.assert_array_equal(curves[:, :, 2], every[:, :, 2])
    np.testing.assert_array_equal(curves[1:3, 5, :], every[1:3, 5])


def test_all_times_are_looked_at_where_that_can_be():
    assert isinstance(inferred().wins, np.ndarray)
    assert len(knots.knots_for(7, 200, smooth=True)) == 200
    assert len(knots.knots_for(40, 20, smooth=True)) == 20


def test_forty_algorithms_at_two_thousand_times_fit_into_memory():
    places = knots.knots_for(40, 2000, smooth=True)
    assert places[0] == 0
    assert places[-1] == 1999
    assert 100 < len(places) < 200
    assert knots.most_draws(40, 2000, len(places)) > knots.FEWEST_DRAWS


def test_looking_at_some_times_hardly_changes_what_is_said_of_all(posterior: Posterior):
    """Draws differ, so twice the Monte-Carlo error of a thousand, and what lies between."""
    assert isinstance(posterior.wins, Interpolated)
    assert any("of 31 times 16 were looked at" in note for note in posterior.notes)
    with pytest.MonkeyPatch.context() as plain:
        plain.setattr(knots, "_MOST_KNOTS", 200)
        full = inferred()
    for a, b in [(0, 1), (0, 3), (2, 3)]:
        some, all_of_them = (one.head_to_head(a, b).mean(axis=0) for one in (posterior, full))
        assert np.abs(some - all_of_them).max() < 0.02
    np.testing.assert_allclose(
        relations.pointwise(posterior).dominance,
        relations.pointwise(full).dominance,
        atol=0.1,
    )
    assert np.array_equal(posterior.theta, full.theta)  # first places are counted at all times


def test_a_store_keeps_the_knots_alone(posterior: Posterior):
    grid = GridValues(("i",), ("A", "B", "C", "D"), UNIT, np.zeros((1, 4, TIMES)))
    table, facts = posterior_to_table(posterior, grid, "key")
    assert len(table["wins"][0]) == 16 * 6
    back = posterior_from_table(table, facts)
    assert np.array_equal(np.asarray(back.wins), np.asarray(posterior.wins))


def test_relations_are_those_of_all_points_of_the_lines(posterior: Posterior):
    written_out = replace(posterior, wins=np.asarray(posterior.wins))
    lines, points = relations.pointwise(posterior), relations.pointwise(written_out)
    np.testing.assert_array_equal(lines.dominance, points.dominance)
    np.testing.assert_array_equal(lines.dominance_error, points.dominance_error)
    # a draw that is at epsilon to the last digit may be on either side of it
    np.testing.assert_allclose(lines.equivalence, points.equivalence, atol=2 / posterior.n_draws)
    np.testing.assert_array_equal(
        relations.joint(posterior).dominance, relations.joint(written_out).dominance
    )
    np.testing.assert_array_equal(
        relations.joint(posterior).crossing, relations.joint(written_out).crossing
    )
