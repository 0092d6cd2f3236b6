"""Every option of a configuration, crossed with every command that reads a store."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from tests.support import SOLVERS, Project, solver

RACE = {"limits": {"rounds": 2}, "batch": {"start": 8, "min": 4, "max": 8}, "alpha": 0.95}
SEVERAL = {"alpha": 0.9, "epsilon": 0.1, "tie_tolerance": 0.01}
HILL = {"suite": "python", "function": f"{SOLVERS}:hill", "maximise": True}
CLASSIC = {"suite": "classic", "dimensions": {"from": 2, "to": 3}}
SECONDS = {"axis": "seconds", "grid": {"from": 0.01, "to": 0.05, "points": 3}}

OPTIONS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "weights, common seeds": {
        "instances": {**CLASSIC, "weights": {"*-1": 3.0, "*-2": 0.5}},
        "seeds": "common",
    },
    "failed runs are last": {
        "algorithms": [
            {"name": "random", "use": "random-search"},
            solver("fails_sometimes", "other"),
        ],
        "execution": {"workers": 2, "failures": {"means": "last", "tolerated": 1.0}},
    },
    "failed runs end, linear grid": {
        "execution": {"workers": 2, "failures": {"means": "ends"}},
        "budget": {"grid": {"from": 5, "to": 80, "points": 4, "spacing": "linear"}},
    },
    "guarantee, no early runs": {
        "race": {**RACE, "guarantee": "anytime"},
        "execution": {"workers": 1, "early": 0, "check": False},
    },
    "pointwise elimination, limit of evaluations": {
        "race": {"elimination": "pointwise", "truncate": False, "limits": {"evaluations": 1000}},
    },
    "joint elimination, concentration": {
        "race": {**RACE, "elimination": "joint"},
        "inference": {"draws": 400, "concentration": 4.0},
    },
    "crossing resolution, batches by share": {
        "race": {**RACE, "resolution": "crossing", "batch": {"start": 8, "share": 0.5}},
    },
    "strict resolution, filled workers": {
        "race": {**RACE, "resolution": "strict"},
        "execution": {"workers": 2, "fill_workers": True},
    },
    "thresholds, limit of spent time": {"race": {**SEVERAL, "limits": {"spent": 1000}}},
    "seconds": {"budget": SECONDS},
    "one time": {"budget": {"grid": [50]}},
    "last values": {"trajectory": "last"},
    "maximise": {"instances": HILL},
    "dirichlet": {"inference": {"model": "dirichlet", "draws": 400}},
    "random walk": {"inference": {"model": "random-walk", "draws": 400}},
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "status": ("status", "config"),
    "status --json": ("status", "config", "--json"),
    "show --pair": ("show", "config", "--pair", "random,other"),
    "select": ("select", "config"),
    "select --json": ("select", "config", "--sweep", "--portfolio", "2", "--json"),
    "infer": ("infer", "config", "--pairs"),
    "report --html": ("report", "config", "--html", "page.html"),
    "report --text": ("report", "config", "--text"),
    "report --markdown": ("report", "config", "--markdown"),
    "report --json": ("report", "config", "--json"),
    "report --latex": ("report", "config", "--latex", "latex", "--force"),
    "report --png": ("report", "config", "--png", "figures", "--only", "leaders"),
    "compare": ("compare", "config", "--bootstrap", "100"),
    "export": ("export", "config", "--format", "csv", "--to", "runs.csv"),
    "verify": ("verify", "config"),
    "race": ("race", "config.yaml", "-q"),
    "race --json": ("race", "config.yaml", "-q", "--json"),
}
REFUSED = {("last values", "compare"): "needs best values so far"}
DRAWING = {"report --html", "report --latex", "report --png"}  # seconds each
DRAWN = {"defaults", "weights, common seeds", "failed runs are last", "seconds", "dirichlet"}
CASES = [
    (option, command)
    for option in OPTIONS
    for command in COMMANDS
    if command not in DRAWING or option in DRAWN
]


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Project]:
    """Short races, one for each option, in folders that only reading commands use."""

    @cache
    def race(option: str) -> Project:
        project = Project(tmp_path_factory.mktemp("option"))
        defaults = {
            "algorithms": [
                {"name": "random", "use": "random-search"},
                solver("coordinate_descent", "other"),
            ],
            "instances": CLASSIC,
            "budget": {"grid": [5, 20, 80]},
            "race": RACE,
            "inference": {"draws": 400},
            "execution": {"workers": 2},
        }
        project.configure(**{**defaults, **OPTIONS[option]})
        done = project("race", "config.yaml", "-q")
        assert done.returncode in (0, 3), done.stderr
        return project

    return race


@pytest.mark.parametrize(("option", "command"), CASES)
def test_every_command_reads_a_store_of_every_option(
    raced: Callable[[str], Project], option: str, command: str
):
    arguments = COMMANDS[command]
    done = raced(option)(*arguments)
    assert "Traceback" not in done.stderr
    if (option, command) in REFUSED:
        assert done.returncode == 1
        assert REFUSED[option, command] in done.stderr
        return
    assert done.returncode in ((0, 3) if command.startswith("race") else (0,)), done.stderr
    if "--json" in arguments:
        assert isinstance(json.loads(done.stdout), dict)
