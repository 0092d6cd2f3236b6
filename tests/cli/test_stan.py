"""`polarbear stan`, `polarbear doctor`, and the stan engine."""

import json
import os

import pytest

from tests.inference.stan_support import pretend_build_tools, without_index
from tests.support import Project, synthetic


@pytest.fixture
def nowhere(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A home folder in which no CmdStan is found, on a machine that has a compiler."""
    pretend_build_tools(project.folder / "tools", monkeypatch)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    monkeypatch.setenv("HOME", str(project.folder))
    monkeypatch.delenv("CMDSTAN", raising=False)
    return project


def files(project: Project) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(project.store.rglob("*")) if p.is_file()}


@pytest.mark.slow
@pytest.mark.stan
@pytest.mark.parametrize("method", ["auto", "pathfinder", "laplace", "advi-meanfield"])
def test_infer_asks_stan_and_keeps_the_answer(collected: Project, method: str):
    arguments = ("infer", "config", "--model", "dirichlet", "--engine", "stan", "--draws", 2000)
    first = collected.json(*arguments, "--method", method)
    assert first["engine"] == "stan"
    assert first["method"] == ("mcmc" if method == "auto" else method)
    judged = {"r_hat", "ess_bulk", "divergences", "deep_trees", "e_bfmi", "pareto_k"}
    assert judged <= set(first["diagnostics"])
    best = max(first["ratings"], key=lambda row: row["mean"])
    assert best["algorithm"] == "A"
    second = collected.json(*arguments, "--method", method)
    assert second["from_store"] is True
    assert {**second, "from_store": False} == first


@pytest.mark.slow
@pytest.mark.stan
def test_a_race_may_ask_stan(project: Project):
    """The ratings are so far apart that the winner is certain."""
    path = project.configure(
        **synthetic({"A": 0.9, "B": 0.08, "C": 0.02}),
        budget={"grid": [10, 100, 1000]},
        inference={"model": "dirichlet", "engine": "stan", "draws": 2000},
    )
    answer = project.json("race", path)
    assert answer["pareto_set"] == ["A"]
    assert answer["resolved"] is True


def test_infer_without_cmdstan_says_what_to_do_and_changes_nothing(collected: Project, nowhere):
    before = files(collected)
    refusal = collected.refused("infer", "config", "--model", "dirichlet", "--engine", "stan")
    assert refusal.splitlines() == [
        "polarbear: the stan engine needs CmdStan, which was not found; run: polarbear stan install"
    ]
    assert files(collected) == before


def test_a_race_without_cmdstan_stops_before_it_runs_anything(nowhere: Project):
    path = nowhere.configure(inference={"model": "dirichlet", "engine": "stan"})
    assert "which was not found; run: polarbear stan install" in nowhere.refused("race", path)
    assert not nowhere.store.exists()


def test_a_race_whose_cmdstan_vanishes_has_lost_nothing(project: Project, monkeypatch):
    """Runs are stored, and a race with another engine or another CmdStan continues from them."""
    path = project.configure(inference={"model": "dirichlet"}, race={"limits": {"instances": 8}})
    first = project("race", path, "--json")
    before = files(project)
    monkeypatch.setenv("CMDSTAN", "/no/such/folder")
    project.configure(
        inference={"model": "dirichlet", "engine": "stan"}, race={"limits": {"instances": 16}}
    )
    assert "CMDSTAN is /no/such/folder" in project.refused("race", path)
    assert files(project) == before
    project.configure(inference={"model": "dirichlet"}, race={"limits": {"instances": 8}})
    repeated = project("race", path, "--json")
    assert repeated.returncode == first.returncode
    assert json.loads(repeated.stdout)["pareto_set"] == json.loads(first.stdout)["pareto_set"]


def test_status_and_doctor_name_the_remedy(nowhere: Project):
    done = nowhere("stan", "status")
    assert done.returncode == 1
    assert "-> run: polarbear stan install" in done.stdout
    facts = json.loads(nowhere("stan", "status", "--json").stdout)
    assert facts["ready"] is False
    doctor = nowhere("doctor")
    assert doctor.returncode == 0, "the stan engine is optional"
    assert "for the stan engine" in doctor.stdout
    assert "-> run: polarbear stan install" in doctor.stdout


@pytest.mark.stan
def test_status_is_content_where_cmdstan_is(project: Project):
    done = project.done("stan", "status")
    assert "CmdStan:" in done.stdout
    assert project.json("doctor")["optional"]["the stan engine"]


@pytest.mark.stan
def test_installing_again_finds_what_is_there(project: Project):
    done = project.done("stan", "install")
    assert "CmdStan 2." in done.stdout


def test_installing_without_a_network_names_what_could_not_be_fetched(nowhere, monkeypatch):
    without_index(monkeypatch)
    said = nowhere.refused("stan", "install", "--way", "wheels")
    assert "polarbear: the wheel of httpstan 4.17.0 could not be fetched" in said
    assert "pip said: ERROR" in said
    assert not list((nowhere.folder / ".cmdstan").glob("*"))
