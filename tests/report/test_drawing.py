"""Figures as files: whole, refused where one is there, the same bytes again."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from polarbear.errors import ReportError
from polarbear.report.figures import FIGURES
from polarbear.report.figures.figure_files import write_figures
from polarbear.report.figures.style import Style
from polarbear.report.page.sections import pareto
from polarbear.report.page.templating import source, templates
from polarbear.report.story import tell

QUICK = Style(width="single", dpi=50)


@pytest.mark.slow
def test_files_have_the_names_of_figures_and_what_they_say(raced, tmp_path):
    names = ["ratings", "rounds"]
    written = write_figures(raced, tmp_path, ["png", "pdf", "svg"], names, QUICK, csv=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"{name}.{ending}" for name in names for ending in ("png", "pdf", "svg", "csv")
    )
    assert {path.name for path in written} == {path.name for path in tmp_path.iterdir()}
    assert (tmp_path / "ratings.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "ratings.pdf").read_bytes().startswith(b"%PDF")
    text = "".join(ElementTree.parse(tmp_path / "ratings.svg").getroot().itertext())
    assert "share of firsts" in text  # as text, not as outlines
    assert pl.read_csv(tmp_path / "rounds.csv").columns == FIGURES["rounds"].data(raced).columns


@pytest.mark.slow
def test_the_same_store_gives_the_same_bytes(raced, tmp_path):
    for folder in ("one", "two"):
        write_figures(raced, tmp_path / folder, ["png", "pdf", "svg"], ["rounds"], QUICK, csv=True)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
    assert b"CreationDate" not in (tmp_path / "one" / "rounds.pdf").read_bytes()
    assert re.search(rb"/FontFile2|/Type42|/CIDFontType2", _pdf(tmp_path / "one" / "rounds.pdf"))


def test_a_file_that_is_there_is_not_written_over_unless_forced(raced, tmp_path):
    (tmp_path / "rounds.svg").write_text("mine")
    with pytest.raises(ReportError, match="rounds.svg exists already; write over it with --force"):
        write_figures(raced, tmp_path, ["svg"], ["ratings", "rounds"], QUICK)
    assert [path.name for path in tmp_path.iterdir()] == ["rounds.svg"]
    write_figures(raced, tmp_path, ["svg"], ["rounds"], QUICK, force=True)
    assert "mine" not in (tmp_path / "rounds.svg").read_text()


def test_unknown_names_and_formats_are_refused_with_the_nearest(raced, tmp_path):
    with pytest.raises(ReportError, match="unknown figure 'rating'; did you mean 'ratings'?"):
        write_figures(raced, tmp_path, ["png"], ["rating"])
    with pytest.raises(ReportError, match="unknown format of figures 'pgn'; did you mean 'png'?"):
        write_figures(raced, tmp_path, ["pgn"])  # type: ignore[list-item]
    assert not list(tmp_path.iterdir())


def test_a_figure_asked_for_by_name_that_is_not_there_is_explained(raced, tmp_path):
    with pytest.raises(ReportError, match="no figure 'failures' for this store: no run has failed"):
        write_figures(raced, tmp_path, ["png"], ["failures"])


def test_without_names_all_that_is_there_is_written(kinds, tmp_path):
    context = kinds["runs only"]
    there = {name for name, figure in FIGURES.items() if figure.missing(context) is None}
    written = write_figures(context, tmp_path, ["svg"], style=QUICK)
    assert {path.stem for path in written} == there


def test_a_folder_that_cannot_be_written_to_is_named(raced, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match="cannot write .*file/ratings.svg: .*; name another"):
        write_figures(raced, tmp_path / "file", ["svg"], ["ratings"], QUICK)


def test_matplotlib_is_left_as_it_was(raced, tmp_path):
    import matplotlib

    before = dict(matplotlib.rcParams)
    write_figures(raced, tmp_path, ["svg"], ["ratings"], Style(theme="dark"))
    assert dict(matplotlib.rcParams) == before


def _pdf(path: Path) -> bytes:
    return path.read_bytes()


def test_the_pictures_of_the_readme_are_there_in_both_themes_and_small():
    root = Path(__file__).parents[2]
    readme = (root / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r'(?:srcset|src)="(docs/pictures/[^"]+)"', readme)
    assert len(shown) == 2
    script = (root / "docs" / "draw.py").read_text(encoding="utf-8")
    for path in shown:
        figure, _, theme = Path(path).stem.rpartition("-")
        assert f'"{figure}"' in script
        assert f'"{theme}"' in script
    for path in (root / "docs" / "pictures").glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("<?xml")
        assert len(text) < 50_000


def test_paper_tells_who_is_out(raced):
    section = pareto(raced, tell(raced))
    made = templates().get_template("sections/pareto.html").render(section=section, context=raced)
    on_paper = made[made.index('class="on-paper"') : made.index("<details>")]
    assert all(f">{gone.algorithm}</bdi>" in on_paper for gone in raced.race.eliminated)
    screen, _, paper = source("style.css").partition("@media print")
    assert ".on-paper { display: none; }" in screen
    assert ".on-paper { display: block; }" in paper
