"""Solvers of other packages: their incumbents, when these are recorded, and what ends a run."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polarbear
from polarbear.algorithms import solver as solver_module
from polarbear.algorithms.cp_sat import whole_factor
from polarbear.errors import AlgorithmError
from polarbear.problems.job_shop import classical_job_shops
from tests.problems.helpers import SETTING
from tests.problems.helpers import suite as problem_suite
from tests.support import Project

# A square, its knapsack is min -3a - 2b - 2c with 2a + b + c <= 2: -4 by b and c.
KNAPSACK = """NAME knapsack
ROWS
 N cost
 L weight
COLUMNS
 MARKER MARKER 'MARKER' 'INTORG'
 a cost -3
 a weight 2
 b cost -2
 b weight 1
 c cost -2
 c weight 1
 MARKER MARKER 'MARKER' 'INTEND'
RHS
 rhs weight 2
BOUNDS
 BV bound a
 BV bound b
 BV bound c
ENDATA
"""
SQUARE = """NAME : square
TYPE : CVRP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 9
NODE_COORD_SECTION
1 0 0
2 0 10
3 10 10
4 10 0
DEMAND_SECTION
1 0
2 3
3 3
4 3
DEPOT_SECTION
1
-1
EOF
"""
MIP_SOLVERS = ("highs", "scip", "cp-sat")
GRID = [0.2, 0.4]


@pytest.fixture
def project(project: Project) -> Project:
    (project.folder / "knapsack.mps").write_text(KNAPSACK)
    (project.folder / "square.vrp").write_text(SQUARE)
    (project.folder / "ft06.jsp").write_text(classical_job_shops()["ft06"].jobs.text())
    return project


def configure(project: Project, *algorithms: dict[str, Any], **changes: Any) -> None:
    instances: dict[str, Any] = {"suite": "files", "names": ["knapsack.mps"]}
    project.configure(
        algorithms=[{"name": entry["use"], **entry} for entry in algorithms],
        instances=changes.pop("instances", instances),
        budget={"axis": "seconds", "grid": changes.pop("grid", GRID)},
        **changes,
    )


def trajectories(project: Project) -> dict[str, list[float]]:
    """The values of each algorithm's improvements on the only instance."""
    frame = polarbear.open(project.store).trajectories().drop_nulls("y")
    return {
        algorithm: values["y"].to_list()
        for (algorithm,), values in frame.group_by("algorithm", maintain_order=True)
    }


def end_of_runs(project: Project) -> set[str]:
    return set(polarbear.open(project.store).runs()["status"])


@pytest.mark.parametrize("use", MIP_SOLVERS)
@pytest.mark.peer
def test_a_proof_ends_the_run_and_keeps_its_value(project: Project, use: str):
    configure(project, {"use": use}, grid=[1.0, 300.0])
    project.done("run", "config.yaml")
    assert trajectories(project)[use][-1] == -4
    assert end_of_runs(project) == {"proven"}


@pytest.mark.parametrize("use", MIP_SOLVERS)
@pytest.mark.peer
def test_infeasibility_ends_the_run_without_a_value(project: Project, use: str):
    (project.folder / "knapsack.mps").write_text(KNAPSACK.replace("weight 2\nB", "weight -1\nB"))
    configure(project, {"use": use}, grid=[1.0, 300.0])
    project.done("run", "config.yaml")
    assert trajectories(project).get(use, []) == []
    assert end_of_runs(project) == {"infeasible"}


@pytest.mark.peer
def test_cp_sat_proves_the_makespan_of_a_job_shop(project: Project):
    names = {"suite": "files", "names": ["ft06.jsp"]}
    configure(project, {"use": "cp-sat"}, grid=[1.0, 300.0], instances=names)
    project.done("run", "config.yaml")
    assert trajectories(project)["cp-sat"][-1] == 55
    assert end_of_runs(project) == {"proven"}


