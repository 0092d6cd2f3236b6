"""The data of figures agree with other answers about the same store."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

import polarbear as pb
from polarbear.racing.verdicts import MIRROR
from polarbear.report.context import ReportContext, gather
from polarbear.report.figures import FIGURES
from polarbear.report.figures.best_algorithm import smooth
from polarbear.report.figures.chart import edges
from polarbear.report.figures.round_history import INDEPENDENT, stretched
from polarbear.selection.choice import select
from polarbear.selection.preference_parsing import read_preference
from polarbear.store import StoreOnDisk
from tests.report.stores import THREE, runs_of
from tests.support import keep_posterior


def data(name: str, context: ReportContext) -> pl.DataFrame:
    return FIGURES[name].data(context)


def checkpoints(context: ReportContext) -> list[dict]:
    folder = context.store.path / "rounds"
    return [json.loads(path.read_text()) for path in sorted(folder.glob("round-*.json"))]


def test_ratings_sum_to_one_and_count_the_instances_of_the_runs(raced):
    rows = data("ratings", raced)
    total = rows.group_by("t").agg(pl.col("mean").sum())["mean"]
    assert total.to_numpy() == pytest.approx(1.0, abs=1e-6)
    assert (rows["low"] <= rows["mean"]).all()
    assert (rows["mean"] <= rows["high"]).all()
    runs = raced.store.runs()
    for name, t, instances in rows.select("algorithm", "t", "instances").iter_rows():
        long_runs = runs.filter((pl.col("algorithm") == name) & (pl.col("budget") >= t))
        assert instances == len(long_runs)
    assert set(rows.filter("in")["algorithm"]) == set(raced.race.pareto_set)


def test_runs_without_a_race_are_counted_too(kinds):
    rows = data("ratings", kinds["inferred"])
    assert rows["instances"].to_list() == [12] * len(rows)


def test_estimates_on_a_grid_that_was_changed_since_are_shown_at_their_own_times(tmp_path):
    config = {
        "algorithms": [{"name": name, "use": "random-search"} for name in "AB"],
        "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 3}},
    }
    for grid in ([5, 10], [5, 8, 10]):
        pb.run({**config, "budget": {"grid": grid}}, tmp_path / "store", instances=4)
        if len(grid) == 2:
            pb.open(tmp_path / "store").infer(model="dirichlet", method="laplace", draws=400)
    context = gather(StoreOnDisk.open(tmp_path / "store"), model="dirichlet")
    rows = data("ratings", context)
    assert rows["t"].to_list() == [5, 10, 5, 10]
    assert rows["instances"].to_list() == [4, 4, 4, 4]
    assert 8.0 in set(data("ecdf", context)["t"])


def test_at_an_earlier_round_it_is_what_was_believed_then(raced):
    early = data("ratings", gather(raced.store, upto=2))
    kept = raced.store.rounds.beliefs(2)
    assert early["mean"].to_list() == kept.mean.ravel().tolist()


def test_leaders_are_those_with_the_highest_draw_most_often(raced):
    rows = data("leaders", raced)
    names = rows["algorithm"].unique(maintain_order=True).to_list()
    assert set(names) == set(raced.race.pareto_set)
    theta = raced.basis.posterior.theta[:, :, [raced.basis.algorithms.index(n) for n in names]]
    wins = (theta.argmax(axis=2)[:, :, None] == np.arange(len(names))).mean(axis=0)
    assert rows["p_best"].to_numpy().reshape(wins.shape) == pytest.approx(wins)
    assert rows.filter("leads")["algorithm"].to_list() == [names[i] for i in wins.argmax(axis=1)]


def test_the_matrix_has_the_lowest_share_of_draws_that_are_above(kinds):
    context = kinds["inferred"]
    theta = context.basis.posterior.theta
    names = context.basis.algorithms
    for a, b, p, _ in data("matrix", context).iter_rows():
        above = theta[:, :, names.index(a)] > theta[:, :, names.index(b)]
        assert p == pytest.approx(above.mean(axis=0).min())


@pytest.mark.parametrize("kind", ["raced", "one round", "joint", "inferred", "twenty algorithms"])
def test_a_verdict_reads_the_same_from_both_sides(kind, kinds):
    rows = data("matrix", kinds[kind])
    verdicts = {(a, b): how for a, b, _, how in rows.iter_rows()}
    for (a, b), how in verdicts.items():
        assert verdicts[b, a] == MIRROR.get(how, how)


def test_whoever_put_another_out_dominates_it_and_candidates_come_first(raced):
    rows = data("matrix", raced)
    verdicts = {(a, b): how for a, b, _, how in rows.iter_rows()}
    out = raced.race.eliminated
    assert out
    for entry in out:
        assert verdicts[entry.by, entry.algorithm] == "dominates"
    pairs = data("pairs", raced)
    assert set(pairs.select("a", "b").row(0)) <= set(raced.race.pareto_set)
    n = len(raced.algorithms)
    assert len(pairs) == n * (n - 1) // 2 * len(raced.times)
    order = rows["a"].unique(maintain_order=True).to_list()
    assert order[len(raced.race.pareto_set) :] == [entry.algorithm for entry in reversed(out)]
    for entry in raced.race.settled_pairs:
        assert verdicts[entry.a, entry.b] == entry.verdict.kind


def test_a_pair_about_which_something_is_not_settled_is_open(kinds):
    context = kinds["one round"]
    verdicts = {(a, b): how for a, b, _, how in data("matrix", context).iter_rows()}
    open_pairs = {(entry.a, entry.b) for entry in context.race.open_pairs}
    assert open_pairs
    assert open_pairs <= {pair for pair, how in verdicts.items() if how == "open"}


def test_rounds_show_what_the_checkpoints_decided_by(raced):
    rows = data("rounds", raced)
    kept = checkpoints(raced)
    assert rows["round"].unique().sort().to_list() == list(range(1, len(kept) + 1))
    for entry in raced.race.eliminated:
        row = rows.filter(
            (pl.col("round") == entry.round) & (pl.col("algorithm") == entry.algorithm)
        ).row(0, named=True)
        assert (row["event"], row["by"]) == ("eliminated", entry.by)
        assert row["probability"] == entry.probability
        assert rows.filter(pl.col("algorithm") == entry.algorithm)["round"].max() == (entry.round)
    for number, record in enumerate(kept, start=1):
        now = rows.filter(pl.col("round") == number)
        if not record["decisions"]["eliminated"]:
            probabilities = dict(now.select("algorithm", "probability").iter_rows())
            assert probabilities == {n: t["probability"] for n, t in record["threats"].items()}
    assert rows.filter(pl.col("round") == len(kept))["share_settled"].unique().to_list() == [1.0]


def test_each_member_of_the_pareto_set_is_resolved_once(raced, kinds):
    resolved = data("rounds", raced).filter(pl.col("event") == "resolved")
    assert sorted(resolved["algorithm"]) == sorted(raced.race.pareto_set)
    unresolved = {n for e in kinds["one round"].race.open_pairs for n in (e.a, e.b)}
    rows = data("rounds", kinds["one round"])
    assert not unresolved & set(rows.filter(pl.col("event") == "resolved")["algorithm"])


def test_the_axis_is_linear_up_to_nine_tenths_and_then_a_power_of_ten_is_a_step():
    low = np.linspace(0, 0.9, 10)
    assert stretched(low) == pytest.approx(low)
    steps = np.diff(stretched(np.array([0.9, 0.99, 0.999, 0.9999])))
    assert steps == pytest.approx(steps[0])
    dense = stretched(np.linspace(0, 1, 2001), top=0.9999)
    assert (np.diff(dense) >= 0).all()
    assert dense[-1] == stretched(np.array(0.9999))


@pytest.mark.parametrize("text", ["uniform", "log-uniform", "final", "worst-case"])
def test_values_are_those_that_select_would_tell(text, raced):
    rows = data("values", raced).filter(pl.col("preference") == text)
    basis = raced.basis
    selection = select(basis, raced.contest, read_preference(text)[0], basis.context())
    for item in selection.candidates:
        row = rows.filter(pl.col("algorithm") == selection.name(item)).row(0, named=True)
        assert row["p_best"] == pytest.approx(selection.criteria.p2bb[item])
        assert row["mean"] == pytest.approx(selection.criteria.mean[item])


def test_the_density_of_values_is_that_of_scipy():
    values = np.random.default_rng(4).beta(3, 5, 4000)
    x, density = smooth(values)
    low, high = np.quantile(values, (0.25, 0.75))
    width = 0.9 * min(values.std(), (high - low) / 1.34) * len(values) ** -0.2
    kernels = stats.gaussian_kde(values, width / values.std(ddof=1))
    theirs = kernels(x) + kernels(-x) + kernels(2 - x)  # folded back at both ends
    assert density == pytest.approx(theirs, abs=0.01 * theirs.max())
    assert np.trapezoid(density, x) == pytest.approx(1, abs=1e-3)


def test_the_allocation_is_the_budget_of_the_runs_and_agrees_on_what_was_saved(raced):
    rows = data("allocation", raced)
    runs = raced.store.runs()
    for name in raced.algorithms:
        budget = runs.filter(pl.col("algorithm") == name)["budget"].sum()
        assert rows.filter(pl.col("algorithm") == name)["allotted"].sum() == budget
    saved = 1 - rows["allotted"].sum() / rows["everything"].sum()
    assert saved == pytest.approx(raced.race.saved)
    assert saved > 0


def test_the_allocation_without_a_race_has_no_rounds(kinds):
    rows = data("allocation", kinds["runs only"])
    assert rows["round"].null_count() == len(rows) == 3
    assert rows["instances"].to_list() == [5, 5, 5]


def test_failures_are_all_the_runs_that_failed(kinds):
    context = kinds["failures"]
    rows = data("failures", context)
    failed = context.store.runs().filter(pl.col("status") == "crashed")
    assert rows["failed"].sum() == len(failed) > 0
    assert set(rows["algorithm"]) == {"often", "seldom"}
    assert rows["message"].str.contains("positive").all()


def test_diagnostics_of_all_times_have_the_worst_that_was_kept(raced):
    rows = data("diagnostics", raced)
    judged = raced.basis.posterior.diagnostics
    values = {kind: group["value"] for (kind,), group in rows.group_by("what")}
    # draws are kept in single precision
    assert values["r_hat"].max() == pytest.approx(judged.r_hat, abs=1e-4)
    assert values["ess_bulk"].min() == pytest.approx(judged.ess_bulk, rel=1e-3)
    assert values["worst_ess_tail"].to_list() == [judged.ess_tail]
    assert values["draws"].to_list() == [record["draws"] for record in checkpoints(raced)]


def test_independent_draws_are_not_asked_whether_they_mix(tmp_path):
    store = runs_of(tmp_path, 4, THREE)
    keep_posterior(store, model="empirical", draws=400)
    context = gather(store)
    assert "r_hat" not in set(data("diagnostics", context)["what"])
    assert FIGURES["diagnostics"].missing(context) == INDEPENDENT


def test_the_cell_of_a_time_reaches_half_way_to_its_neighbours():
    assert edges(np.array([1.0, 3.0, 9.0]), False).tolist() == [1, 2, 6, 9]
    assert edges(np.array([1.0, 4.0, 16.0]), True) == pytest.approx([1, 2, 8, 16])
    single = edges(np.array([5.0]), True)
    assert single[0] < 5 < single[1]


def test_duels_are_counted_for_each_kind_of_instance(kinds):
    rows = data("kinds", kinds["two folders"])
    won = {(kind, name, t): share for kind, _, name, t, share in rows.iter_rows()}
    assert dict(rows.select("kind", "instances").unique().iter_rows()) == {"north": 4, "south": 2}
    for home, other in (("north", "south"), ("south", "north")):
        assert won[home, home, 10] == won[home, other, 10] == 0.5  # equal values
        assert won[home, home, 100] == 1
        assert won[home, other, 100] == 0
