"""`polarbear gate` on the command line, with real runs."""

import json
import re
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import polarbear as pb
from polarbear import wording
from polarbear.errors import ConfigError
from polarbear.regression.detectable import can_turn_red, looks_until
from polarbear.regression.gate_decision import Level
from tests.regression.hosts import BRANCHES, Host
from tests.support import Project

OPTIMISER = """
import numpy as np

SHRINK = 0.98
CRASH = False

def search(problem, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(problem.lower, problem.upper)
    y, step = problem(x), 3.0
    while True:
        trial = np.clip(x + step * rng.standard_normal(len(x)), problem.lower, problem.upper)
        if CRASH and seed % 7 == 0:
            raise RuntimeError("singular matrix")
        value = problem(trial)
        if value < y:
            x, y = trial, value
        else:
            step = max(step * SHRINK, 1e-3)
"""
CONFIG = """
algorithms:
  - {name: main, use: python, function: "baseline/optimiser.py:search"}
  - {name: branch, use: python, function: "optimiser.py:search"}
instances: {suite: classic, dimensions: {from: 2, to: 4}}
budget: {grid: {from: 50, to: 200, points: 8}}
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "baseline").mkdir()
    (tmp_path / "optimiser.py").write_text(OPTIMISER)
    (tmp_path / "baseline" / "optimiser.py").write_text(OPTIMISER)
    (tmp_path / "gate.yaml").write_text(CONFIG)
    return tmp_path


def change(repository: Path, old: str, new: str, folder: str = ".") -> None:
    file = repository / folder / "optimiser.py"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def number_of(factor: dict[str, Any]) -> str:
    """A factor as it is printed."""
    if factor["median"] is None:
        return f"more than {wording.factor(factor['low'])}"
    return wording.factor(factor["median"])


def gate(repository: Path, *options: str) -> tuple[int, Any]:
    """Run the gate; return its exit code with the decoded JSON, or with the error message."""
    versions = () if "--baseline" in options else ("--baseline", "main", "--candidate", "branch")
    process = Project(repository)("gate", "gate.yaml", "--json", *versions, *options)
    if process.stdout:
        return process.returncode, json.loads(process.stdout)
    return process.returncode, process.stderr


@pytest.mark.slow
def test_identical_code_passes_after_eight_instances_and_then_needs_no_further_run(repository):
    exit_code, gate_result = gate(repository)
    assert (exit_code, gate_result["verdict"], gate_result["runs"]) == (0, "identical", 16)
    assert gate_result["pairs"][0]["instances"] == 8
    exit_code, gate_result = gate(repository)
    assert (exit_code, gate_result["verdict"]) == (0, "identical")
    assert (gate_result["runs"], gate_result["cached"]) == (0, 16)


@pytest.mark.slow
def test_a_regression_fails_its_reversal_passes_and_baseline_runs_are_reused(repository):
    change(repository, "SHRINK = 0.98", "SHRINK = 1.0")
    files = ["--markdown", "c.md", "--svg", "c.svg", "--junit", "c.xml", "--html", "page.html"]
    exit_code, gate_result = gate(repository, *files)
    (pair,) = gate_result["pairs"]
    assert (exit_code, gate_result["verdict"]) == (4, "worse")
    assert 50 <= pair["from"] <= pair["to"] <= 200
    win_rates_in_window = [
        rate
        for t, rate in zip(pair["times"], pair["win_rate"], strict=True)
        if pair["from"] <= t <= pair["to"]
    ]
    assert sum(win_rates_in_window) / len(win_rates_in_window) < 0.45
    comment = (repository / "c.md").read_text()
    assert comment.startswith("### polarbear gate: worse")
    assert gate_result["sentences"][0] in comment
    assert pair["lost_most"][0]["command"] in comment
    assert len(comment.splitlines()) <= 25
    repeated = Project(repository)(*shlex.split(pair["lost_most"][0]["command"])[1:])
    assert repeated.returncode == 0, repeated.stderr
    assert "identical to the stored run" in repeated.stdout
    assert pair["worse_at"] == [[pair["from"], pair["to"]]]
    assert pair["p_worse"] > 0.9
    factors = pair["times_as_long"]
    assert (factors[0]["from"], factors[0]["to"]) == (pair["from"], pair["to"])
    assert factors[0]["median"] is None or factors[0]["median"] > 1
    assert [len(factors), len(pair["times_as_long_back"])] == [4, 4]
    suite = ElementTree.parse(repository / "c.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    drawing = (repository / "c.svg").read_text()
    assert "branch against main" in drawing
    assert "dashes: the tolerated win rate, 0.45" in drawing
    assert f"needs times as long: early {number_of(factors[1])}, middle" in drawing
    assert "<html" in (repository / "page.html").read_text()
    runs = gate_result["runs"]
    # Another candidate is compared with the same baseline, whose runs are cached.
    change(repository, "SHRINK = 1.0", "SHRINK = 1.001")
    exit_code, gate_result = gate(repository)
    assert (exit_code, gate_result["verdict"]) == (4, "worse")
    assert gate_result["cached"] == min(runs, gate_result["runs"] + gate_result["cached"]) // 2
    # The versions are exchanged: the first candidate is the baseline now.
    change(repository, "SHRINK = 1.001", "SHRINK = 0.98")
    change(repository, "SHRINK = 0.98", "SHRINK = 1.0", "baseline")
    exit_code, gate_result = gate(repository)
    assert (exit_code, gate_result["verdict"]) == (0, "better")
    assert gate_result["pairs"][0]["instances"] >= 59


@pytest.mark.slow
def test_a_failure_of_only_the_candidate_is_a_regression_that_names_the_instances(repository):
    change(repository, "CRASH = False", "CRASH = True")
    exit_code, gate_result = gate(repository)
    (pair,) = gate_result["pairs"]
    assert (exit_code, gate_result["verdict"]) == (4, "worse")
    assert all("singular matrix" in run["message"] for run in pair["failed"])
    assert pair["failed"][0]["instance"] in gate_result["sentences"][0]
    change(repository, "CRASH = False", "CRASH = True", "baseline")
    exit_code, gate_result = gate(repository)
    assert (exit_code, gate_result["verdict"]) == (0, "identical")


@pytest.mark.slow
def test_an_undecided_gate_is_green_and_says_what_it_would_have_found_unless_it_has_to_fail(
    repository,
):
    change(repository, "SHRINK = 0.98", "SHRINK = 0.981")
    files = ["--instances", "12", "--junit", "c.xml", "--markdown", "c.md"]
    exit_code, gate_result = gate(repository, *files)
    assert (exit_code, gate_result["verdict"]) == (0, "undecided")
    (pair,) = gate_result["pairs"]
    assert pair["worse_at"] == gate_result["worse_at"] == []
    assert pair["detectable"] == gate_result["detectable"]
    assert pair["detectable"]["power"] > 0
    assert 0 <= gate_result["p_worse"] < 1
    assert gate_result["problems"] == 12
    (sentence,) = gate_result["sentences"]
    assert sentence.startswith("No regression of branch against main is shown on 12 problems.")
    assert "would have been found with probability 0.9" in sentence
    assert (repository / "c.md").read_text().startswith("### polarbear gate: no regression shown")
    suite = ElementTree.parse(repository / "c.xml").getroot()
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    exit_code, gate_result = gate(repository, *files, "--undecided", "fail")
    assert (exit_code, gate_result["verdict"]) == (3, "undecided")
    assert "To show that an even change is no worse would take about" in gate_result["sentences"][0]
    suite = ElementTree.parse(repository / "c.xml").getroot()
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "0")


def test_a_gate_that_could_not_turn_red_is_refused(repository):
    exit_code, error = gate(repository, "--instances", "5")
    assert exit_code == 1
    assert "on 5 problems not even a candidate that loses every duel would be found worse" in error
    (smallest,) = re.findall(r"it takes (\d+) or more: see --instances", error)
    assert not (repository / "gate").exists()
    assert can_turn_red(looks_until(int(smallest)), Level(0.05, 0.05, 0.05, 0))


WASTEFUL = """
        value = problem(trial)
        if extra.random() < SHARE:
            problem(trial)
