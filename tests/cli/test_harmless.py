"""Whatever a store, a file or a program says, a terminal only shows it."""

from __future__ import annotations

import json

import pytest

from polarbear.cli import common
from polarbear.cli.tables import Table

HOSTILE = "a\x1b[2J\x1b]0;title\x07b\x9b31m\u202ec\x7f"
SHOWN = "a\\x1b[2J\\x1b]0;title\\x07b\\x9b31m\\u202ec\\x7f"


def test_a_table_and_a_line_show_controls_instead_of_obeying_them(
    capsys: pytest.CaptureFixture[str],
):
    table = Table("algorithm", f"{HOSTILE}#")
    table.add_row(HOSTILE, "1")
    common.show(table)
    common.show(HOSTILE)
    printed = capsys.readouterr().out
    assert printed.count(SHOWN) == 3
    assert all(sign.isprintable() or sign == "\n" for sign in printed)


def test_notes_and_errors_show_controls_and_keep_their_lines(capsys: pytest.CaptureFixture[str]):
    common.note(f"{HOSTILE}\nsecond line")
    assert capsys.readouterr().err == f"{SHOWN}\nsecond line\n"


def test_json_holds_the_same_text_without_a_control_in_it(capsys: pytest.CaptureFixture[str]):
    common.print_json({"name": HOSTILE, "emoji": "\U0001f468\u200d\U0001f469"})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"name": HOSTILE, "emoji": "\U0001f468\u200d\U0001f469"}
    assert not set(printed) & set("\x1b\x07\x9b\u202e\x7f")


def test_a_name_that_looks_like_markup_stays_a_name(capsys: pytest.CaptureFixture[str]):
    names = Table("algorithm")
    names.add_row("[red]:bug:")
    common.show(names)
    common.show("[red]:heart:")
    printed = capsys.readouterr().out
    assert "[red]:heart:" in printed
    assert "[red]:bug:" in printed
