"""`polarbear race`, as users and pipelines call it."""

import json
import os
import random
import re
import resource
import signal
import subprocess
import time
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from polarbear.api.standings_words import STATUS
from polarbear.cli import output
from polarbear.store import StoreOnDisk
from tests import support
from tests.support import Project

KILLS = 3  # benchmarks/soak.py kills a race for hours
RATINGS = {
    "good": [2.0] * 6,
    "bad": [0.3] * 6,
    "early": [4.0, 4.0, 2.5, 2.0, 1.2, 1.2],
    "close": [1.9] * 6,
}
RULES = {"alpha": 0.999, "batch": {"start": 4, "min": 4, "max": 8}, "limits": {"rounds": 8}}


def synthetic(project: Project, *names: str, **changes: Any) -> None:
    """A race whose truth is known, on the evaluation axis."""
    project.configure(
        algorithms=[{"name": name, "use": "synthetic"} for name in names or RATINGS],
        instances={"suite": "synthetic", "ratings": RATINGS},
        budget={"grid": [10, 20, 30, 40, 50, 60]},
        **{"race": RULES, "inference": {"draws": 400}, **changes},
    )


def rounds(store: Path, folder: str = "rounds") -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (store / folder).glob("round-*.json")}


def runs(store: Path) -> list[tuple[str, str, int]]:
    return [
        (row["algorithm"], row["instance"], row["attempt"])
        for row in StoreOnDisk.open(store).all_runs().iter_rows(named=True)
    ]


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, CompletedProcess[str]]:
    """A race that is settled, and its output."""
    project = Project(tmp_path_factory.mktemp("settled"))
    synthetic(project, "good", "bad", "early", race={"alpha": 0.95})
    return project, project("race", "config.yaml")


def test_a_race_prints_the_object_that_scripts_rely_on(settled):
    answer = settled[0].json("race", "config.yaml")
    assert answer["pareto_set"] == ["good", "early"]
    (out,) = answer["eliminated"]
    assert out.keys() == {
        *("algorithm", "by", "round", "instances", "probability", "sceptical", "wealth"),
    }
    assert out["wealth"] >= 20
    assert answer["resolved"] is True
    assert answer["stopped_because"] == "every relation is settled"
    assert answer["rounds"] == len(rounds(settled[0].store))
    assert answer["instances"] > 0
    assert answer["evaluations"].keys() == {"good", "bad", "early"}
    assert answer["failed_runs"] == 0
    assert answer["store"] == "config"


def test_the_end_of_a_race_of_forty_algorithms_fits_on_a_small_screen(project, monkeypatch):
    names = [f"solver number {i}" for i in range(1, 41)]
    ratings = {name: [1.5**i, 1.5 ** (30 - i)] for i, name in enumerate(names)}
    project.configure(
        algorithms=[{"name": name, "use": "synthetic"} for name in names],
        instances={"suite": "synthetic", "ratings": ratings},
        budget={"grid": [10, 100]},
        race={"batch": {"start": 8, "min": 8}, "limits": {"rounds": 1}},
        inference={"draws": 400},
    )
    monkeypatch.setattr(output, "columns", lambda: 80)
    lines = project("race", "config.yaml").stdout.splitlines()
    assert len(lines) <= 23
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("Not eliminated so far: solver number ")
    assert any(re.fullmatch(r"and \d+ more algorithms: see `status`", line) for line in lines)
    assert lines[-1] == "      polarbear report config"
    monkeypatch.undo()
    for command in (["status", "config"], ["race", "config.yaml"]):  # not on a terminal
        text = project(*command).stdout
        assert all(f" {name} " in text for name in names)


def test_a_race_prints_a_summary_on_one_screen(settled):
    project, done = settled
    assert done.returncode == 0
    assert "Not eliminated: good, early" in done.stdout
    assert len(done.stdout.splitlines()) <= 24
    evidence = r"sceptical P = [\d.]+, wealth \d"
    assert re.search(rf"bad +eliminated .* by \w+ in round \d+: {evidence}", done.stdout)
    assert re.search(r"\d+ rounds, \d+ problems, .* evaluations \(\d+% saved\)\.", done.stdout)
    assert "Each elimination: P(wrong) <= 0.05, however often a race looks." in done.stdout
    assert "P(any elimination is wrong) = " not in done.stdout
    verbose = project("race", "config.yaml", "-v").stdout
    assert "Estimate of P(any elimination is wrong) = " in verbose
    assert re.search("^Next: polarbear ", done.stdout, re.MULTILINE)
    assert " polarbear select config --preference" in done.stdout
    assert "Stopped because every relation is settled; store config" in done.stdout
    assert "round 1: 8 instances" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    status = project("status", "config").stdout
    assert "good and early cross: each is better at some times" in status
    lines = [" ".join(line.split()) for line in status.splitlines()]
    for entry in project.json("status", "config")["race"]["algorithms"]:
        status_words = "member" if entry["member"] else STATUS[entry["standing"]]
        expected = f"{entry['algorithm']} {status_words} "
        assert [line for line in lines if line.startswith(expected)], expected


