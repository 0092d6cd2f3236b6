"""The data of figures as CSV: what a spreadsheet shows, and does not compute."""

from __future__ import annotations

import io

import polars as pl
import pytest

from polarbear.report.figures.figure_files import as_csv


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@SUM(A1)", '=HYPERLINK("http://x")'])
def test_a_name_that_would_be_a_formula_is_text(name: str):
    data = pl.DataFrame({"algorithm": [name, "A"], "value": [-1.5, 2.0]})
    back = pl.read_csv(io.BytesIO(as_csv(data)))
    assert back["algorithm"].to_list() == [f"'{name}", "A"]
    assert back["value"].to_list() == [-1.5, 2.0]


def test_ordinary_names_and_empty_ones_stay_as_they_are():
    data = pl.DataFrame({"algorithm": ["a=b", "x, y", None], "value": [1, 2, 3]})
    assert pl.read_csv(io.BytesIO(as_csv(data)))["algorithm"].to_list() == ["a=b", "x, y", None]
