"""The scale that makes values comparable, and the values and options that are refused."""

from pathlib import Path

import numpy as np
import pytest

from polarbear.classical.view import view
from polarbear.classical.view_options import ViewOptions
from polarbear.errors import ConfigError, ReportError
from tests.classical.helpers import Run, make_store

TWO_INSTANCES = {
    "A": [Run([1], [30.0]), Run([1, 50], [4.0, -2.0])],
    "B": [Run([1], [10.0]), Run([1], [4.0])],
}


def test_without_optima_the_scale_is_the_span_of_values_on_each_instance(tmp_path: Path):
    classical = view(make_store(tmp_path / "store", TWO_INSTANCES))
    assert not classical.scale.has_common_targets
    assert not classical.scale.log
    assert classical.ecdf.mean[:, 0].tolist() == [0.0, 0.5]
    assert classical.ecdf.mean[:, -1].tolist() == [0.5, 0.5]
    assert "from the worst (0) to the best (1)" in classical.scale.words


def test_positive_values_over_three_orders_of_magnitude_get_a_logarithmic_scale(tmp_path: Path):
    runs = {"A": [Run([1, 50], [1e4, 1.0])] * 3, "B": [Run([1], [1e2])] * 3}
    classical = view(make_store(tmp_path / "store", runs))
    assert classical.scale.log
    assert classical.ecdf.mean[1, 0] == pytest.approx(0.5)
    linear = view(make_store(tmp_path / "other", runs), options=ViewOptions(scale="linear"))
    assert linear.ecdf.mean[1, 0] == pytest.approx((1e4 - 1e2) / (1e4 - 1))


def test_a_given_optimum_selects_the_usual_targets(tmp_path: Path):
    classical = view(
        make_store(tmp_path / "store", TWO_INSTANCES), options=ViewOptions(optimum=-2.0)
    )
    assert classical.scale.has_common_targets
    assert classical.scale.target(0.0) == pytest.approx(1e2)
    assert classical.scale.target(1.0) == pytest.approx(1e-8)
    expected = np.mean([(2 - np.log10(32)) / 10, 1.0])
    assert classical.ecdf.mean[0, -1] == pytest.approx(expected)


def test_the_optimum_of_a_maximised_suite_has_the_sign_that_users_see(tmp_path: Path):
    # Stores keep maximised values with the opposite sign.
    stored = {"A": [Run([1], [-7.0])], "B": [Run([1], [-9.9])]}
    config = {"suite": "imported", "maximise": True}
    store = make_store(tmp_path / "store", stored, instances=config)
    classical = view(store, options=ViewOptions(optimum=10.0, targets="10:0.1"))
    assert classical.ecdf.mean[:, -1].tolist() == pytest.approx([(1 - np.log10(3)) / 2, 1.0])
    with pytest.raises(ReportError, match=r"the value 9\.9 on i000 is better than .* 9:"):
        view(store, options=ViewOptions(optimum=9.0))


def test_the_optimum_of_a_suite_that_knows_it_is_used(tmp_path: Path):
    spec = {"function": "sphere", "dimension": 2, "seed": 1}
    config = {"suite": "classic", "maximise": False}
    runs = {"A": [Run([1], [1e-3])], "B": [Run([1], [1.0])]}
    classical = view(make_store(tmp_path / "store", runs, instances=config, specs=[spec]))
    assert classical.ecdf.mean[:, -1].tolist() == pytest.approx([0.5, 0.2])


def test_all_algorithms_reach_all_targets_where_their_values_are_equal(tmp_path: Path):
    runs = {"A": [Run([1], [5.0]), Run([1], [2.0])], "B": [Run([1], [5.0]), Run([1], [1.0])]}
    classical = view(make_store(tmp_path / "store", runs))
    assert classical.aocc.areas.tolist() == [[1.0, 1.0], [0.0, 1.0]]
    note = "on 1 of 2 instances all values are equal: every algorithm has reached all targets there"
    assert note in classical.notes()


@pytest.mark.parametrize(
    ("runs", "options", "words"),
    [
        ({"A": [Run([1], [5.0])], "B": [Run([1], [5.0])]}, {}, "all values are equal"),
        (TWO_INSTANCES, {"targets": "1e2:1e-8"}, "add --optimum VALUE, or use --targets seen"),
        (TWO_INSTANCES, {"scale": "log"}, "needs values above 0, found -2"),
        (
            TWO_INSTANCES,
            {"optimum": 0.0},
            "the value -2 on i001 is better than the best possible, 0",
        ),
        (TWO_INSTANCES, {"optimum": -2.0, "targets": "10:0"}, "no target at distance 0"),
        ({"A": [Run([], [])], "B": [Run([], [])]}, {}, "found a value up to 100"),
        ({"A": [Run([200], [1.0])]}, {}, "found a value up to 100"),
        ({"A": [Run([1], [-np.inf])], "B": [Run([1], [1.0])]}, {}, "has the value -inf"),
        ({"A": [Run([1], [np.nan])], "B": [Run([1], [1.0])]}, {}, "has the value nan"),
    ],
)
def test_values_that_allow_no_scale_are_refused_with_the_reason(
    tmp_path: Path, runs, options, words
):
    with pytest.raises(ReportError, match=words):
        view(make_store(tmp_path / "store", runs), options=ViewOptions(**options))


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        ("1e-8:1e2", "100:1e-08, not 1e-08:100"),
        ("1e2", "expected EASIEST:HARDEST"),
        ("a:b", "expected EASIEST:HARDEST"),
        ("1e2:1e-8:1", "greater than or equal to 2"),
        ("nan:1", "finite number"),
    ],
)
def test_targets_that_make_no_sense_are_refused(targets: str, words: str):
    with pytest.raises(ConfigError, match=words):
        ViewOptions(targets=targets)


def test_targets_out_of_reach_are_noted(tmp_path: Path):
    store = make_store(tmp_path / "store", {"A": [Run([1], [50.0])], "B": [Run([1], [60.0])]})
    hard = view(store, options=ViewOptions(optimum=0.0, targets="1:0.1"))
    assert any("no run reaches even the easiest target" in note for note in hard.notes())
    easy = view(store, options=ViewOptions(optimum=0.0, targets="1000:100"))
    assert any("every run has reached all targets" in note for note in easy.notes())
