"""Failing algorithms are errors of `polarbear race`, not losses."""

import stat
from pathlib import Path
from typing import Any

import pytest

from polarbear.store import StoreOnDisk
from tests.support import RANDOM, SOLVERS, Project, solver

GOOD = solver("coordinate_descent")


def raced(project: Project, *algorithms: dict[str, Any], **changes: Any) -> None:
    """A quick race on small problems that ends after two rounds at the latest, without a trial."""
    changes["execution"] = {"check": False, **changes.get("execution", {"workers": 2})}
    project.configure(
        algorithms=list(algorithms),
        **{
            "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 3}},
            "budget": {"grid": [5, 20, 60]},
            "race": {"limits": {"rounds": 2}},
            "inference": {"draws": 400},
            **changes,
        },
    )


def program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_an_algorithm_that_crashes_on_every_run_ends_the_race_with_1_and_its_message(project):
    raced(project, RANDOM, solver("fails_at_once"))
    done = project("race", "config.yaml")
    assert done.returncode == 1
    assert "'fails_at_once' failed in all 8 of its first runs" in done.stderr
    assert "RuntimeError: the licence has expired" in done.stderr
    assert "--retry-failed" in done.stderr
    assert done.stdout == ""
    assert StoreOnDisk.open(project.store).rounds.last() is None


def test_after_a_fix_the_race_continues_and_repeats_failed_runs_only(project: Project):
    marker = project.folder / "fixed"
    raced(project, RANDOM, solver("fails_until", marker=str(marker)))
    assert project("race", "config.yaml").returncode == 1
    marker.touch()
    assert (
        project("race", "config.yaml").returncode == 1
    )  # failed runs are not repeated without --retry-failed
    project.race("config.yaml", "--retry-failed")
    runs = StoreOnDisk.open(project.store).runs()
    assert set(runs.filter(runs["algorithm"] == "random")["attempt"]) == {1}
    assert 2 in set(runs.filter(runs["algorithm"] == "fails_until")["attempt"])
    assert project.json("status", "config")["failures"] == []


def test_failed_runs_of_decided_rounds_can_be_repeated(project: Project):
    changes = {"execution": {"workers": 1, "failures": {"tolerated": 1}}}
    raced(project, RANDOM, solver("fails_sometimes", every=2), **changes)
    project.race("config.yaml")
    before = StoreOnDisk.open(project.store)
    failed = {row["instance"] for row in before.runs().iter_rows(named=True) if row["message"]}
    assert failed
    done = project.race("config.yaml", "--retry-failed")
    assert "the decisions of earlier rounds stay" in done.stderr
    runs = StoreOnDisk.open(project.store).runs()
    repeated = runs.filter(runs["attempt"] == 2)
    assert set(repeated["instance"]) == failed


def test_more_failures_than_are_tolerated_end_the_race_with_1(project: Project):
    often = solver("fails_sometimes", every=2)
    raced(project, RANDOM, often)
    refusal = project.refused("race", "config.yaml")
    assert "more than the 20% of `execution.failures.tolerated`" in refusal
    assert StoreOnDisk.open(project.store).rounds.last() is None
    raced(project, RANDOM, often, execution={"workers": 2, "failures": {"tolerated": 0.9}})
    project.race("config.yaml")


def test_a_single_failure_ends_the_race_where_failures_mean_that(project: Project):
    strict = {"workers": 2, "failures": {"means": "ends"}}
    raced(project, RANDOM, solver("fails_sometimes", every=3), execution=strict)
    assert "`execution.failures.means: ends`" in project.refused("race", "config.yaml")


@pytest.mark.parametrize(
    ("means", "values"), [("keeps", "finite"), ("last", "infinite"), ("absent", "absent")]
)
def test_a_failed_run_counts_as_the_configuration_defines(project, means, values):
    import numpy as np

    execution = {"workers": 1, "failures": {"means": means, "tolerated": 1}}
    raced(project, RANDOM, solver("fails_sometimes", every=1), execution=execution)
    project.done("run", "config.yaml", "--instances", 2)
    store = StoreOnDisk.open(project.store)
    values_at_times = store.on_grid(np.array([5.0, 60.0]), ["fails_sometimes"]).values[:, 0]
    assert np.isfinite(values_at_times[:, 0]).all()  # before it failed
    last_values = values_at_times[:, 1]
    kinds = {
        "finite": np.isfinite(last_values),
        "infinite": np.isinf(last_values),
        "absent": np.isnan(last_values),
    }
    assert kinds[values].all()


def test_the_meaning_of_failures_cannot_change_during_a_race(project: Project):
    raced(project, RANDOM, GOOD)
    project("race", "config.yaml", "-q")
    raced(project, RANDOM, GOOD, execution={"failures": {"means": "last"}})
    refusal = project.refused("race", "config.yaml")
    assert 'settings.failures: stored null, configuration "last"' in refusal


def test_a_run_that_is_killed_from_outside_is_run_again_and_is_no_failure(project: Project):
    tries = project.folder / "tries"
    tries.mkdir()
    few = {"batch": {"start": 2, "min": 2, "max": 2}, "limits": {"rounds": 1}}
    raced(project, RANDOM, solver("killed_until", folder=str(tries)), race=few)
    # A speculative run that is lost counts as not started.
    project.race("config.yaml", "--no-early")
    runs = StoreOnDisk.open(project.store).all_runs()
    killed = runs.filter(runs["algorithm"] == "killed_until")
    assert set(killed.filter(killed["attempt"] == 1)["status"]) == {"lost"}
    assert set(killed.filter(killed["attempt"] == 2)["status"]) == {"budget"}
    assert project.json("status", "config")["failures"] == []


