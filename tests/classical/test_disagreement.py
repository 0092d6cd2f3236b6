"""Notes on disagreements between the classical view and the posterior."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polarbear.classical.disagreement import Disagreement, disagreements, share_ahead
from polarbear.classical.view import view
from polarbear.classical.view_options import ViewOptions
from polarbear.execution.outcome import Status
from polarbear.selection.posterior_source import Basis, find_basis
from polarbear.store import StoreOnDisk
from tests.classical.helpers import Run, make_store
from tests.support import keep_posterior

GRID = (1.0, 10.0, 100.0)
FIXED = ViewOptions(optimum=0.0)


def full(y: float) -> Run:
    return Run([1], [y], Status.BUDGET, 100.0)


def inferred_basis(store: StoreOnDisk) -> Basis:
    """The basis of a store after an inference."""
    keep_posterior(store, model="dirichlet", draws=2000)
    return find_basis(store)


def note_about(topic: str, notes: Sequence[Disagreement]) -> Disagreement:
    """The only note on a topic."""
    notes_on_topic = [note for note in notes if note.about == topic]
    assert len(notes_on_topic) == 1
    return notes_on_topic[0]


@pytest.fixture(scope="module")
def margins(tmp_path_factory: pytest.TempPathFactory) -> StoreOnDisk:
    """'often' is a little ahead on 70 of 100 instances, 'far' is far ahead on the other 30."""
    runs = {
        "often": [full(1.0)] * 70 + [full(10.0)] * 30,
        "far": [full(1.5)] * 70 + [full(1e-7)] * 30,
    }
    return make_store(tmp_path_factory.mktemp("margins") / "store", runs, GRID)


def test_margins_that_ranks_ignore_are_named_as_the_reason(margins: StoreOnDisk):
    notes, _ = disagreements(view(margins, options=FIXED), inferred_basis(margins))
    assert {note.about for note in notes} >= {"uniform", "log-uniform", "final", "times"}
    for note in notes:
        assert (note.classical_prefers, note.posterior_prefers) == ("far", "often")
        assert "far is ahead 30% of the time and often 70%, but far by more" in note.why
        assert "ranks ignore margins" in note.why
    first = notes[0].words
    assert "has far first (mean 0.398 against 0.170" in first
    assert "which excludes 0" in first
    assert "has often first (P(best) over 0.99" in first
    note_on_times = note_about("times", notes)
    assert "at 3 times from 1 to 100 evaluations" in note_on_times.words


def test_another_scale_can_make_the_views_agree(margins: StoreOnDisk):
    by_values = view(margins, options=ViewOptions(targets="seen"))
    basis = inferred_basis(margins)
    notes, words = disagreements(by_values, basis)
    assert notes == []
    assert "agree: often is first over the whole span" in words


def test_instances_that_not_all_ran_in_full_are_named_as_the_reason(tmp_path: Path):
    """A is ahead on 12 complete instances; B on the 80 instances where it stopped early."""
    runs = {
        "A": [full(1.0)] * 12 + [full(3.0)] * 80,
        "B": [full(2.0)] * 12 + [Run([1], [2.0], Status.BUDGET, 10.0)] * 80,
    }
    store = make_store(tmp_path / "store", runs, GRID)
    notes, _ = disagreements(view(store, options=FIXED), inferred_basis(store))
    note = note_about("log-uniform", notes)
    assert (note.classical_prefers, note.posterior_prefers) == ("A", "B")
    assert "on the 12 instances compared, A is ahead 100% of the time and B 0%" in note.why
    assert "the posterior uses 92 instances" in note.why


def test_an_order_that_may_be_chance_is_called_so(tmp_path: Path):
    """One instance of 41 reverses the order of the means; the posterior follows the other 40."""
    runs = {
        "often": [full(1.0)] * 40 + [full(90.0)],
        "once": [full(1.2)] * 40 + [full(1e-8)],
        "last": [full(1e3)] * 41,
    }
    store = make_store(tmp_path / "store", runs, GRID)
    notes, _ = disagreements(view(store, options=FIXED), inferred_basis(store))
    assert notes
    assert all(
        (note.classical_prefers, note.posterior_prefers) == ("once", "often") for note in notes
    )
    assert all(note.about != "times" for note in notes)
    assert "which may be chance" in notes[0].words


def test_a_posterior_of_another_span_or_other_algorithms_is_not_compared_with_the_view(
    margins: StoreOnDisk,
):
    classical = view(margins, options=FIXED)
    basis = inferred_basis(margins)
    for changed, words in (
        ({"times": basis.times * 2}, "another span of time"),
        ({"algorithms": ("X", "Y")}, "no comparison with it"),
    ):
        posterior = replace(basis.posterior, **changed)
        notes, reason = disagreements(classical, replace(basis, posterior=posterior))
        assert notes == []
        assert words in reason


def test_share_ahead_gives_the_share_of_time_and_the_margin_computed_by_hand(tmp_path: Path):
    runs = {
        "A": [Run([1, 10], [1.0, 0.1]), Run([1], [1.0])],
        "B": [Run([1], [0.5]), Run([1], [1.0])],
    }
    classical = view(make_store(tmp_path / "store", runs, GRID), options=FIXED)
    times = np.array(GRID)
    weights = np.array([0.5, 0.25, 0.25])
    # A is behind at t = 1 and ahead at 10 and 100 on one instance, tied on the other.
    assert share_ahead(classical, 0, 1, times, weights) == pytest.approx((0.25, np.log10(5) / 10))
    assert share_ahead(classical, 1, 0, times, weights) == pytest.approx((0.25, np.log10(2) / 10))
