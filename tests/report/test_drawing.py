"""Figures as files: whole, refused where one is there, the same bytes again."""

import io
import re
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from polarbear.errors import ReportError
from polarbear.report.figures import FIGURES
from polarbear.report.figures.figure_files import as_csv, available, write_figures
from polarbear.report.figures.style import Style

QUICK = Style(width="single", dpi=50)


def write(context, folder, endings, only=None, style=QUICK, force=False) -> list[Path]:
    figures = available(context, only)
    return write_figures(figures, context, dict.fromkeys(endings, folder), style, force)


@pytest.mark.slow
def test_files_have_the_names_of_figures_and_the_same_store_gives_the_same_bytes(raced, tmp_path):
    names = ["ratings", "rounds"]
    endings = ["png", "pdf", "svg", "csv"]
    first_folder = tmp_path / "one"
    second_folder = tmp_path / "two"
    written = write(raced, first_folder, endings, names)
    assert {path.name for path in written} == {path.name for path in first_folder.iterdir()}
    assert {path.name for path in written} == {f"{n}.{ending}" for n in names for ending in endings}
    assert (first_folder / "ratings.png").read_bytes().startswith(b"\x89PNG")
    text = "".join(ElementTree.parse(first_folder / "ratings.svg").getroot().itertext())
    assert "share of firsts" in text  # as text, not as outlines
    assert pl.read_csv(first_folder / "rounds.csv").columns == FIGURES["rounds"].data(raced).columns
    write(raced, second_folder, endings, ["rounds"])
    for path in second_folder.iterdir():
        assert path.read_bytes() == (first_folder / path.name).read_bytes()
    pdf = (first_folder / "rounds.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert b"CreationDate" not in pdf
    assert re.search(rb"/FontFile2|/Type42|/CIDFontType2", pdf)


def test_a_file_that_is_there_is_not_written_over_unless_forced(raced, tmp_path):
    (tmp_path / "rounds.svg").write_text("mine")
    with pytest.raises(ReportError, match="rounds.svg exists already; write over it with --force"):
        write(raced, tmp_path, ["svg"], ["ratings", "rounds"])
    assert [path.name for path in tmp_path.iterdir()] == ["rounds.svg"]
    write(raced, tmp_path, ["svg"], ["rounds"], force=True)
    assert "mine" not in (tmp_path / "rounds.svg").read_text()


def test_a_spreadsheet_takes_no_name_for_a_formula():
    formulas = ["=1+1", "+x", "-x", "@SUM(A1)"]
    others = ["a=b", "x, y", None]
    data = pl.DataFrame({"algorithm": [*formulas, *others], "value": [-1.5] * 7})
    table_read = pl.read_csv(io.BytesIO(as_csv(data)))
    assert table_read["algorithm"].to_list() == [*(f"'{name}" for name in formulas), *others]
    assert table_read["value"].to_list() == [-1.5] * 7


def test_a_figure_that_a_store_does_not_have_is_refused_with_the_reason(raced, tmp_path):
    with pytest.raises(ReportError, match="no figure 'failures' for this store: no run has failed"):
        write(raced, tmp_path, ["png"], ["failures"])
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_to_is_named(raced, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match="cannot write .*file/ratings.svg: .*; name another"):
        write(raced, tmp_path / "file", ["svg"], ["ratings"])


def test_the_pictures_of_the_readme_are_there_in_both_themes_and_small():
    root = Path(__file__).parents[2]
    readme = (root / "README.md").read_text(encoding="utf-8")
    pictures = re.findall(r'(?:srcset|src)="(docs/pictures/[^"]+)"', readme)
    assert len(pictures) == 2
    script = (root / "docs" / "draw.py").read_text(encoding="utf-8")
    for path in pictures:
        figure, _, theme = Path(path).stem.rpartition("-")
        assert f'"{figure}"' in script
        assert f'"{theme}"' in script
    for path in (root / "docs" / "pictures").glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("<?xml")
        assert len(text) < 50_000