def test_a_program_that_is_killed_from_outside_again_and_again_is_named(project: Project):
    program(project.folder, "solve", "echo 1 5\nkill -9 $$")
    entry = {"name": "solver", "use": "command", "command": "./solve {instance}"}
    names = {"suite": "files", "names": ["a", "b"]}
    raced(project, entry, {**entry, "name": "other"}, instances=names)
    refusal = project.refused("race", "config.yaml")
    assert "'solver' failed in all 2 of its first runs" in refusal
    assert "it was killed from outside, 3 times" in refusal
    assert "was killed by signal 9" in refusal


def seeds_of(project: Project) -> dict[str, list[int]]:
    """The seeds of each algorithm, by instance."""
    runs = StoreOnDisk.open(project.store).runs().sort("instance")
    return {name: list(rows["seed"]) for (name,), rows in runs.group_by("algorithm")}


@pytest.mark.parametrize(("seeds", "alike"), [("separate", False), ("common", True)])
def test_algorithms_share_their_seeds_on_an_instance_where_that_is_said(project, seeds, alike):
    raced(project, RANDOM, GOOD, seeds=seeds)
    project.done("run", "config.yaml", "--instances", 3)
    seeds_by_algorithm = seeds_of(project)
    assert (seeds_by_algorithm["random"] == seeds_by_algorithm["coordinate_descent"]) is alike
    assert len(set(seeds_by_algorithm["random"])) == 3
    raced(project, RANDOM, GOOD, seeds="common" if seeds == "separate" else "separate")
    assert f'seeds: stored "{seeds}"' in project.refused("run", "config.yaml", "--instances", 3)


def test_target_runners_share_the_seed_of_an_instance_as_irace_has_it(project: Project):
    program(project.folder, "runner", "echo 1 $3\necho $3")
    (project.folder / "instances.txt").write_text("# irace's list\na.tsp\nb.tsp\n")
    (project.folder / "elites.txt").write_text("ants\n10\n20\n")
    entry = {"name": "elite", "use": "command", "command": "./runner", "protocol": "irace"}
    names = {"suite": "files", "listed_in": "instances.txt", "directory": "Instances"}
    raced(project, {**entry, "configurations": "elites.txt"}, instances=names)
    answer = project.json("run", "config.yaml")
    assert list(answer["evaluations"]) == ["elite 1", "elite 2"]
    seeds_by_algorithm = seeds_of(project)
    assert seeds_by_algorithm["elite 1"] == seeds_by_algorithm["elite 2"]
    instances = StoreOnDisk.open(project.store).runs()["instance"]
    assert set(instances) == {"Instances/a.tsp", "Instances/b.tsp"}


def test_on_an_axis_of_its_own_costs_savings_and_limits_are_in_its_unit(project: Project):
    raced(
        project,
        solver("reports_iterations", "long"),
        solver("reports_iterations", "short", limit=7),
        budget={"axis": "iterations", "grid": [1, 5, 10]},
        race={"limits": {"spent": 100}},
    )
    done = project("race", "config.yaml")
    assert done.returncode == 3, done.stderr
    assert "Stopped because the limit of 100 iterations is reached" in done.stdout
    assert "136 iterations (" in done.stdout
    assert "evaluations" not in done.stdout + done.stderr
    race = project.json("status", "config")["race"]
    assert race["axis"] == "iterations"
    assert race["spent"] == {"long": 8 * 10, "short": 8 * 7}
    assert {entry["spent"] for entry in race["algorithms"]} == {80, 56}
    status_text = project("status", "config").stdout
    assert "evaluations" not in status_text
    assert "Where the iterations went" in project("report", "config", "--text").stdout


def test_on_the_seconds_axis_a_race_has_cost_seconds(project: Project):
    raced(
        project,
        solver("slow", "a"),
        solver("slow", "b"),
        budget={"axis": "seconds", "grid": [0.05, 0.1]},
        race={"batch": {"start": 2, "min": 2, "max": 2}, "limits": {"rounds": 1}},
    )
    done = project.race("config.yaml")
    assert "0.4 seconds (0% saved)" in done.stdout
    assert project.json("status", "config")["race"]["spent"] == {"a": 0.2, "b": 0.2}


@pytest.mark.parametrize(("trajectory", "other"), [("best", "last"), ("last", "best")])
def test_a_training_curve_counts_by_its_best_or_its_last_value(project, trajectory, other):
    early = solver("overfits", "early", best_at=3)  # at the end it is far from its best
    curves = (early, solver("overfits", "late", best_at=18))
    epochs = {"axis": "epochs", "grid": [20]}
    raced(project, *curves, budget=epochs, trajectory=trajectory)
    answer = project.json("run", "config.yaml", "--instances", 4)
    first = {entry["algorithm"]: entry["first_at_end"] for entry in answer["algorithms"]}
    if trajectory == "last":
        assert first["late"] == 1
        assert "the classical view needs best values so far" in project.refused("compare", "config")
    else:
        assert first["late"] < 1  # on some instances the other one's best is better
    raced(project, *curves, budget=epochs, trajectory=other)
    refusal = project.refused("run", "config.yaml", "--instances", 4)
    assert f'trajectory: stored "{trajectory}"' in refusal


def test_of_a_noisy_problem_with_a_true_value_the_true_one_is_recorded(project: Project):
    instances = {"suite": "python", "function": f"{SOLVERS}:NoisyBowl"}
    raced(project, RANDOM, GOOD, instances=instances)
    project.done("run", "config.yaml", "--instances", 3)
    for _, _, y in StoreOnDisk.open(project.store).trajectories():
        assert (y >= 0).all()  # the noise would make values far below zero
