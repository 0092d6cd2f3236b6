"""Whatever a store, a file or a program says, a terminal only shows it."""

from __future__ import annotations

import io
import json

import pytest

from polarbear.cli import common
from polarbear.cli.harmless import HarmlessConsole

HOSTILE = "a\x1b[2J\x1b]0;title\x07b\x9b31m\u202ec\x7f"
SHOWN = "a\\x1b[2J\\x1b]0;title\\x07b\\x9b31m\\u202ec\\x7f"


def test_a_table_and_a_line_show_controls_instead_of_obeying_them():
    written = io.StringIO()
    console = HarmlessConsole(file=written, width=200)
    table = common.table("algorithm")
    table.add_row(HOSTILE)
    console.print(table)
    console.print(HOSTILE, markup=False)
    assert written.getvalue().count("\\x1b[2J") == 2
    assert all(sign.isprintable() or sign == "\n" for sign in written.getvalue())


def test_colours_of_our_own_still_reach_a_terminal():
    written = io.StringIO()
    console = HarmlessConsole(file=written, width=80, force_terminal=True, color_system="standard")
    console.print("[red]word[/]")
    assert "\x1b[31mword" in written.getvalue()


def test_notes_and_errors_show_controls_and_keep_their_lines(capsys: pytest.CaptureFixture[str]):
    common.note(f"{HOSTILE}\nsecond line")
    assert capsys.readouterr().err == f"{SHOWN}\nsecond line\n"


def test_json_holds_the_same_text_without_a_control_in_it(capsys: pytest.CaptureFixture[str]):
    common.print_json({"name": HOSTILE, "emoji": "\U0001f468\u200d\U0001f469"})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"name": HOSTILE, "emoji": "\U0001f468\u200d\U0001f469"}
    assert not set(printed) & set("\x1b\x07\x9b\u202e\x7f")


def test_a_name_between_colons_stays_a_name(capsys: pytest.CaptureFixture[str]):
    names = common.table("algorithm")
    names.add_row(":bug:")
    common.console().print(":heart:", names, markup=False)
    printed = capsys.readouterr().out
    assert ":heart:" in printed
    assert ":bug:" in printed
