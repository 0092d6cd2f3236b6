"""What commands load that run nothing: as little as answers them, since loading takes longest."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from tests.sharing import filled_once
from tests.support import Project

# Packages and heavy parts of them; what they load in turn is theirs to choose.
WATCHED = (
    *("cma", "cmdstanpy", "ioh", "jinja2", "llvmlite", "matplotlib", "modcma", "moocore", "numba"),
    *(
        "numpy",
        "numpy.ma",
        "nutpie",
        "pandas",
        "plotly",
        "polars",
        "psutil",
        "pyarrow",
        "pyarrow.compute",
    ),
    *("pyarrow.dataset", "pydantic", "rich", "scipy", "scipy.interpolate", "scipy.sparse"),
    *("scipy.stats", "threadpoolctl", "xarray", "yaml"),
)
CHOOSING = {"numpy", "pyarrow", "pydantic"}
CONFIGURED = CHOOSING | {"yaml"}
SMOOTHING = {"numpy.ma", "scipy", "threadpoolctl"}
MAY_LOAD = {
    ("--help",): set(),
    ("status", "config"): CHOOSING,
    ("select", "config", "--preference", "at 100"): CHOOSING,
    ("race", "config.yaml"): CONFIGURED,  # which is finished
    ("run", "config.yaml", "--instances", "1"): CONFIGURED | {"psutil"},  # nothing to run
    ("infer", "config"): CHOOSING | {"numpy.ma"},  # for the second time
    # of the default model, on a grid of its own, of which nothing is kept
    ("infer", "config", "--grid", "10,100", "--set", "draws=500"): CONFIGURED | SMOOTHING,
}

# Of our own: what makes the records that others only read.
DECIDING = (
    *("polarbear.rankings.choice_sets", "polarbear.inference.fit", "polarbear.inference.relations"),
    *("polarbear.racing.decisions", "polarbear.racing.forecasting", "polarbear.execution.outcome"),
)

LISTING = """
import json, sys
before = set(sys.modules)
sys.argv = ["polarbear", *sys.argv[2:]]
from polarbear.cli import main
try:
    main()
finally:
    watched = set(json.loads({watched!r}))
    open({path!r}, "w").write(json.dumps(sorted(watched & (set(sys.modules) - before))))
"""


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A race that is over, among its algorithms one whose package takes a second to load."""

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


def loaded(folder: Path, command: tuple[str, ...], watched: tuple[str, ...]) -> set[str]:
    """Which of these modules a command loads."""
    listed = folder.parent / f"{uuid4().hex}.json"
    done = subprocess.run(
        [
            *(sys.executable, "-c"),
            LISTING.format(watched=json.dumps(watched), path=str(listed)),
            *("polarbear", *command),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 3), done.stderr
    return set(json.loads(listed.read_text()))


@pytest.mark.parametrize("command", MAY_LOAD, ids=" ".join)
def test_a_command_that_runs_nothing_loads_only_what_it_may(
    command: tuple[str, ...], finished: Path
):
    assert loaded(finished, command, WATCHED) - MAY_LOAD[command] == set()


def test_who_reads_a_race_loads_nothing_that_decides_one(finished: Path):
    assert loaded(finished, ("status", "config"), DECIDING) == set()
    for name in DECIDING:  # or it would hold of names that nothing bears
        importlib.import_module(name)


def test_a_race_that_runs_and_stores_something_loads_no_pandas(project: Project):
    assert importlib.util.find_spec("pandas"), "where there is none, nobody can load it"
    path = project.configure(
        algorithms=[
            {"name": "random", "use": "random-search"},
            {"name": "Nelder-Mead", "use": "scipy", "method": "nelder-mead"},
        ],
        race={"limits": {"rounds": 2}},
    )
    assert loaded(project.folder, ("race", str(path), "-q"), ("pandas", "pyarrow")) == {"pyarrow"}


def test_a_race_with_something_to_run_says_before_it_that_an_algorithm_cannot(finished: Path):
    """What is not prepared for a finished race is prepared for one that goes on."""
    project = Project(finished.parent / "goes-on")
    project.folder.mkdir()
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
