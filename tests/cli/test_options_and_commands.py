"""Every option of a configuration, crossed with every command that reads a store."""

import json
from typing import Any

import pytest

from tests.support import RANDOM, SOLVERS, Project, solver

RACE = {"limits": {"rounds": 2}, "batch": {"start": 8, "min": 4, "max": 8}, "alpha": 0.95}
SEVERAL = {"alpha": 0.9, "epsilon": 0.1, "tie_tolerance": 0.01}
HILL = {"suite": "python", "function": f"{SOLVERS}:Hill", "maximise": True}
CLASSIC = {"suite": "classic", "dimensions": {"from": 2, "to": 3}}
SECONDS = {"axis": "seconds", "grid": {"from": 0.01, "to": 0.05, "points": 3}}

DEFAULTS = {
    "algorithms": [RANDOM, solver("coordinate_descent", "other")],
    "instances": CLASSIC,
    "budget": {"grid": [5, 20, 80]},
    "race": RACE,
    "inference": {"draws": 400},
    "execution": {"workers": 2},
}
OPTIONS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "weights, common seeds": {
        "instances": {**CLASSIC, "weights": {"*-1": 3.0, "*-2": 0.5}},
        "seeds": "common",
    },
    "failed runs are last": {
        "algorithms": [RANDOM, solver("fails_sometimes", "other")],
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
    "random walk": {"inference": {"model": "random-walk", "method": "laplace", "draws": 400}},
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
    "race --more": ("race", "config.yaml", "-q", "--more", "3"),
    "race --page": ("race", "config.yaml", "-q", "--page", "live.html"),
}
REFUSED = {("last values", "compare"): "needs best values so far"}
DRAWING = {"report --html", "report --latex", "report --png", "race --page"}  # seconds each
DRAWN = {"defaults", "weights, common seeds", "failed runs are last", "seconds", "dirichlet"}


@pytest.mark.parametrize(
    "option",
    [
        pytest.param(option, marks=() if option == "defaults" else pytest.mark.slow)
        for option in OPTIONS
    ],
)
def test_every_command_reads_a_store_of_every_option(project: Project, option: str):
    project.configure(**{**DEFAULTS, **OPTIONS[option]})
    done = project.race("config.yaml", "-q")
    for command, arguments in COMMANDS.items():
        if command in DRAWING and option not in DRAWN:
            continue
        done = project(*arguments)
        refused = REFUSED.get((option, command))
        assert "Traceback" not in done.stderr, command
        if refused:
            assert refused in done.stderr
        expected = (1,) if refused else (0, 3) if command.startswith("race") else (0,)
        assert done.returncode in expected, (command, done.stderr)
        if "--json" in arguments:
            assert isinstance(json.loads(done.stdout), dict), command
