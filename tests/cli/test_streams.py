"""Where output goes may be full, closed, or without the signs that are to be shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from polarbear.cli import common
from tests.support import Project

COMMAND = [sys.executable, "-m", "polarbear"]
BEAR = "漢字 \U0001f43b"
TABLE = f"algorithm,instance,t,y\n{BEAR},i,1,2\nB,i,1,3\n"


def run(project: Project, line: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command in a shell, which can close what it is given; POLARBEAR stands for its program."""
    return subprocess.run(
        ["sh", "-c", line.replace("POLARBEAR", " ".join(COMMAND))],
        cwd=project.folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a disk that is always full")
def test_output_onto_a_full_disk_is_an_error_of_one_line(project: Project):
    done = run(project, "POLARBEAR schema >/dev/full")
    assert done.returncode == 1
    assert done.stderr == "polarbear: No space left on device; --debug shows where it arose\n"


def test_a_command_whose_streams_are_closed_does_what_it_is_for(project: Project):
    (project.folder / "x.csv").write_text(TABLE)
    done = run(project, "POLARBEAR import x.csv --store s <&- >&- 2>&-")
    assert done.returncode == 0
    assert project.json("status", "s")["runs"] == 2
    assert "polarbear:" not in (project.folder / "s" / "lock").read_text()


def test_signs_that_output_cannot_show_are_written_out(project: Project):
    (project.folder / "x.csv").write_text(TABLE)
    project("import", "x.csv", "--store", "s")
    shown = run(project, "POLARBEAR status s", PYTHONIOENCODING="latin-1")
    assert shown.returncode == 0, shown.stderr
    assert "\\u6f22\\u5b57 \\U0001f43b" in shown.stdout
    told = run(project, "POLARBEAR status s --json", PYTHONIOENCODING="latin-1")
    assert json.loads(told.stdout)["algorithms"] == project.json("status", "s")["algorithms"]


def test_a_note_that_cannot_be_written_ends_nothing(monkeypatch: pytest.MonkeyPatch):
    def full(text: str, err: bool) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(typer, "echo", full)
    common.note("round 3 is decided")
