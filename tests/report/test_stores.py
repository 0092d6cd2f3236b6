"""Comparisons of several stores: their times and algorithms, the differences, the refusals."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta

import polarbear
from polarbear.errors import ReportError
from polarbear.rankings import GridValues
from polarbear.report.context import ReportContext, gather
from polarbear.report.stores.comparison_story import different_settings, story_of_stores
from polarbear.report.stores.differences import StoreComparison, changes, compared, stretches
from polarbear.report.stores.sides import Side, matched, sides_of
from polarbear.store import StoreOnDisk
from tests.report.stores import inferred
from tests.sharing import filled_once

EVEN = {"A": [0.4, 0.4], "B": [0.4, 0.4], "C": [0.2, 0.2]}
TURNED = {"A": [0.9, 0.05], "B": [0.05, 0.9], "C": [0.05, 0.05]}


def two_stores(folder: Path) -> None:
    """The same three algorithms in both stores, which have no instance in common."""
    for name, ratings, instances, seed in (("even", EVEN, 12, 3), ("turned", TURNED, 40, 8)):
        (folder / name).mkdir()
        inferred(folder / name, ratings, "empirical", instances, seed=seed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled_once(tmp_path_factory, "two stores", two_stores)


@pytest.fixture(scope="module")
def sides(folder: Path) -> tuple[Side, ...]:
    return sides_of(
        [gather(StoreOnDisk.open(folder / name / "store")) for name in ("even", "turned")]
    )


@pytest.fixture(scope="module")
def comparison(sides: tuple[Side, ...]) -> StoreComparison:
    return compared(sides)


def on_grid(side: Side, times: list[float], axis: str = "evaluations", log: bool = False) -> Side:
    """The same side on another grid."""
    posterior = replace(side.basis.posterior, times=np.array(times), axis=axis)
    basis = replace(side.basis, posterior=posterior)
    return replace(side, basis=basis, context=replace(side.context, log_times=log))


def knowing(side: Side, *names: str) -> Side:
    """The same side with algorithms of other names."""
    posterior = replace(side.basis.posterior, algorithms=names)
    return replace(side, basis=replace(side.basis, posterior=posterior))


def test_a_difference_is_that_of_win_probabilities_by_the_draws_of_both(sides, comparison):
    before = sides[0].basis.posterior.head_to_head(0, 1)[:, 1]
    after = sides[1].basis.posterior.head_to_head(0, 1)[:, 1]
    row = comparison.differences.filter(
        pl.col("algorithm") == "A",
        pl.col("against") == "B",
        pl.col("at") == comparison.moments.at[1],
    ).row(0, named=True)
    mean_before = sides[0].basis.posterior.win_rate(0, 1)[1]
    mean_after = sides[1].basis.posterior.win_rate(0, 1)[1]
    assert row["first"] == pytest.approx(mean_before)
    assert row["other"] == pytest.approx(mean_after)
    assert row["difference"] == pytest.approx(mean_after - mean_before)
    standard_error = float(before.std()) / len(before) ** 0.5
    assert row["first"] == pytest.approx(before.mean(), abs=4 * standard_error)
    change = after - before
    assert [row["low"], row["high"]] == pytest.approx(np.quantile(change, [0.025, 0.975]).tolist())
    assert row["p_more"] == pytest.approx((change > 0).mean())


def test_an_algorithm_counts_each_common_opponent_the_same(comparison: StoreComparison):
    levels = comparison.levels.filter(pl.col("store") == comparison.sides[0].name)
    at_first = levels.filter(pl.col("at") == comparison.moments.at[0])
    pairs = {(r["algorithm"], r["against"]): r["mean"] for r in at_first.to_dicts()}
    assert pairs["A", None] == pytest.approx((pairs["A", "B"] + pairs["A", "C"]) / 2)
    assert pairs["C", None] == pytest.approx((2 - pairs["A", "C"] - pairs["B", "C"]) / 2)


def test_stretches_tell_who_wins_more_where_and_when(comparison: StoreComparison):
    sentences = stretches(comparison)
    first = comparison.moments.in_words(0)
    last = comparison.moments.in_words(1)
    base = comparison.sides[0].name
    other = comparison.sides[1].name
    assert any(
        line.startswith(f"At {last} B beats A more often in {other}: on ") for line in sentences
    )
    assert any(
        line.startswith(f"At {first} A beats B more often in {other}: on ") for line in sentences
    )
    assert all(f"in {base} on " in line for line in sentences)


def test_stores_that_are_copies_differ_nowhere(sides: tuple[Side, ...]):
    twin = compared([sides[0], replace(sides[0], name="copy")])
    assert stretches(twin) == []
    story = story_of_stores(twin, [])
    assert story.answer[0] == f"No difference between {sides[0].name} and copy is shown."


@pytest.mark.parametrize(
    ("times", "other_times", "at", "places"),
    [
        ([10, 20, 40], [10, 20, 40], [10, 20, 40], [[0, 1, 2], [0, 1, 2]]),
        ([10, 20, 40], [20, 40, 80], [20, 40], [[1, 2], [0, 1]]),
        ([1, 2, 3, 4, 5, 6], [2, 4, 6], [2, 4, 6], [[1, 3, 5], [0, 1, 2]]),
        ([10, 20], [200, 400], [0.5, 1.0], [[0, 1], [0, 1]]),
    ],
)
def test_times_are_those_all_grids_have_or_else_shares_of_the_budget(
    times, other_times, at, places, sides
):
    moments = matched([on_grid(sides[0], times), on_grid(sides[1], other_times)])
    assert moments.at.tolist() == pytest.approx(at)
    assert moments.places.tolist() == places
    assert moments.exact
    assert (moments.axis is None) == (max(at) <= 1)


def test_grids_that_differ_are_met_at_their_nearest_times_and_that_is_said(sides):
    near = on_grid(sides[0], [10, 100, 1000], log=True), on_grid(sides[1], [9, 105, 1100], log=True)
    moments = matched(near)
    assert moments.places.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert moments.words().endswith("each store at the nearest time of its grid")


def test_axes_that_differ_are_compared_by_share_of_the_budget_unless_units_are_asked_for(sides):
    other = [on_grid(sides[0], [10, 20]), on_grid(sides[1], [1, 2], "seconds")]
    assert matched(other).in_words(0) == "50% of the budget"
    with pytest.raises(ReportError, match="count time in evaluations and seconds; --align share"):
        matched(other, "units")
    with pytest.raises(ReportError, match="no time in common; --align share"):
        matched([on_grid(sides[0], [10, 20]), on_grid(sides[1], [200, 400])], "units")
    with pytest.raises(ReportError, match="unknown alignment 'unit'; did you mean 'units'"):
        matched(other, "unit")


def test_stores_without_a_common_algorithm_are_refused_with_what_they_have(sides):
    first, other = sides
    with pytest.raises(ReportError, match=r"share no algorithm: .* has X, Y and Z; .*rename STORE"):
        compared([first, knowing(other, "X", "Y", "Z")])


def test_stores_that_share_one_algorithm_compare_it_with_itself_without_a_posterior(tmp_path: Path):
    config = {
        "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 3}},
        "budget": {"grid": {"from": 10, "to": 40, "points": 3}},
    }
    shared = {"name": "A", "use": "random-search"}
    for store, other in (("one", "B"), ("two", "C")):
        algorithms = [shared, {**shared, "name": other}]
        polarbear.run({**config, "algorithms": algorithms}, tmp_path / store, instances=6)
    stores = tmp_path / "one", tmp_path / "two"
    comparison = polarbear.compare_stores(*stores, html=tmp_path / "page.html")
    same = [(change["algorithm"], change["same"]) for change in comparison.to_dict()["changes"]]
    assert same == [("A", True)]
    assert "share one algorithm, A" in comparison.text()
    assert "nan" not in comparison.text()
    page = (tmp_path / "page.html").read_text()
    assert "share one algorithm, A" in page
    assert "Over time" not in page
    with pytest.raises(ReportError, match="no figure 'duels' for these stores"):
        polarbear.compare_stores(*stores, png=tmp_path / "f", only=["duels"])


def test_a_store_named_twice_or_without_a_posterior_is_refused(sides: tuple[Side, ...]):
    context = sides[0].context
    with pytest.raises(ReportError, match="is named twice"):
        sides_of([context, context])
    bare: ReportContext = replace(sides[1].context, basis=None)
    with pytest.raises(ReportError, match="holds no posterior yet.*polarbear infer"):
        sides_of([context, bare])


def with_runs_of(folder: Path, ratings: dict[str, list[float]]) -> StoreOnDisk:
    folder.mkdir()
    return inferred(folder, ratings, "empirical", seed=3)


def test_an_algorithm_meets_itself_on_the_instances_that_both_stores_have(tmp_path, sides):
    same = with_runs_of(tmp_path / "same", EVEN)
    both = sides_of([sides[0].context, gather(same)])
    comparison = compared(both)
    changed = changes(both, comparison.algorithms, comparison.moments)
    assert [(change.algorithm, change.same) for change in changed] == [
        (name, True) for name in "ABC"
    ]
    assert "not one value of an algorithm differs" in str(
        story_of_stores(comparison, changed).blocks
    )


def test_who_beats_itself_in_the_first_store_is_named_first(tmp_path, sides):
    """A wins 12 duels of 12 with itself, B loses them; the seed of the draws is fixed."""
    better = with_runs_of(tmp_path / "better", EVEN)
    both = sides_of([sides[0].context, gather(better)])
    moments = matched(both)
    on_grid = StoreOnDisk.on_grid

    def shifted(store: StoreOnDisk, *arguments: Any) -> GridValues:
        grid = on_grid(store, *arguments)
        values = grid.values.copy()
        if store.path == better.path:
            values[:, 0] -= 100
            values[:, 1] += 100
        return replace(grid, values=values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StoreOnDisk, "on_grid", shifted)
        changed = changes(both, ("A", "B", "C"), moments)
    assert [change.is_shown for change in changed] == [True, True, False]
    assert [change.wins > 0.5 for change in changed[:2]] == [True, False]
    assert changed[0].p_better > 0.99
    assert changed[1].p_better < 0.01
    # twelve wins of twelve: Beta(13, 1) at each time, and all times alike
    assert changed[0].wins == pytest.approx(13 / 14, abs=0.005)
    assert changed[0].low == pytest.approx(beta.ppf(0.025, 13, 1), abs=0.02)
    headline = story_of_stores(compared(both), changed).answer[0]
    assert headline.startswith(f"On 12 shared instances A in {both[1].name} beats that in ")


def test_what_is_set_differently_is_told_with_the_values_of_each(sides, comparison):
    settings = dict(different_settings(comparison.sides, comparison.algorithms))
    assert settings["seed"] == ("3", "8")
    assert "budget.axis" not in settings


def test_the_python_door_gives_words_tables_and_files(folder: Path, tmp_path: Path):
    stores = [folder / "even" / "store", folder / "turned" / "store"]
    comparison = polarbear.compare_stores(
        *stores, html=tmp_path / "p.html", svg=tmp_path / "f", csv=tmp_path / "f"
    )
    assert {path.name for path in comparison.written} == {
        *("p.html", "duels.svg", "differences.svg", "duels.csv", "differences.csv")
    }
    assert all(path.is_file() for path in comparison.written)
    page = (tmp_path / "p.html").read_text()
    assert "<script" not in page
    assert "Candidates and eliminated algorithms" in page
    assert comparison.text().startswith("even/store and turned/store\n")
    assert "| algorithm |" in comparison.markdown()
    facts = comparison.to_dict()
    assert facts["algorithms"] == ["A", "B", "C"]
    assert [store["name"] for store in facts["stores"]] == ["even/store", "turned/store"]
    read = pl.read_csv(tmp_path / "f" / "differences.csv")
    assert len(read) == len(facts["differences"])
    with pytest.raises(ReportError, match="exists already"):
        polarbear.compare_stores(*stores, html=tmp_path / "p.html")
    with pytest.raises(ReportError, match="two stores or more"):
        polarbear.compare_stores(stores[0])
    with pytest.raises(ReportError, match="unknown figure of several stores 'duel'"):
        polarbear.compare_stores(*stores, svg=tmp_path / "g", only=["duel"])
