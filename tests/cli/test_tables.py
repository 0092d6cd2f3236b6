"""Tables and lines as text: how wide they are, and how they fold on a narrow screen."""

from __future__ import annotations

import io
import os
import sys

import pytest
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable

from polarbear.cli import common
from polarbear.cli.tables import Table, folded, width

ROWS = [
    ("algorithm", "standing", "runs#"),
    ("random search", "out", "16"),
    ("Powell [red]", "settled for the whole of the grid", "4,000"),
    ("日本語", "", "3"),
]


def made() -> Table:
    titles, *rows = ROWS
    table = Table(*titles)
    for row in rows:
        table.add_row(*row)
    return table


def test_a_table_looks_as_rich_draws_it():
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ROWS[0]:
        justify = "right" if title.endswith("#") else "left"
        drawn.add_column(title.removesuffix("#"), justify=justify)
    for row in ROWS[1:]:
        drawn.add_row(*(cell.replace("[", "\\[") for cell in row))
    written = io.StringIO()
    Console(file=written, width=100).print(drawn)
    lines = [line.rstrip() for line in written.getvalue().rstrip("\n").split("\n")]
    assert made().lines() == lines


@pytest.mark.parametrize("most", [12, 20, 30, 45, 80])
def test_a_table_fits_a_narrow_screen_and_loses_no_sign(most: int):
    lines = made().lines(most)
    assert max(map(width, lines)) <= most
    signs = sorted(sign for row in ROWS for cell in row for sign in cell if not sign.isspace())
    signs.remove("#")
    assert sorted(sign for line in lines for sign in line if sign not in " ─") == signs


def test_numbers_stand_at_the_right_on_every_line_that_they_fold_to():
    table = Table("a", "n#")
    table.add_row("x", "12 345 long")
    assert table.lines(9) == [
        "",
        " a      n",
        " ────────",
        " x     12",
        "      345",
        "     long",
        "",
    ]


def test_words_are_cut_only_where_folding_between_them_is_not_enough():
    table = Table("algorithm", "likeliest best")
    table.add_row("Nelder-Mead", "50 .. 1117")
    assert table.lines(24)[1:3] == [" algorithm     likeliest", "               best"]
    assert table.lines(22)[1:3] == [" algorithm   likeliest", "             best"]
    assert table.lines(18)[1:3] == [" algorith likelies", " m        t best"]


@pytest.mark.parametrize("text", ["plain", "日本語", "é", "e\u0301", "한글 and more", "ﬁ", "½…α"])
def test_texts_are_as_wide_as_rich_says(text: str):
    assert width(text) == cell_len(text)


def test_lines_fold_between_words_and_words_are_cut_only_if_they_must_be():
    assert folded("to be or not to be", 8) == ["to be or", "not to", "be"]
    assert folded("  indented by two", 10) == ["  indented", "by two"]
    assert folded("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert folded("ab cdefgh ij", 4) == ["ab", "cdef", "gh", "ij"]
    assert folded("日本語", 4) == ["日本", "語"]
    assert folded("", 4) == [""]


def test_results_are_folded_on_a_terminal_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    line = "word " * 40 + "end"
    common.show(line)
    assert capsys.readouterr().out == f"{line}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setitem(os.environ, "COLUMNS", "30")
    common.show(line)
    common.show(made())
    printed = capsys.readouterr().out
    assert printed.replace("\n", " ").startswith(line)
    assert max(map(width, printed.split("\n"))) <= 30


def test_a_rule_is_of_signs_that_the_output_has(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("polarbear.cli.streams.is_unicode", lambda: False)
    common.show(made())
    printed = capsys.readouterr().out
    assert "─" not in printed
    assert "-----" in printed
