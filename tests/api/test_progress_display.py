"""The progress of a race: the live display, and `polarbear status` in another terminal."""

import json
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import polarbear as pb
from polarbear.api.progress_display import BAR_COLUMNS, RaceProgress, bar
from polarbear.driver.race_progress import LiveProgress
from polarbear.store import StoreOnDisk
from polarbear.store.writer import PROGRESS, read_progress
from tests.api.conftest import configuration
from tests.support import Project, solver


def test_a_terminal_shows_the_standings_and_the_runs_of_the_round(project, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    project.configure(race={"limits": {"rounds": 1}}, inference={"draws": 400})
    project("race", "config.yaml", "-q")
    progress = RaceProgress(StoreOnDisk.open(project.store), print)
    lines = progress.picture()
    assert lines[1].split() == ["algorithm", "status", "problems", "evaluations", "reason"]
    assert {line.split()[0] for line in lines[3:5]} == {"random", "coordinate_descent"}
    assert lines[-1].startswith("starting")
    state = SimpleNamespace(round=1, joining=None, algorithms=())
    begun = SimpleNamespace(state=state, tasks=[], horizons={}, drawn=8, workers=2)
    progress.begins(cast(Any, begun))
    assert progress.picture()[-1].startswith("round 2: 0 of 0 runs; 0 algorithms on 8 instances")


def test_a_notebook_shows_the_progress_below_its_cell(monkeypatch, tmp_path):
    outputs: list[str] = []
    cell = SimpleNamespace(update=outputs.append)
    display = SimpleNamespace(
        HTML=str, display=lambda html, display_id: outputs.append(html) or cell
    )
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=True))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    pb.race(configuration(race={"limits": {"rounds": 1}}), tmp_path / "raced")
    assert outputs[0] == "<pre>starting</pre>"
    assert "1 round, 8 problems" in outputs[-1]
    assert "&lt;b&gt;C&lt;/b&gt;" in outputs[-1]
    pb.race(configuration(), tmp_path / "silent", listener=pb.Listener())
    assert "2 round" not in outputs[-1]


def test_the_bar_is_as_long_as_the_share_that_is_done():
    half = BAR_COLUMNS // 2
    assert bar(20, 40) == "█" * half + "░" * half
    assert bar(40, 40) == "█" * BAR_COLUMNS
    assert bar(0, 40) == bar(0, 0) == "░" * BAR_COLUMNS


@pytest.mark.slow
def test_another_terminal_sees_how_a_race_goes_and_that_it_was_killed(project, wait_until):
    go = project.folder / "go"
    project.configure(
        algorithms=[solver("coordinate_descent"), solver("waits", until=str(go))],
        race={"limits": {"rounds": 1}},
        inference={"draws": 400},
    )
    begun = project.start("race", "config.yaml", "--no-check", "-q")

    def one_is_done() -> bool:
        progress = read_progress(project.store, LiveProgress)
        return progress is not None and progress[0] and progress[1]["done"] >= 1

    try:
        wait_until(one_is_done)
        status = project.json("status", "config")
        printed = project("status", "config").stdout
    finally:
        os.killpg(begun.pid, signal.SIGKILL)
        begun.communicate()
    now = status["under_way"]
    assert now["pid"] == begun.pid
    assert (now["round"], now["doing"], now["runs"]) == (1, "running", 16)
    rows = {row["algorithm"]: row for row in now["algorithms"]}
    assert rows["waits"]["round_runs"] == 8
    assert rows["waits"]["round_done"] == rows["waits"]["runs"] == 0
    assert rows["coordinate_descent"]["runs"] >= 1
    assert sum(worker["runs"] for worker in now["workers"]) == rows["coordinate_descent"]["runs"]
    assert now["left_in_round"] is not None
    assert status["killed"] is None
    assert "round 1: " in printed
    assert "at this speed: " in printed
    wait_until(lambda: not read_progress(project.store, LiveProgress)[0])  # type: ignore[union-attr]
    status = project.json("status", "config")
    assert status["under_way"] is None
    assert (status["killed"]["pid"], status["killed"]["round"]) == (begun.pid, 1)
    assert "a race was killed in round 1, " in project("status", "config").stdout
    go.touch()
    project("race", "config.yaml", "--no-check", "-q")
    status = project.json("status", "config")
    assert (status["under_way"], status["killed"]) == (None, None)
    assert not (project.store / PROGRESS).exists()


def test_a_file_of_that_name_that_is_something_else_is_left_alone(project: Project):
    project.configure()
    project("run", "config.yaml", "--instances", "1", "-q")
    for content in ("", "{", "[]", "7", '{"began": 1}', '{"pid": "x", "host": 3}'):
        Path(project.store / PROGRESS).write_text(content)
        status = project.json("status", "config")
        assert (status["under_way"], status["killed"]) == (None, None)
    short = {"pid": 1, "host": "h", "began": 1e308}
    Path(project.store / PROGRESS).write_text(json.dumps(short))
    killed = project.json("status", "config")["killed"]
    assert killed == {"pid": 1, "host": "h", "round": 0, "written": 0.0}
