"""Contract algorithms through the command line: check, run, show, status, compare and export."""

import csv
import json

import pytest

from tests.support import ANNEALING, RANDOM, Project

COOLING = {"name": "cooling", "use": "python", "function": f"{ANNEALING}:annealing"}
BUDGET = {"grid": [10, 20, 40, 80]}
N_RUNS = 3 * (4 + 1)


@pytest.fixture
def raced(project: Project) -> Project:
    """A store with the runs of a contract algorithm and another one on three problems."""
    entries = [{**COOLING, "contract": True}, RANDOM]
    project.configure(algorithms=entries, budget=BUDGET)
    done = project("run", "config.yaml", "--instances", "3")
    assert f"{N_RUNS} runs" in done.stdout, done.stderr
    return project


def test_check_contract_shows_the_finding_and_what_to_write(project: Project):
    project.configure(algorithms=[COOLING, RANDOM], budget=BUDGET)
    done = project("check", "config.yaml", "--contract", "cooling")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("cooling plans for its budget (12 runs on 3 problems), nothing")
    assert "recommendation: write `contract: true` for 'cooling'" in done.stdout
    found = json.loads(project("check", "config.yaml", "--contract", "random", "--json").stdout)
    assert (found["plans"], found["finding"]) == (False, "does not depend on its budget")
    assert [row["same"] for row in found["budgets"]] == [3, 3]
    assert project("check", "config.yaml", "--contract", "nobody").returncode == 1


def test_a_note_suggests_it_for_a_program_that_is_told_its_budget(project: Project):
    entry = {"name": "told", "use": "command", "command": "echo 1 {budget}"}
    project.configure(algorithms=[entry, RANDOM], budget=BUDGET)
    (note,) = json.loads(project("check", "config.yaml", "--json").stdout)["notes"]
    assert "`polarbear check CONFIG --contract told` finds out" in note
    for known in (True, False):
        project.configure(algorithms=[{**entry, "contract": known}, RANDOM], budget=BUDGET)
        assert json.loads(project("check", "config.yaml", "--json").stdout)["notes"] == []


def test_a_program_is_told_the_budget_of_its_run(project: Project):
    entry = {"name": "told", "use": "command", "command": "echo 1 {budget}", "contract": True}
    project.configure(algorithms=[entry, RANDOM], budget=BUDGET)
    project("run", "config.yaml", "--instances", "1")
    shown = project("show", project.store, "--instance", "classic-0-sphere-d2", "--json")
    told = [run for run in json.loads(shown.stdout)["runs"] if run["algorithm"] == "told"]
    assert [run["contract"] for run in told] == [10, 20, 40, 80]
    assert [run["y"] for run in told] == [[10], [20], [40], [80]]


def test_runs_are_listed_with_the_budget_that_each_was_given(raced: Project):
    status = json.loads(raced("status", raced.store, "--json").stdout)
    assert status["contracts"] == {"cooling": [10, 20, 40, 80]}
    assert status["runs"] == N_RUNS
    text = raced("status", raced.store).stdout
    assert "cooling: a contract, with 4 runs on each problem, given 10 to 80 evaluations" in text
    page = raced("show", raced.store, "--instance", "classic-0-sphere-d2")
    assert "cooling, given 40 evaluations" in page.stdout, page.stderr


def test_the_longest_run_is_repeated(raced: Project):
    line = ("run", "config.yaml", "--repeat", "cooling", "--on", "classic-0-sphere-d2", "--json")
    repeated = json.loads(raced(*line).stdout)
    assert (repeated["reached"], repeated["same"]) == (80, True)


def test_an_export_carries_one_trajectory_and_a_note_says_so(raced: Project):
    done = raced("export", raced.store, "--format", "csv", "--to", "runs.csv")
    assert "cooling: the runs with several budgets are one trajectory here" in done.stderr
    assert "--set trajectory=last" in done.stderr
    with (raced.folder / "runs.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["algorithm"] == "cooling"]
    assert {float(row["t"]) for row in rows} <= {10, 20, 40, 80}
    done = raced("import", "runs.csv", "--store", "again", "--set", "trajectory=last")
    assert done.returncode == 0, done.stderr
    ranked = raced("export", raced.store, "--format", "preflib", "--to", "ranked.soi")
    assert "one trajectory" not in ranked.stderr


def test_the_classical_view_says_what_it_keeps(raced: Project):
    done = raced("compare", raced.store)
    assert "note: cooling: of several runs with their own budgets the best so far" in done.stderr


def test_a_renamed_contract_algorithm_keeps_its_runs(raced: Project):
    assert raced("rename", raced.store, "cooling", "annealing").returncode == 0
    assert raced("verify", raced.store).returncode == 0
    raced.configure(
        algorithms=[{**COOLING, "name": "annealing", "contract": True}, RANDOM], budget=BUDGET
    )
    done = raced("run", "config.yaml", "--instances", "3")
    assert "0 runs in" in done.stdout
    assert f"{N_RUNS} present before" in done.stdout


def test_forgotten_runs_of_all_budgets_come_back(raced: Project):
    assert "12 runs" in raced("forget", raced.store, "--algorithm", "cooling").stdout
    done = raced("forget", raced.store, "--algorithm", "cooling", "--restore")
    assert "12 runs of cooling restored" in done.stdout


def test_a_merge_unites_the_runs_of_each_budget(raced: Project):
    raced("run", "config.yaml", "--instances", "2", "--store", "other")
    done = raced("merge", raced.store, "other", "--into", "both", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(raced("status", "both", "--json").stdout)["runs"] == N_RUNS
