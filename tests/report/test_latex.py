"""The LaTeX kit: tables and captions that every LaTeX reads, whatever characters names have."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polarbear.errors import PolarBearError
from polarbear.report.context import ReportContext
from polarbear.report.figures.best_algorithm import ONE_BUDGET, groups
from polarbear.report.figures.ratings import KEY_ROUNDS, key_rounds
from polarbear.report.figures.style import Style
from polarbear.report.findings import truth_after, truth_of
from polarbear.report.latex import escaped, tables, write_kit
from polarbear.settings.options import Source, validate
from tests.report.stores import HOSTILE, RATINGS


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("a_b & 100%", r"a\_b \& 100\%"),
        ("$x_1$ \\frac{1}{", r"\$x\_1\$ \textbackslash{}frac\{1\}\{"),
        ("~^<>|", r"\textasciitilde{}\textasciicircum{}\ensuremath{<}\ensuremath{>}\ensuremath{|}"),
        ("2×10⁻⁵", r"2\ensuremath{\times}10\textsuperscript{-5}"),
        ("Übung", "Übung"),
        ("漢", r"\othersign{6F22}{漢}"),
        ("a\nb\x1b", "a b"),
        ("--", "{-}{-}"),
    ],
)
def test_text_is_typeset_as_it_is(text, tex):
    assert escaped(text) == tex


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_leaves_a_command_or_an_open_brace(name):
    tex = escaped(name)
    bare = re.sub(r"\\[\\{}$&#%_]", "", tex)
    assert bare.count("{") == bare.count("}")
    ours = r"textbackslash|textasciitilde|textasciicircum|textquotedbl|textasciigrave|othersign"
    commands = re.findall(r"\\([A-Za-z]+)", bare)
    assert all(re.fullmatch(rf"{ours}|ensuremath|ldots|textsuperscript", c) for c in commands)
    assert not re.search(r"[$&#%_~^]", re.sub(r"\\othersign\{.*?\}\{.\}", "", bare))


def test_the_kit_has_tables_figures_captions_and_a_document(raced: ReportContext, tmp_path: Path):
    written = write_kit(raced, tmp_path, Style(font="serif", dpi=50))
    assert {path.name for path in written} == {path.name for path in tmp_path.iterdir()}
    for name in ("pareto.tex", "eliminations.tex", "selection.tex"):
        text = (tmp_path / name).read_text()
        assert "\\toprule" in text
        assert "\\caption{" in text
    document = (tmp_path / "kit.tex").read_text()
    for name in ("ratings", "leaders", "rounds", "key-rounds", "one-budget", "values", "matrix"):
        assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert f"\\includegraphics{{{name}.pdf}}" in (tmp_path / f"figure-{name}.tex").read_text()
        assert f"\\input{{figure-{name}}}" in document
    assert "Dotted: the truth" in (tmp_path / "figure-ratings.tex").read_text()


def test_eliminations_are_told_with_who_when_and_how_probable(raced: ReportContext):
    tables_by_name = {table.name: table for table in tables(raced)}
    assert raced.race is not None
    rows = tables_by_name["eliminations"].rows
    assert [(row[0], row[1]) for row in rows] == [
        (elimination.algorithm, elimination.by) for elimination in raced.race.eliminated
    ]
    assert [row[0] for row in tables_by_name["pareto"].rows] == [
        name for name in raced.basis.algorithms if name in raced.race.pareto_set
    ]  # type: ignore[union-attr]


def test_a_column_of_instances_has_numbers_only(raced: ReportContext):
    pareto_tables = [table for table in tables(raced) if table.name == "pareto"]
    (pareto,) = pareto_tables
    column = pareto.columns.index("instances#")
    assert all(row[column].replace(",", "").isdigit() for row in pareto.rows)


def test_key_rounds_are_those_with_a_decision_and_the_last(raced: ReportContext):
    rounds = key_rounds(raced, 100)
    assert rounds[-1] is raced.rounds[-1]
    out = {elimination.round for elimination in raced.rounds[-1].state.eliminated}
    assert out <= {entry.number for entry in rounds}
    drawn_eliminations = (
        KEY_ROUNDS.data(raced).filter("put_out").select("algorithm", "round").unique().rows()
    )
    assert set(drawn_eliminations) == {
        (elimination.algorithm, elimination.round)
        for elimination in raced.rounds[-1].state.eliminated
    }
    assert len(key_rounds(raced, 1)) == 1


def test_the_truth_of_a_synthetic_race_is_the_ratings_it_was_drawn_from(raced: ReportContext):
    truth = truth_of(raced)
    assert truth is not None
    total = np.sum(list(RATINGS.values()), axis=0)
    for name, ratings in RATINGS.items():
        assert truth[name] == pytest.approx(np.array(ratings) / total)
    panels = KEY_ROUNDS.data(raced)
    assert panels["round"][0] is None
    assert panels["truth"][0] is None
    assert panels["truth"].is_not_null().any()


def test_of_who_is_first_among_those_still_in_the_truth_is_among_them(kinds):
    context = kinds["one round"]
    entry = context.rounds[-1]
    truth = truth_of(context)
    among = truth_after(context, entry)
    inside = entry.state.candidates
    total = sum(truth[name] for name in inside)
    assert among[inside[0]] == pytest.approx(truth[inside[0]] / total)
    assert sum(among[name] for name in inside) == pytest.approx(1)


def test_other_problems_have_no_truth(kinds):
    assert truth_of(kinds["failures"]) is None


def test_bars_join_neighbours_that_are_not_told_apart():
    better = np.zeros((4, 4), dtype=bool)
    better[0, 2] = better[0, 3] = better[1, 3] = True
    assert groups(better) == [(0, 1), (1, 2), (2, 3)]
    assert groups(np.zeros((3, 3), dtype=bool)) == [(0, 2)]
    assert groups(np.triu(np.ones((3, 3), dtype=bool), 1)) == []


def test_one_budget_is_shown_at_the_time_asked_for(raced: ReportContext):
    first = float(raced.times[0])
    last = float(raced.times[-1])
    assert ONE_BUDGET.data(replace(raced, at=first))["t"][0] == first
    data = ONE_BUDGET.data(raced)
    assert data["t"][0] == last
    assert data["mean"].to_list() == sorted(data["mean"], reverse=True)


def test_a_font_that_is_not_there_is_refused_with_the_nearest():
    with pytest.raises(PolarBearError, match="no font 'DejaVu Sanz' here; did you mean 'DejaVu"):
        validate(Style, {"font": "DejaVu Sanz"}, Source("figures"))


@pytest.mark.slow
@pytest.mark.tex
def test_pdflatex_reads_the_kit_of_hostile_names_without_an_error(kinds, tmp_path: Path):
    """This needs a TeX system; without one, only the tests of escaping cover the same names."""
    write_kit(kinds["hostile names"], tmp_path, Style())
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "kit.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:].decode("utf-8", "replace")
    assert (tmp_path / "kit.pdf").is_file()
