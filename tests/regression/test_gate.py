"""`polarbear gate` by the command line, on real runs."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import polarbear as pb
from docs import run_tutorials
from polarbear.errors import ConfigError
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


def gate(repository: Path, *options: str) -> tuple[int, Any]:
    """The exit code, and the result as JSON or the error."""
    versions = () if "--baseline" in options else ("--baseline", "main", "--candidate", "branch")
    done = Project(repository)("gate", "gate.yaml", "--json", *versions, *options)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


@pytest.mark.slow
def test_identical_code_passes_after_eight_instances_and_again_without_a_run(repository):
    code, found = gate(repository)
    assert (code, found["verdict"], found["runs"]) == (0, "identical", 16)
    assert found["pairs"][0]["instances"] == 8
    code, found = gate(repository)
    assert (code, found["verdict"], found["runs"], found["cached"]) == (0, "identical", 0, 16)


@pytest.mark.slow
def test_a_regression_is_red_and_its_reversal_green_and_baseline_runs_are_used_again(repository):
    change(repository, "SHRINK = 0.98", "SHRINK = 1.0")
    files = ["--markdown", "c.md", "--svg", "c.svg", "--junit", "c.xml", "--html", "page.html"]
    code, found = gate(repository, *files)
    (pair,) = found["pairs"]
    assert (code, found["verdict"]) == (1, "worse")
    assert 50 <= pair["from"] <= pair["to"] <= 200
    inside = [
        rate
        for t, rate in zip(pair["times"], pair["win_rate"], strict=True)
        if pair["from"] <= t <= pair["to"]
    ]
    assert sum(inside) / len(inside) < 0.45
    comment = (repository / "c.md").read_text()
    assert comment.startswith("### polarbear gate: worse")
    assert found["sentences"][0] in comment
    assert pair["lost_most"][0]["instance"] in comment
    suite = ElementTree.parse(repository / "c.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert "branch against main" in (repository / "c.svg").read_text()
    assert "<html" in (repository / "page.html").read_text()
    runs = found["runs"]
    # another candidate against the same baseline
    change(repository, "SHRINK = 1.0", "SHRINK = 1.001")
    code, found = gate(repository)
    assert (code, found["verdict"]) == (1, "worse")
    assert found["cached"] == min(runs, found["runs"] + found["cached"]) // 2
    # the baseline changes into the first candidate, and the candidate into the first baseline
    change(repository, "SHRINK = 1.001", "SHRINK = 0.98")
    change(repository, "SHRINK = 0.98", "SHRINK = 1.0", "baseline")
    code, found = gate(repository)
    assert (code, found["verdict"]) == (0, "better")
    assert found["pairs"][0]["instances"] >= 59


@pytest.mark.slow
def test_a_failure_of_the_candidate_alone_is_a_regression_with_the_instances_named(repository):
    change(repository, "CRASH = False", "CRASH = True")
    code, found = gate(repository)
    (pair,) = found["pairs"]
    assert (code, found["verdict"]) == (1, "worse")
    assert all("singular matrix" in one["message"] for one in pair["failed"])
    assert pair["failed"][0]["instance"] in found["sentences"][0]
    change(repository, "CRASH = False", "CRASH = True", "baseline")
    code, found = gate(repository)
    assert (code, found["verdict"]) == (0, "identical")


@pytest.mark.slow
def test_undecided_at_the_limit_is_exit_code_3_or_as_asked(repository):
    change(repository, "SHRINK = 0.98", "SHRINK = 0.981")
    limit = ["--instances", "8"]
    assert gate(repository, *limit)[0] == 3
    assert gate(repository, *limit, "--undecided", "pass")[0] == 0
    code, found = gate(repository, *limit, "--undecided", "fail", "--junit", "c.xml")
    assert (code, found["verdict"]) == (1, "undecided")
    assert ElementTree.parse(repository / "c.xml").getroot().get("failures") == "1"


@pytest.mark.slow
def test_several_algorithms_and_suites_are_pairs_of_one_verdict(repository, monkeypatch):
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
    done = pb.gate(config, baseline="main", candidate="branch", store="both")
    assert [pair.candidate for pair in done.pairs] == ["branch/x", "branch/y"]
    assert done.pairs[0].verdict.value in ("identical", "undecided")
    assert done.pairs[1].verdict.value == done.verdict.value == "worse"
    with pytest.raises(ConfigError, match="several"):
        pb.gate(config, config, baseline="main", candidate="branch", store="both")


@pytest.mark.slow
def test_on_seconds_both_versions_are_timed_again_and_the_noise_is_reported(repository):
    change(repository, "value = problem(trial)", "value = problem(trial); sum(range(100_000))")
    seconds = "budget: {axis: seconds, grid: {from: 0.02, to: 0.1, points: 4}}"
    file = repository / "gate.yaml"
    file.write_text(re.sub("budget: .*", seconds, CONFIG))
    code, found = gate(repository)
    (pair,) = found["pairs"]
    assert (code, found["verdict"], found["cached"]) == (1, "worse", 0)
    assert pair["slowdown"]["ratio"] > 2
    assert "detectable" in found["sentences"][1]
    change(repository, "100_000", "100_001")
    assert gate(repository)[1]["cached"] == 0


WEIGHTED = CONFIG.replace("classic", "classic, weights: {'*sphere*': 2}")
UNPAIRED = CONFIG.replace("name: main", "name: main/x").replace("name: branch", "name: branch/y")


@pytest.mark.parametrize(
    ("config", "options", "said"),
    [
        (CONFIG, ["--baseline", "trunk", "--candidate", "branch"], "a gate compares the algorithm"),
        (CONFIG, ["--baseline", "main", "--candidate", "main"], "both the baseline and the"),
        (CONFIG, ["--tolerance", "0.7"], "from 0 to below 0.5, found 0.7"),
        (
            CONFIG,
            ["--alpha", "95"],
            "alpha must be above 0.5 and at most 1, found 95: did you mean 0.95?",
        ),
        (CONFIG, ["--undecided", "maybe"], "--undecided is pass or fail"),
        (WEIGHTED, [], "'instances' has weights"),
        (UNPAIRED, [], "its counterpart 'branch/...'"),
    ],
)
def test_wrong_usage_is_one_line(repository, config, options, said):
    (repository / "gate.yaml").write_text(config)
    code, error = gate(repository, *options)
    assert code == 1
    assert said in error
    assert len(error.strip().split("\n")) == 1
    assert not (repository / "gate").exists()


@pytest.mark.slow
def test_the_steps_of_the_workflows_run_in_a_repository_with_two_branches(tmp_path: Path):
    """Every step but the installation and those of the host, against a bare remote."""
    page = (run_tutorials.TUTORIALS / "pull-request.md").read_text()
    files = {file: text for _, file, text in run_tutorials.blocks(page) if file}
    developed, checkout = tmp_path / "developed", tmp_path / "checkout"
    developed.mkdir()
    for name in ("optimiser.py", "gate.yaml"):
        (developed / name).write_text(files[name])

    def run(command: str, folder: Path) -> int:
        done = subprocess.run(
            command, shell=True, cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 1), done.stderr
        return done.returncode

    who = "-c user.name=a -c user.email=a@example.org"
    run(f"git init -q -b main && git add . && git {who} commit -qm start", developed)
    run("git switch -qc slower && sed -i.bak 's/0.995/1.0/' optimiser.py", developed)
    run(f"git {who} commit -qam slower", developed)
    run(f"git clone -q {developed} {checkout} && cd {checkout} && git switch -q slower", tmp_path)
    for name, target in (
        (".github/workflows/anytime.yml", "${{ github.base_ref }}"),
        (".gitlab-ci.yml", "$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
    ):
        steps = re.findall(r"- (?:run: )?((?:git|polarbear) .*)", files[name])
        assert len(steps) == 2
        codes = [run(f"{step.replace(target, 'main')}", checkout) for step in steps]
        assert codes == [0, 1]
        assert "worse" in (checkout / "comment.md").read_text()
        run("git worktree remove --force baseline && rm comment.md *.html", checkout)