@pytest.mark.peer
def test_a_limit_of_the_solver_itself_ends_the_run_without_a_proof(project: Project):
    options = {"highs": {"mip_max_nodes": 0}, "scip": {"limits/nodes": 1}}
    instances = {"suite": "mip", "families": ["facility-location"], "scale": 0.2, "count": 1}
    entries = [{"use": use, "options": own} for use, own in options.items()]
    configure(project, *entries, grid=[1.0, 300.0], instances=instances)
    project.done("run", "config.yaml")
    assert end_of_runs(project) == {"limit"}


@pytest.mark.peer
def test_pyvrp_runs_to_the_end_of_its_budget(project: Project):
    configure(project, {"use": "pyvrp"}, instances={"suite": "files", "names": ["square.vrp"]})
    project.done("run", "config.yaml")
    assert trajectories(project)["pyvrp"][-1] == 40  # around the square
    assert end_of_runs(project) == {"budget"}


@pytest.mark.peer
def test_solvers_that_cannot_share_a_process_run_in_one_race(project: Project):
    instances = {"suite": "mip", "scale": 0.1, "count": 2}
    configure(project, *({"use": use} for use in MIP_SOLVERS), instances=instances)
    project.done("run", "config.yaml")
    runs = polarbear.open(project.store).runs()
    assert len(runs) == 2 * len(MIP_SOLVERS)
    assert set(runs["status"]) <= {"proven", "budget"}
    assert runs["message"].to_list() == [""] * len(runs)


@pytest.mark.peer
def test_a_file_to_be_maximised_needs_a_suite_that_is(project: Project):
    text = KNAPSACK.replace("ROWS", "OBJSENSE\n MAX\nROWS")
    (project.folder / "knapsack.mps").write_text(text)
    configure(project, *({"use": use} for use in MIP_SOLVERS))
    project("run", "config.yaml")
    messages = polarbear.open(project.store).runs()["message"].to_list()
    assert len(messages) == len(MIP_SOLVERS)
    assert all("is maximised: set instances.maximise to true" in text for text in messages)

    names = {"suite": "files", "names": ["knapsack.mps"], "maximise": True}
    configure(project, *({"use": use} for use in MIP_SOLVERS), instances=names)
    project.done("run", "config.yaml", "--store", "maximised")
    frame = polarbear.open(project.folder / "maximised").trajectories()
    ends = frame.group_by("algorithm").agg(pl.col("y").last())["y"].to_list()
    assert ends == [0.0] * len(MIP_SOLVERS)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            KNAPSACK.replace(" MARKER MARKER", "* ").replace("BV bound a", "UP bound a 1"),
            "'a' is continuous",
        ),
        (KNAPSACK.replace("b weight 1", "b weight 0.12345678"), "too many decimals"),
        (KNAPSACK.replace(" BV bound b", " PL bound b"), "'b' has none"),
        ("nonsense", "OR-Tools cannot read"),
    ],
)
@pytest.mark.peer
def test_cp_sat_says_why_it_cannot_take_a_program(project: Project, text: str, reason: str):
    (project.folder / "knapsack.mps").write_text(text)
    configure(project, {"use": "cp-sat"})
    project("run", "config.yaml")
    assert reason in polarbear.open(project.store).runs()["message"].item()


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"use": "highs", "options": {"thread": 4}}, "unknown option 'thread'; did you mean"),
        ({"use": "highs", "options": {"threads": "many"}}, "'threads' does not take 'many'"),
        ({"use": "scip", "options": {"limits/tim": 4}}, "did you mean 'limits/time'?"),
        ({"use": "scip", "options": {"lp/threads": "x"}}, "'lp/threads' does not take 'x'"),
        ({"use": "cp-sat", "options": {"num_worker": 4}}, "did you mean 'num_workers'?"),
        ({"use": "cp-sat", "options": {"search_branching": "X"}}, "Invalid enum value X"),
        ({"use": "pyvrp", "options": {"il": {}}}, "unknown group of options 'il'; did you mean"),
        ({"use": "pyvrp", "options": {"ils": {"history": 4}}}, "did you mean 'history_length'?"),
        ({"use": "pyvrp", "options": {"operators": ["Swap"]}}, "unknown operator 'Swap'"),
        ({"use": "pyvrp", "options": {"ils": {"history_length": 0}}}, "must be positive"),
        (
            {"use": "pyvrp", "options": {"perturbation": {"min_perturbations": "x"}}},
            "'perturbation' does not take {'min_perturbations': 'x'}",
        ),
    ],
)
@pytest.mark.peer
def test_an_option_that_a_solver_does_not_have_is_refused_in_one_line(
    project: Project, entry: dict[str, Any], words: str
):
    configure(project, entry)
    refusal = project.refused("run", "config.yaml")
    assert words in refusal
    assert len(refusal.strip().splitlines()) == 1
    assert not project.store.exists()


