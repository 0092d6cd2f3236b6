"""The same event has the same probability in every command and on the page."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import polarbear as pb
from polarbear.api.report_text import as_text
from polarbear.api.standings_words import standings_lines
from polarbear.report.context import ReportContext, gather
from polarbear.report.figures import FIGURES
from polarbear.report.latex import TexTable, tables
from polarbear.report.outline import as_markdown, outline
from polarbear.report.page.build import page
from polarbear.report.page.page_data import moments, selector
from polarbear.report.story import recommendation, story_of
from polarbear.report.words import evidence, without_marks
from polarbear.store import StoreOnDisk
from polarbear.wording import probability
from tests.report.stores import THREE, raced, runs_of
from tests.report.test_page_file import unpacked
from tests.support import synthetic


def p_best_on_page(context: ReportContext) -> np.ndarray:
    """P(best)[time, item], computed from what the page carries as its script does."""
    content = selector(context)
    assert content is not None
    n = len(content["items"])
    shape = (len(content["times"]), content["draws"])
    wins = unpacked(content["wins"]).reshape(-1, *shape)
    values = np.full((n, *shape), np.inf)
    for pair, (a, b) in enumerate(zip(*np.triu_indices(n, 1), strict=True)):
        values[a] = np.minimum(values[a], wins[pair])
        values[b] = np.minimum(values[b], 1 - wins[pair])
    if content["exact"] is not None:
        p_first = np.array(content["exact"]["p_better"])
        return np.stack([p_first, 1 - p_first], axis=1)
    is_best = values >= values.max(axis=0)
    return np.asarray((is_best / is_best.sum(axis=0)).mean(axis=2).T)


def test_p_best_is_that_of_select_in_every_part_of_a_report(tmp_path: Path):
    store = runs_of(tmp_path, 30, THREE)
    context = gather(store)
    names, p_best = context.p_best
    opened = pb.open(store.path)
    by_select = np.array(
        [
            [{row.algorithm: row.p2bb for row in chosen.ranking}[name] for name in names]
            for chosen in (opened.select(f"at {t}") for t in (10, 100))
        ]
    )
    np.testing.assert_allclose(p_best, by_select, atol=1e-12)
    drawn = FIGURES["leaders"].data(context)["p_best"].to_numpy().reshape(p_best.shape)
    np.testing.assert_array_equal(drawn, p_best)
    np.testing.assert_allclose(p_best_on_page(context), p_best, atol=2e-3)
    values = FIGURES["values"].data(context).filter(pl.col("preference") == "final")
    for name, p in zip(names, p_best[-1], strict=True):
        (p_of_values,) = values.filter(pl.col("algorithm") == name)["p_best"].unique()
        assert p_of_values == pytest.approx(p)
    latex_tables = {table.name: table for table in tables(context)}
    last = next(row for row in latex_tables["selection"].rows if row[0] == "at 100")
    assert last[1:3] == (names[p_best[-1].argmax()], probability(float(p_best[-1].max())))


def test_with_two_algorithms_and_three_problems_p_best_is_p_better_and_it_is_too_early(tmp_path):
    store = runs_of(tmp_path, 3, {"A": [0.8, 0.6], "B": [0.2, 0.4]})
    posterior = pb.open(store.path).infer()
    chosen = pb.open(store.path).select("final")
    context = gather(StoreOnDisk.open(store.path))
    p_better = context.estimates.above[-1]
    row_of = {name: i for i, name in enumerate(context.estimates.algorithms)}
    matrix = {(a, b): p for a, b, p, _ in FIGURES["matrix"].data(context).iter_rows()}
    last = pl.col("t") == context.times[-1]
    inferred = {(row["a"], row["b"]): row for row in posterior.pairs().filter(last).to_dicts()}
    assert len(pb.open(store.path).duels("A", "B").duels) == 3
    for name, other in (("A", "B"), ("B", "A")):
        p = p_better[row_of[name], row_of[other]]
        rows = [row for row in chosen.ranking if row.algorithm == name]
        (row,) = rows
        names, p_best = context.p_best
        assert row.p2bb == pytest.approx(p)
        assert inferred[name, other]["p_dominates"] == pytest.approx(p)
        assert p_best[-1, names.index(name)] == pytest.approx(p)
        assert p_best_on_page(context)[-1, names.index(name)] == pytest.approx(p, abs=2e-3)
        assert matrix[name, other] <= p + 1e-12
    assert posterior.model == context.basis.posterior.model
    words = without_marks(recommendation(context)[0])
    assert words.startswith("Too early to say, on 3 problems. ")
    assert chosen.statement.startswith("too early to say; ")
    story = story_of(context)
    blocks = outline(context, story)
    for text in (as_text(blocks, 10_000), as_markdown(blocks).replace("*", ""), page(context)):
        assert "Too early to say, on 3 problems. " in text


def test_a_race_infer_select_report_and_page_say_one_number_for_a_pair(tmp_path: Path):
    """P(B is better than A) at each time; a race shows the lowest over time as P(dominated)."""
    config = {
        **synthetic({"A": [0.45, 0.3], "B": [0.55, 0.7]}),
        "budget": {"grid": [10, 100]},
        "race": {"limits": {"instances": 16}},
    }
    pb.race(config, tmp_path / "store")
    opened = pb.open(tmp_path / "store")
    context = gather(StoreOnDisk.open(tmp_path / "store"))
    rows = opened.infer().pairs().filter(pl.col("a") == "B").sort("t")
    p_better = rows["p_dominates"].to_numpy()
    assert context.race is not None
    (standing,) = [row for row in context.race.algorithms if row.algorithm == "A"]
    assert (standing.by, standing.probability) == ("B", pytest.approx(p_better.min(), rel=1e-12))
    names, p_best = context.p_best
    np.testing.assert_allclose(p_best[:, names.index("B")], p_better, rtol=1e-12)
    for t, p in zip((10, 100), p_better, strict=True):
        p2bb = {row.algorithm: row.p2bb for row in opened.select(f"at {t}").ranking}
        assert p2bb["B"] == pytest.approx(p, rel=1e-12)
    assert context.estimates is not None
    above = context.estimates.above[:, names.index("B"), names.index("A")]
    np.testing.assert_allclose(above, p_better, rtol=1e-6)  # rounds keep single precision
    content = selector(context)
    assert content is not None
    exact = np.array(content["exact"]["p_better"])
    p_on_page = exact if content["items"][0] == "B" else 1 - exact
    np.testing.assert_allclose(p_on_page, p_better, rtol=1e-12)


@pytest.mark.slow
def test_an_elimination_has_two_numbers_each_with_its_name_everywhere(tmp_path: Path):
    """P(dominated), the neutral estimate, and the evidence that decided; no third one."""
    context = gather(raced(tmp_path))
    assert context.race is not None
    assert context.race.eliminated
    opened = pb.open(context.store.path)
    (inferred,) = [opened.infer().facts(pairs=True).dominated]
    by_infer = {(row["a"], row["b"]): row["p_dominated"] for row in inferred or ()}
    rows_of_matrix = FIGURES["matrix"].data(context).iter_rows()
    in_matrix = {(a, b): p for a, b, p, _ in rows_of_matrix}
    last_round = FIGURES["rounds"].data(context)
    texts = {
        "screen": "\n".join(standings_lines(context.race, None, verbose=True)),
        "report": as_text(outline(context, story_of(context)), 10_000),
        "page": page(context),
        "latex": " ".join(" ".join(row) for row in by_name(context)["eliminations"].rows),
        "moments": " ".join(out["words"] for out in moments(context)[-1]["out"]),
    }
    for out in context.race.eliminated:
        pair = (out.by, out.algorithm)
        assert by_infer[pair] == pytest.approx(out.probability, rel=1e-6)
        assert in_matrix[pair] == pytest.approx(out.probability, rel=1e-6)
        (row,) = last_round.filter(
            (pl.col("algorithm") == out.algorithm) & (pl.col("event") == "eliminated")
        ).to_dicts()
        drawn = (row["probability"], row["sceptical"], row["wealth"])
        assert drawn == (out.probability, out.sceptical, out.wealth)
        words = evidence(out, context.race.rules)
        assert re.fullmatch(r"sceptical P = [\d.]+, wealth [\d.]+", words)
        for where, text in texts.items():
            assert words in text, where
    for where, text in texts.items():
        names = set(re.findall(r"(\w+ P|P\([^)=]*\)) = [\d.]", text))
        neutral = {name for name in names if name.startswith(("P(dominated", "P(best"))}
        assert names - neutral <= {"sceptical P", "P(any elimination is wrong)"}, where


def by_name(context: ReportContext) -> dict[str, TexTable]:
    return {table.name: table for table in tables(context)}
