"""ECDF, AOCC, EAF and EAF differences on every kind of store that has values."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from polarbear.classical.view_options import Comparison, ViewOptions
from polarbear.report.context import ReportContext, gather
from polarbear.report.figures import FIGURES
from tests.classical.helpers import make_store, random_runs
from tests.report.layout import look_at
from tests.report.stores import HOSTILE

NAMES = ("ecdf", "aocc", "eaf", "eaf-difference")
GRID = {"spacing": "log", "from": 1.0, "to": 100.0, "points": 9}
FIXED = Comparison(options=ViewOptions(optimum=0.0))
KINDS = {
    "fixed targets": (["A", "B", "C"], 12, GRID, FIXED),
    "seen targets": (["A", "B", "C"], 12, GRID, Comparison()),
    "linear targets": (
        ["A", "B", "C"],
        12,
        GRID,
        Comparison(options=ViewOptions(optimum=0.0, targets="100:0", scale="linear")),
    ),
    "one pair": (["A", "B", "C"], 12, GRID, replace(FIXED, pair=("C", "A"))),
    "one instance": (["A", "B"], 1, GRID, FIXED),
    "one algorithm": (["A"], 5, GRID, FIXED),
    "one time": (["A", "B"], 6, [100.0], FIXED),
    "hostile names": (HOSTILE, 6, GRID, FIXED),
    "twenty algorithms": ([f"algorithm {i:02}" for i in range(20)], 6, GRID, FIXED),
}
MISSING = {
    ("one algorithm", "eaf-difference"): "a difference needs two algorithms",
    ("one time", "eaf"): "the grid has one time only",
    ("one time", "eaf-difference"): "the grid has one time only",
}
DRAWN = [
    *(("fixed targets", name) for name in NAMES),
    *(("hostile names", name) for name in NAMES),
    *(("twenty algorithms", name) for name in NAMES),
    ("seen targets", "eaf"),
    ("linear targets", "eaf"),
    ("one pair", "eaf-difference"),
    ("one instance", "ecdf"),
    ("one instance", "aocc"),
    ("one algorithm", "eaf"),
    ("one time", "ecdf"),
    ("one time", "aocc"),
]
STYLES = ({"width": "single", "theme": "print"}, {"font_size": 9}, {"width": "single"})


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ReportContext]:
    by_kind = {}
    for kind, (names, instances, grid, comparison) in KINDS.items():
        folder = tmp_path_factory.mktemp(kind.replace(" ", "-"))
        store = make_store(folder / "store", random_runs(3, names, instances), grid, "effort")
        by_kind[kind] = replace(gather(store), comparison=comparison)
    return by_kind


@pytest.mark.parametrize(("kind", "name"), MISSING)
def test_what_is_not_there_is_explained(kind, name, contexts):
    assert MISSING[kind, name] in str(FIGURES[name].missing(contexts[kind]))


@pytest.mark.slow
@pytest.mark.parametrize(("number", "kind", "name"), [(i, *case) for i, case in enumerate(DRAWN)])
def test_what_is_there_is_drawn_without_a_fault(number, kind, name, contexts):
    assert FIGURES[name].missing(contexts[kind]) is None
    assert FIGURES[name].caption(contexts[kind]).endswith(".")
    assert look_at(name, contexts[kind], **STYLES[number % len(STYLES)]) == []


def test_a_store_without_values_has_none_of_them_and_says_why(raced):
    for name in NAMES:
        assert "draws rankings only" in str(FIGURES[name].missing(raced))


def test_ecdf_is_the_view(contexts):
    fixed = contexts["fixed targets"]
    view = fixed.classical
    data = FIGURES["ecdf"].data(fixed)
    assert data.filter(pl.col("algorithm") == "B")["share"].to_list() == view.ecdf.mean[1].tolist()
    assert set(data["instances"]) == {12}


def test_one_instance_has_no_band(contexts):
    data = FIGURES["ecdf"].data(contexts["one instance"])
    assert data["low"].is_null().all()


def test_each_run_has_its_area_in_the_data(contexts):
    fixed = contexts["fixed targets"]
    view = fixed.classical
    data = FIGURES["aocc"].data(fixed)
    of_algorithm = data.filter((pl.col("algorithm") == "C") & (pl.col("time") == "log"))
    assert of_algorithm["aocc"].to_list() == view.aocc_log.areas[:, 2].tolist()
    assert of_algorithm["instance"].to_list() == list(view.common.instances)
    assert of_algorithm["mean"][0] == pytest.approx(of_algorithm["aocc"].mean())


def test_the_difference_changes_its_sign_with_the_order_of_the_pair(contexts):
    context = contexts["fixed targets"]

    def differences(pair: tuple[str, str]) -> np.ndarray:
        comparison = replace(FIXED, pair=pair)
        data = FIGURES["eaf-difference"].data(replace(context, comparison=comparison))
        return data.filter(pl.col("kind") == "grid")["difference"].to_numpy()

    of_pair = differences(("A", "B"))
    of_reversed_pair = differences(("B", "A"))
    assert np.abs(of_pair).max() > 0
    assert of_pair.tolist() == (-of_reversed_pair).tolist()


def test_targets_are_named_where_all_instances_share_them(contexts):
    fixed = FIGURES["eaf"].data(contexts["fixed targets"]).filter(pl.col("kind") == "grid")
    assert fixed["target"].min() == pytest.approx(1e-8)
    of_instances = FIGURES["eaf"].data(contexts["seen targets"])
    assert of_instances["target"].is_null().all()
