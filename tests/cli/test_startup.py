"""The time that users wait for commands which run nothing: mostly imports."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sharing import filled_once
from tests.support import Project

REPETITIONS = 3  # the least of them is compared
REFERENCE = ("-c", "import numpy, polars")
MAX_RATIO = {
    ("-c", "import polarbear"): 0.3,
    ("-m", "polarbear", "--help"): 1.0,
    ("-m", "polarbear", "status", "config"): 2.5,
    ("-m", "polarbear", "select", "config", "--preference", "at 100"): 2.5,
    ("-m", "polarbear", "infer", "config"): 2.5,  # whose posterior is stored
    ("-m", "polarbear", "race", "config.yaml"): 2.5,  # which is finished
}


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished race, among its algorithms one whose package takes long to import."""

    def fill(folder: Path) -> None:
        project = Project(folder)
        project.configure(
            algorithms=[
                {"name": "random", "use": "random-search"},
                {"name": "CMA-ES", "use": "cma"},
            ],
            race={"limits": {"rounds": 1}},
        )
        done = project("race", "config.yaml", "-q")
        assert done.returncode in (0, 3), done.stderr
        assert project("infer", "config").returncode == 0

    return filled_once(tmp_path_factory, "a finished race", fill)


def cpu_seconds(folder: Path, *arguments: str) -> float:
    """CPU time of one call of Python."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in (0, 3), done.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("command", MAX_RATIO, ids=" ".join)
def test_a_command_that_runs_nothing_takes_about_as_long_as_its_imports(
    command: tuple[str, ...], finished: Path
):
    pairs = [
        (cpu_seconds(finished, *REFERENCE), cpu_seconds(finished, *command))
        for _ in range(REPETITIONS)
    ]
    reference, taken = map(min, zip(*pairs, strict=True))
    assert taken <= MAX_RATIO[command] * reference


def test_a_race_that_continues_checks_first_that_its_algorithms_can_be_run(project: Project):
    """A finished race prepares no algorithm; a race that continues prepares all of them."""
    project.configure(
        algorithms=[
            {"name": "random", "use": "random-search"},
            {"name": "solver", "use": "command", "command": "./solver {seed}"},
        ],
        race={"limits": {"rounds": 1}},
    )
    solver = project.folder / "solver"
    solver.write_text("#!/bin/sh\necho 1 1\n")
    solver.chmod(0o755)
    assert project("race", "config.yaml", "-q").returncode in (0, 3)
    solver.chmod(0o644)  # the same program, but it cannot be started
    assert project("race", "config.yaml", "-q").returncode in (0, 3)
    path = project.configure(
        algorithms=[
            {"name": "random", "use": "random-search"},
            {"name": "solver", "use": "command", "command": "./solver {seed}"},
        ],
        race={"limits": {"rounds": 2}},
    )
    done = project("race", path, "-q")
    assert done.returncode == 1
    assert "solver" in done.stderr
    assert len(list((project.store / "rounds").glob("round-*.json"))) == 1
