"""The progress of a race: the live display, and `polarbear status` in another terminal."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from polarbear.api.experiments import AlgorithmProgress
from polarbear.cli.progress_display import BAR_COLUMNS, History, bar
from polarbear.racing import Elimination, Threat
from polarbear.store import progress_file
from tests.support import Project, solver

LONG = [f"configuration {'x' * 60} population {size}" for size in (10, 100)]


def record(names: list[str], out: dict[str, float], threats: dict[str, float]) -> Any:
    gone = tuple(Elimination(name, names[0], 1, 8, p) for name, p in out.items())
    state = SimpleNamespace(algorithms=tuple(names), eliminated=gone)
    threatened = {name: Threat(names[0], p) for name, p in threats.items()}
    return cast(Any, SimpleNamespace(state=state, threats=threatened))


def test_every_algorithm_has_a_line_before_anything_is_known():
    history = History()
    assert history.lines([]) == []
    history.enter(["A", "B"])
    _, first, second = history.lines([AlgorithmProgress("B", runs=1, failed=1)])
    assert first.split() == ["A", "?", "0", "runs"]
    assert second.split() == ["B", "?", "1", "run,", "1", "failed"]


def test_a_curve_grows_by_a_round_and_ends_at_the_elimination():
    history = History()
    history.ends(record(["A", "B"], {}, {"A": 0.0, "B": 0.5}))
    history.ends(record(["A", "B"], {"B": 1.0}, {"A": 0.0}))
    history.ends(record(["A", "B"], {"B": 1.0}, {"A": 0.25}))
    _, first, second = history.lines([])
    assert first.split()[:3] == ["A", "▂", "0.25"]
    assert second.split()[:4] == ["B", "▄█", "1.00", "eliminated,"]


def test_long_names_and_many_rounds_fit_into_80_columns_and_stay_distinct():
    history = History()
    for _ in range(200):
        history.ends(record(LONG, {}, dict.fromkeys(LONG, 0.5)))
    lines = history.lines([AlgorithmProgress(name, runs=2000, failed=2000) for name in LONG])
    assert max(map(len, lines)) <= 80
    assert len({line.split("  ")[0] for line in lines}) == 3


def test_the_bar_is_as_long_as_the_share_that_is_done():
    half = BAR_COLUMNS // 2
    assert bar(20, 40) == "█" * half + "░" * half
    assert bar(40, 40) == "█" * BAR_COLUMNS
    assert bar(0, 40) == bar(0, 0) == "░" * BAR_COLUMNS


@pytest.mark.slow
def test_another_terminal_sees_how_a_race_goes_and_that_it_was_killed(
    project: Project, wait_until: Any
):
    go = project.folder / "go"
    project.configure(
        algorithms=[solver("coordinate_descent"), solver("waits", until=str(go))],
        race={"limits": {"rounds": 1}},
        inference={"draws": 400},
    )
    begun = project.start("race", "config.yaml", "--no-check", "-q")

    def one_is_done() -> bool:
        told = progress_file.read(project.store)
        return told is not None and told.alive and told.facts["done"] >= 1

    try:
        wait_until(one_is_done)
        seen = project.json("status", "config")
        shown = project("status", "config").stdout
    finally:
        os.killpg(begun.pid, signal.SIGKILL)
        begun.communicate()
    now = seen["under_way"]
    assert now["pid"] == begun.pid
    assert (now["round"], now["doing"], now["runs"]) == (1, "running", 16)
    rows = {row["algorithm"]: row for row in now["algorithms"]}
    assert rows["waits"]["round_runs"] == 8
    assert rows["waits"]["round_done"] == rows["waits"]["runs"] == 0
    assert rows["coordinate_descent"]["runs"] >= 1
    assert sum(worker["runs"] for worker in now["workers"]) == rows["coordinate_descent"]["runs"]
    assert now["left_in_round"] is not None
    assert seen["killed"] is None
    assert "round 1: " in shown
    assert "at this speed: " in shown
    wait_until(lambda: not progress_file.read(project.store).alive)  # type: ignore[union-attr]
    seen = project.json("status", "config")
    assert seen["under_way"] is None
    assert (seen["killed"]["pid"], seen["killed"]["round"]) == (begun.pid, 1)
    assert "a race was killed in round 1, " in project("status", "config").stdout
    go.touch()
    project("race", "config.yaml", "--no-check", "-q")
    seen = project.json("status", "config")
    assert (seen["under_way"], seen["killed"]) == (None, None)
    assert not (project.store / progress_file.PROGRESS).exists()


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "7", '{"layout": 1}', '{"layout": 1, "pid": "x", "host": 3}']
)
def test_a_file_of_that_name_that_is_something_else_is_left_alone(project: Project, content: str):
    project.configure()
    project("run", "config.yaml", "--instances", "1", "-q")
    Path(project.store / progress_file.PROGRESS).write_text(content)
    seen = json.loads(project("status", "config", "--json").stdout)
    assert (seen["under_way"], seen["killed"]) == (None, None)