@pytest.mark.parametrize("use", [*MIP_SOLVERS, "pyvrp"])
def test_a_missing_package_is_named_with_its_extra(
    project: Project, use: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(solver_module, "find_spec", lambda package: None)
    configure(project, {"use": use})
    assert "install the extra 'solvers'" in project.refused("run", "config.yaml")


@pytest.mark.peer
def test_evaluations_are_no_axis_of_a_solver(project: Project):
    configure(project, {"use": "highs"}, grid=[2, 4])
    text = (project.folder / "config.yaml").read_text()
    (project.folder / "config.yaml").write_text(text.replace("seconds", "evaluations"))
    assert "set budget.axis to 'seconds'" in project.refused("run", "config.yaml")


def test_a_solver_refuses_the_instances_of_another_kind(project: Project):
    configure(project, {"use": "pyvrp"}, instances={"suite": "mip"})
    assert "takes problems of the kind name or routing" in project.refused("run", "config.yaml")


@pytest.mark.parametrize(
    ("numbers", "factor"),
    [([1.0, -7.0], 1), ([0.5, 3.0], 10), ([0.25, 0.1], 100), ([1e-6], 10**6)],
)
def test_the_smallest_power_of_ten_makes_numbers_whole(numbers: list[float], factor: int):
    assert whole_factor(numbers) == factor


def test_numbers_with_too_many_decimals_are_refused():
    with pytest.raises(AlgorithmError, match="too many decimals"):
        whole_factor([1 / 3])


# Runs an adapter with its solver's own log, and prints what was recorded. The first question for
# the time is asked when the solver has read the instance and starts its own clock.
RECORD = """
import json, sys
from time import perf_counter
from polarbear.algorithms import ADAPTERS, Trial
from polarbear.algorithms.scip import Scip
from polarbear.problems.base import Instance, Setting
from polarbear.settings.grid import Budget

use, path, seconds, options, log = json.loads(sys.argv[1])

if use == "scip":
    import pyscipopt
    def with_log(self):
        model = pyscipopt.Model()
        model.hideOutput()
        model.setLogfile(log)
        return model
    Scip._quiet = with_log
if use == "pyvrp":
    import pyvrp
    solve = pyvrp.solve
    def with_statistics(data, **arguments):
        arguments["collect_stats"] = True
        result = solve(data, **arguments)
        with open(log, "w") as file:
            file.write(json.dumps([
                [float(seconds), entry.best_cost]
                for seconds, entry in zip(
                    __import__("numpy").cumsum(result.stats.runtimes), result.stats.data
                )
            ]))
        return result
    pyvrp.solve = with_statistics

algorithm = ADAPTERS[use].model_validate({"name": "it", "use": use, "options": options})
algorithm.load()
asked, points = [], []
begun = perf_counter()

def elapsed():
    asked.append(perf_counter() - begun)
    return asked[-1]

trial = Trial(
    None, lambda t, y: points.append((t, y)), Instance(0, "it", {}), 1, "seconds", seconds,
    path, until=seconds, elapsed=elapsed,
)
setting = Setting(1, Budget.model_validate({"axis": "seconds", "grid": [seconds]}))
try:
    algorithm.run(trial, setting)
except BaseException as error:
    assert type(error).__name__ in ("BudgetExhausted", "SearchEnded"), error
sys.stdout.flush()
with open(log + ".json", "w") as file:
    file.write(json.dumps([asked[0], points]))
"""


def highs_log(text: str) -> list[tuple[float, float]]:
    """Times and values of incumbents: lines that begin with the letter of what found them."""
    lines = [line.split() for line in text.splitlines() if re.match(r" [A-Zu-z] +\d.*s$", line)]
    return [(float(words[-1].rstrip("s")), float(words[6])) for words in lines]


def scip_log(text: str) -> list[tuple[float, float]]:
    """Times and values of incumbents: lines that begin with the letter of what found them."""
    lines = re.findall(r"^[a-zA-Z*] ?(\d+\.\d)s\|(.*)$", text, re.MULTILINE)
    return [(float(time), float(rest.split("|")[14])) for time, rest in lines]


def cp_sat_log(text: str) -> list[tuple[float, float]]:
    """Times and values of incumbents: lines that begin with their number."""
    lines = re.findall(r"^#\d+ +(\d+\.\d+)s best:(\S+)", text, re.MULTILINE)
    return [(float(time), float(value)) for time, value in lines]


def pyvrp_log(text: str) -> list[tuple[float, float]]:
    """Times and values at which the best cost of an iteration is a new one."""
    log: list[tuple[float, float]] = []
    for seconds, cost in json.loads(text):
        if not log or cost < log[-1][1]:
            log.append((seconds, cost))
    return log


READERS = {"highs": highs_log, "scip": scip_log, "cp-sat": cp_sat_log, "pyvrp": pyvrp_log}


@pytest.mark.parametrize(
    ("use", "instances", "resolution"),
    [
        ("highs", {"suite": "mip", "families": ["set-cover"], "scale": 0.4}, 0.1),
        ("scip", {"suite": "mip", "families": ["set-cover"], "scale": 0.4}, 0.1),
        ("cp-sat", {"suite": "job-shop", "families": ["swv"]}, 0.01),
        ("pyvrp", {"suite": "cvrp", "customers": {"from": 100, "to": 100}}, 0.001),
    ],
)
@pytest.mark.slow
@pytest.mark.peer
def test_incumbents_are_recorded_when_the_solver_logs_them(
    tmp_path: Path, use: str, instances: dict[str, Any], resolution: float
):
    suite = problem_suite(instances.pop("suite"), **instances)
    path = suite.build(suite.instance(0, SETTING).spec, SETTING)
    # Between a solver's log and its callback a busy machine may do something else.
    attempts = (
        differences_to_log(tmp_path / str(attempt), use, path, resolution) for attempt in range(3)
    )
    assert any(np.mean(differences <= 1) >= 0.9 for differences in attempts)


def differences_to_log(folder: Path, use: str, instance: str, resolution: float) -> np.ndarray:
    """Differences of recorded and logged times, as multiples of what is allowed."""
    folder.mkdir()
    log = folder / "log"
    options = {
        "highs": {"output_flag": True, "log_to_console": False, "log_file": str(log)},
        "cp-sat": {"log_search_progress": True},
    }
    arguments = json.dumps([use, instance, 3.0, options.get(use, {}), str(log)])
    done = subprocess.run(
        [sys.executable, "-c", RECORD, arguments], capture_output=True, text=True, check=True
    )
    logged = READERS[use](log.read_text() if log.exists() else done.stdout)
    start, points = json.loads(Path(f"{log}.json").read_text())
    assert len(logged) >= 3
    differences = []
    for logged_time, logged_value in logged:
        times = [t for t, y in points if y == pytest.approx(logged_value, rel=1e-4)]
        assert times, f"{logged_value} was not recorded"
        tolerance = max(0.01, 0.01 * logged_time, resolution)
        difference = min(abs(t - start - logged_time) for t in times)
        differences.append(difference / tolerance)
    return np.array(differences)