def test_a_page_that_follows_changes_nothing_about_the_race(project: Project):
    synthetic(project, "good", "early", race={"alpha": 0.95, "limits": {"rounds": 2}})
    project.race("config.yaml", "--store", "alone")
    project.race("config.yaml", "--store", "paged", "--page", "live.html")
    assert rounds(project.folder / "paged") == rounds(project.folder / "alone")
    keys = [
        StoreOnDisk.open(project.folder / name).posteriors.stored() for name in ("alone", "paged")
    ]
    assert keys[0] == keys[1]
    page = (project.folder / "live.html").read_text()
    assert '"follows":false' in page
    assert '"selector":{' in page  # the page has draws for a choice
    (project.folder / "notes.html").write_text("mine")
    refusal = project.refused("race", "config.yaml", "--page", "notes.html")
    assert "notes.html exists and is not a PolarBear page" in refusal
    nowhere = project("race", "config.yaml", "--page", "nowhere/page.html")
    assert "there is no folder nowhere" in nowhere.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("real_workers")
def test_speculative_runs_change_no_round_and_unused_ones_are_reported(project):
    """A race of real optimisers on real workers."""
    project.configure(race={"alpha": 0.9, "limits": {"rounds": 4}}, inference={"draws": 400})
    without = project("race", "config.yaml", "--store", "without", "--no-early", "--json")
    early = project("race", "config.yaml", "--store", "with", "--workers", "3", "--json")
    assert without.returncode == early.returncode
    assert rounds(project.folder / "without") == rounds(project.folder / "with")
    assert runs(project.folder / "without") == runs(project.folder / "with")
    assert json.loads(without.stdout)["extra_runs"] == 0
    extra = json.loads(early.stdout)["extra_runs"]
    assert extra == len(StoreOnDisk.open(project.folder / "with").speculative.table())
    status = project("status", "with")
    assert ("speculative run" in status.stdout) is bool(extra)
    assert project.json("status", "with")["extra_runs"] == extra


def test_a_limit_ends_with_exit_code_3_and_a_valid_result(project: Project):
    synthetic(project, "good", "close", race={"limits": {"rounds": 2}})
    done = project("race", "config.yaml")
    assert done.returncode == 3
    assert "Not eliminated so far: good, close" in done.stdout
    assert "good and close: open at" in done.stdout
    assert "Stopped because the limit of 2 rounds is reached" in done.stdout
    answer = json.loads(project("race", "config.yaml", "--json").stdout)
    assert answer["resolved"] is False
    assert answer["open_pairs"][0]["a"] == "good"


def test_a_race_of_some_algorithms_of_a_store_is_reported_without_the_others(project):
    synthetic(project)
    project.done("run", "config.yaml", "--instances", "2")
    synthetic(project, "good", "bad", race={"alpha": 0.9})
    project.race("config.yaml")
    story = project.done("report", "config", "--text").stdout
    assert "Run good, whatever the budget: all others are eliminated." in story
    assert "the posterior does not include early, close" in story


@pytest.mark.slow
def test_killed_at_random_moments_a_race_ends_with_the_same_decisions_to_the_byte(project):
    synthetic(project)
    began = time.monotonic()
    done = project.in_own_process("race", "config.yaml", "--store", "whole")
    lasted = time.monotonic() - began
    assert done.returncode in (0, 3), done.stderr
    moments = random.Random(20)
    stores = [project.folder / "killed-1"]
    kills = 0
    while kills < KILLS:
        process = project.start("race", "config.yaml", "--store", str(stores[-1]), "-q")
        try:
            process.wait(moments.uniform(0.1, 1.0) * lasted)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            kills += 1
        process.communicate()
        if process.returncode in (0, 3):
            stores.append(project.folder / f"killed-{len(stores) + 1}")
    rounds_without_kills = rounds(project.folder / "whole")
    assert len(rounds_without_kills) == 8
    for store in stores:
        project.race("config.yaml", "--store", store)
        assert rounds(store) == rounds_without_kills
        assert sorted(runs(store)) == sorted(runs(project.folder / "whole"))


@pytest.mark.slow
def test_a_full_disk_in_mid_round_leaves_the_race_as_it_was(project: Project):
    synthetic(project)
    project.race("config.yaml", "--store", "whole")
    synthetic(project, race={**RULES, "limits": {"rounds": 3}})
    project.race("config.yaml")
    before = rounds(project.store)
    synthetic(project)

    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    done = project.in_own_process("race", "config.yaml", preexec_fn=small_files)
    assert done.returncode == 1
    assert "no space left" in done.stderr
    assert rounds(project.store) == before
    project.race("config.yaml")
    assert rounds(project.store) == rounds(project.folder / "whole")


def test_race_select_and_report_agree_that_there_are_too_few_problems(project: Project):
    ratings = {"A": [0.5, 0.5, 0.999, 0.999], "B": [0.5, 0.5, 0.001, 0.001]}
    project.configure(
        **support.synthetic(ratings, correlation=0.0),
        budget={"grid": [1, 2, 3, 4]},
        race={"limits": {"instances": 8}, "alpha": 0.9, "truncate": True, "epsilon": 0.01},
    )
    raced = json.loads(project("race", "config.yaml", "--json").stdout)
    ranking = project.json("select", "config", "--preference", "at 4")
    assert raced["instances"] == 8
    assert ranking["ranking"][0]["problems"] == 8
    assert raced["too_early"]
    assert "8 problems" in ranking["too_early"]
    assert "Too early to say, on 8 problems" in project("report", "config", "--text").stdout