"""


@pytest.mark.slow
def test_a_tolerance_in_time_lets_a_slower_but_equal_version_pass(repository):
    """The candidate repeats 6 % or 50 % of its evaluations, and is otherwise the same."""
    change(repository, "\n        value = problem(trial)\n", WASTEFUL)
    change(repository, "    rng =", "    extra = np.random.default_rng(1)\n    rng =")
    change(repository, "CRASH = False", "CRASH = False\nSHARE = 0.06")
    exit_code, gate_result = gate(repository, "--tolerance", "10%")
    assert exit_code == 0
    assert gate_result["verdict"] in ("undecided", "no worse")
    assert (gate_result["tolerance"], gate_result["longer"]) == (None, 0.1)
    exit_code, gate_result = gate(repository, "--tolerance", "0%")
    assert (exit_code, gate_result["verdict"]) == (4, "worse")
    assert "that it needs longer is shown" in gate_result["sentences"][0]
    change(repository, "SHARE = 0.06", "SHARE = 0.5")
    exit_code, gate_result = gate(repository, "--tolerance", "10%")
    assert (exit_code, gate_result["verdict"]) == (4, "worse")
    assert "that it needs more than 10% longer is shown" in gate_result["sentences"][0]
    factor = gate_result["times_as_long"][0]
    assert (factor["median"] or factor["low"]) > 1


@pytest.mark.slow
def test_several_algorithms_are_pairs_with_one_common_verdict(repository, monkeypatch):
    monkeypatch.chdir(repository)
    change(repository, "SHRINK = 0.98", "SHRINK = 1.0")
    algorithms = [
        {"name": f"{version}/{name}", "use": "python", "function": f"{folder}optimiser.py:search"}
        for version, folder in (("main", "baseline/"), ("branch", ""))
        for name in ("x", "y")
    ]
    algorithms[2] = {**algorithms[2], "function": "baseline/optimiser.py:search"}
    config = {
        "algorithms": algorithms,
        "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 4}},
        "budget": {"grid": {"from": 50, "to": 200, "points": 8}},
    }
    gate_result = pb.gate(config, baseline="main", candidate="branch", store="both")
    assert [pair.candidate for pair in gate_result.pairs] == ["branch/x", "branch/y"]
    assert gate_result.pairs[0].verdict.value in ("identical", "undecided")
    assert gate_result.pairs[1].verdict.value == gate_result.verdict.value == "worse"
    with pytest.raises(ConfigError, match="several"):
        pb.gate(config, config, baseline="main", candidate="branch", store="both")


@pytest.mark.slow
def test_on_a_time_axis_in_seconds_both_versions_are_rerun_and_the_noise_is_reported(repository):
    change(repository, "value = problem(trial)", "value = problem(trial); sum(range(100_000))")
    seconds = "budget: {axis: seconds, grid: {from: 0.02, to: 0.1, points: 4}}"
    file = repository / "gate.yaml"
    file.write_text(re.sub("budget: .*", seconds, CONFIG))
    exit_code, gate_result = gate(repository)
    (pair,) = gate_result["pairs"]
    assert (exit_code, gate_result["verdict"], gate_result["cached"]) == (4, "worse", 0)
    assert pair["slowdown"]["ratio"] > 2
    assert "detectable" in gate_result["sentences"][1]
    change(repository, "100_000", "100_001")
    assert gate(repository)[1]["cached"] == 0


WEIGHTED = CONFIG.replace("classic", "classic, weights: {'*sphere*': 2}")
UNPAIRED = CONFIG.replace("name: main", "name: main/x").replace("name: branch", "name: branch/y")


@pytest.mark.parametrize(
    ("config", "options", "expected_error"),
    [
        (CONFIG, ["--baseline", "trunk", "--candidate", "branch"], "a gate compares the algorithm"),
        (CONFIG, ["--baseline", "main", "--candidate", "main"], "both the baseline and the"),
        (CONFIG, ["--tolerance", "0.7"], "as in 10%, found 0.7"),
        (CONFIG, ["--tolerance", "-1%"], "a tolerance in time is 0% or more, found -1%"),
        (CONFIG, ["--tolerance", "some"], "a share of time like 10%, found 'some'"),
        (
            CONFIG,
            ["--alpha", "95"],
            "alpha must be above 0.5 and at most 1, found 95: did you mean 0.95?",
        ),
        (WEIGHTED, [], "'instances' has weights"),
        (UNPAIRED, [], "its counterpart 'branch/...'"),
    ],
)
def test_wrong_usage_is_refused_in_one_line(repository, config, options, expected_error):
    (repository / "gate.yaml").write_text(config)
    exit_code, error = gate(repository, *options)
    assert exit_code == 1
    assert expected_error in error
    assert len(error.strip().split("\n")) == 1
    assert not (repository / "gate").exists()


def test_an_unknown_treatment_of_undecided_gates_is_refused(repository, monkeypatch):
    exit_code, error = gate(repository, "--undecided", "maybe")
    assert exit_code == 2
    assert "'--undecided': 'maybe' is not one of pass, fail" in error
    monkeypatch.chdir(repository)
    with pytest.raises(ConfigError, match="--undecided is pass or fail, found 'maybe'"):
        pb.gate("gate.yaml", baseline="main", candidate="branch", undecided="maybe")
    assert not (repository / "gate").exists()


MAX_LINES = 25  # of a comment


@pytest.mark.slow
def test_the_workflows_are_red_for_worse_only_and_post_a_comment(tmp_path: Path):
    """All steps run in a clone, except the actions of the host; the cache is that of one store."""
    host = Host(tmp_path)
    for branch, (_, expected) in BRANCHES.items():
        host.switch(branch)
        assert host.github() == expected, branch
        posted = (host.checkout / "posted.md").read_text()
        assert len(posted.splitlines()) <= MAX_LINES
        assert "(https://example.org/artifact)" in posted.splitlines()[-1]
        assert ("polarbear gate: worse" in posted) == (expected == 4)
        assert (
            "pr comment 7 --body-file comment.md" in (host.checkout / "arguments.txt").read_text()
        )
    for branch in ("slower", "refactor"):
        host.switch(branch)
        assert host.gitlab() == BRANCHES[branch][1]
        posted = (host.checkout / "posted.md").read_text()
        assert "(https://example.org/job/artifacts/file/gate.svg)" in posted
        assert len(posted.splitlines()) <= MAX_LINES
        arguments = (host.checkout / "arguments.txt").read_text()
        assert "https://example.org/api/projects/1/merge_requests/7/notes" in arguments
