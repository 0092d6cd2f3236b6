"""Results and notes as text: what is printed, how wide it is, and onto which streams."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from rich.cells import cell_len

from polarbear.api.text_table import table_lines
from polarbear.cli import output
from tests.support import Project, no_space

HOSTILE = "a\x1b[2J\x1b]0;title\x07b\x9b31m\u202ec\x7f"
SHOWN = "a\\x1b[2J\\x1b]0;title\\x07b\\x9b31m\\u202ec\\x7f"
BEAR = "漢字 \U0001f43b"
TABLE = f"algorithm,instance,t,y\n{BEAR},i,1,2\nB,i,1,3\n"
TITLES = ("algorithm", "standing", "runs#")
ROWS = [
    ("random search", "out", "16"),
    ("Powell [red]:bug:", "settled for the whole of the grid", "4,000"),
    ("日本語", "", "3"),
]


@pytest.fixture(autouse=True)
def not_quiet() -> None:
    """An earlier test in this process may have called a command with --quiet."""
    output.set_quiet(False)


def test_tables_lines_and_notes_show_controls_instead_of_obeying_them(capsys):
    output.show_table(["algorithm", f"{HOSTILE}#"], [(HOSTILE, "1")])
    output.show(HOSTILE)
    output.note(f"{HOSTILE}\nsecond line")
    printed = capsys.readouterr()
    assert printed.out.count(SHOWN) == 3
    assert all(sign.isprintable() or sign == "\n" for sign in printed.out)
    assert printed.err == f"{SHOWN}\nsecond line\n"


def test_json_holds_the_same_text_without_a_control_in_it(capsys: pytest.CaptureFixture[str]):
    output.print_json({"name": HOSTILE, "emoji": "\U0001f468\u200d\U0001f469"})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"name": HOSTILE, "emoji": "\U0001f468\u200d\U0001f469"}
    assert not set(printed) & set("\x1b\x07\x9b\u202e\x7f")


def test_numbers_are_aligned_to_the_right():
    assert table_lines(TITLES, ROWS) == [
        "",
        " algorithm           standing                             runs",
        " ─────────────────────────────────────────────────────────────",
        " random search       out                                    16",
        " Powell [red]:bug:   settled for the whole of the grid   4,000",
        " 日本語                                                      3",
        "",
    ]


@pytest.mark.parametrize("width", [20, 30, 45, 80])
def test_a_table_fits_a_narrow_screen_and_loses_no_sign(width: int):
    lines = table_lines(TITLES, ROWS, width)
    assert max(map(cell_len, lines)) <= width
    signs = sorted(
        sign for row in (TITLES, *ROWS) for cell in row for sign in cell if not sign.isspace()
    )
    signs.remove("#")
    assert sorted(sign for line in lines for sign in line if sign not in " ─") == signs


def test_results_are_folded_on_a_terminal_and_nowhere_else(monkeypatch, capsys):
    line = "word " * 40 + "[red]:heart:"
    output.show(line)
    assert capsys.readouterr().out == f"{line}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setitem(os.environ, "COLUMNS", "30")
    output.show(line)
    output.show_table(TITLES, ROWS)
    printed = capsys.readouterr().out
    assert printed.replace("\n", " ").startswith(line)
    assert max(map(cell_len, printed.split("\n"))) <= 30


def in_shell(project: Project, line: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command in a shell, which can close streams; POLARBEAR is replaced by the program."""
    return subprocess.run(
        ["sh", "-c", line.replace("POLARBEAR", f"{sys.executable} -m polarbear")],
        cwd=project.folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a disk that is always full")
def test_output_onto_a_full_disk_is_an_error_of_one_line(project: Project):
    done = in_shell(project, "POLARBEAR schema >/dev/full")
    assert done.returncode == 1
    assert done.stderr == "polarbear: No space left on device; --debug shows where it arose\n"


def test_a_command_whose_streams_are_closed_does_its_work(project: Project):
    (project.folder / "x.csv").write_text(TABLE)
    done = in_shell(project, "POLARBEAR import x.csv --store s <&- >&- 2>&-")
    assert done.returncode == 0
    assert project.json("status", "s")["runs"] == 2
    assert "polarbear:" not in (project.folder / "s" / "lock").read_text()


def test_signs_that_the_output_cannot_encode_are_escaped(project: Project):
    (project.folder / "x.csv").write_text(TABLE)
    project("import", "x.csv", "--store", "s")
    status_text = in_shell(project, "POLARBEAR status s", PYTHONIOENCODING="latin-1")
    assert status_text.returncode == 0, status_text.stderr
    assert "\\u6f22\\u5b57 \\U0001f43b" in status_text.stdout
    assert "-----" in status_text.stdout  # the rule of the table
    status_json = in_shell(project, "POLARBEAR status s --json", PYTHONIOENCODING="latin-1")
    assert json.loads(status_json.stdout)["algorithms"] == project.json("status", "s")["algorithms"]


def test_a_note_that_cannot_be_written_ends_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(typer, "echo", no_space)
    output.note("round 3 is decided")
