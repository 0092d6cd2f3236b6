"""`polarbear gate --history` and `polarbear history`: kept values, sequences, slow drifts."""

import json
import shutil
import subprocess
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polarbear as pb
from polarbear.regression import history_files
from polarbear.regression.gate_decision import GateVerdict
from polarbear.regression.history_files import Fingerprints, Merge, MergeResult
from polarbear.regression.merge_drift import comparisons, mean_scores
from tests.regression.hosts import Host, files_of
from tests.support import Project, solver

VERSIONS = ("--baseline", "main", "--candidate", "branch")
AS_AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example.org")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *AS_AUTHOR, *arguments], check=True)


@pytest.fixture
def repository(tmp_path: Path) -> Project:
    """A git repository with two versions of an algorithm, and with limits for short gates."""
    project = Project(tmp_path)
    project.configure(
        algorithms=[
            {**solver("coordinate_descent"), "name": "main"},
            {**solver("coordinate_descent"), "name": "branch"},
        ],
        budget={"grid": {"from": 5, "to": 20, "points": 3}},
        race={"limits": {"instances": 12}},
    )
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    git(tmp_path, "add", "config.yaml")
    git(tmp_path, "commit", "--quiet", "--message", "start")
    return project


def keep(project: Project, *options: str) -> None:
    """Run a gate that keeps the values of its candidate in the folder `merges`."""
    done = project("gate", "config.yaml", *VERSIONS, "--history", "merges", *options)
    assert done.returncode == 0, done.stderr


def commit(project: Project) -> None:
    git(project.folder, "commit", "--quiet", "--allow-empty", "--message", "next")


def shown(project: Project, *options: str) -> Any:
    return json.loads(project("history", "merges", "--json", *options).stdout)


def test_a_merge_is_kept_with_all_instances_although_the_verdict_needed_fewer(repository):
    keep(repository)
    (file,) = (repository.folder / "merges").iterdir()
    content = history_files.read_file(file)
    (result,) = content.results
    assert len(result.instances) == 12
    assert (result.algorithm, result.verdict) == ("branch", "identical")
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=repository.folder, text=True)
    assert content.merge.commit == head.strip()
    assert head.strip() in file.name
    (sequence,) = shown(repository)["sequences"]
    assert [row["problems"] for row in sequence["merges"]] == [12]
    assert "one merge" in repository("history", "merges").stdout


def test_a_gate_on_the_same_commit_replaces_its_merge_and_the_next_commit_adds_one(repository):
    keep(repository)
    keep(repository)
    assert len(list((repository.folder / "merges").iterdir())) == 1
    commit(repository)
    keep(repository)
    history = shown(repository)
    (sequence,) = history["sequences"]
    assert [row["against_previous"] for row in sequence["merges"]] == [None, 0.5]
    assert [row["against_others"] for row in sequence["merges"]] == [0.5, 0.5]
    assert history["is_drift"] is False
    assert [compared["merges_ago"] for compared in sequence["comparisons"]] == [1]
    config = repository.folder / "config.yaml"
    config.write_text(config.read_text() + "\n")
    keep(repository)
    assert shown(repository)["sequences"][0]["merges"][-1]["merge"].endswith("-dirty")


def test_another_seed_starts_a_new_sequence_and_a_new_limit_does_not(repository):
    keep(repository)
    commit(repository)
    keep(repository, "--instances", "14")
    commit(repository)
    keep(repository, "--seed", "7", "--store", "config-7/config")
    first, second = shown(repository)["sequences"]
    assert [row["problems"] for row in first["merges"]] == [12, 14]
    assert (first["is_newest"], first["comparisons"]) == (False, [])
    assert second["changed"] == "seeds from 1, common to 7, common"
    screen = repository("history", "merges").stdout
    assert "a new sequence, because of other seeds from 1, common to 7, common" in screen


def test_outside_of_a_repository_a_merge_has_its_time(repository):
    shutil.rmtree(repository.folder / ".git")
    keep(repository)
    (sequence,) = shown(repository)["sequences"]
    (row,) = sequence["merges"]
    assert row["commit"] == ""
    assert row["merge"] == row["committed"]


def damage(file: Path) -> None:
    file.write_text(file.read_text().replace('"verdict": "identical"', '"verdict": "better"'))


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:1000])


def replace_by_other_json(file: Path) -> None:
    file.write_text('{"name": "a file of another tool"}')


@pytest.mark.parametrize("change", [damage, cut, replace_by_other_json])
def test_a_damaged_file_is_named_in_one_line_with_what_to_do(repository, change):
    keep(repository)
    (file,) = (repository.folder / "merges").iterdir()
    change(file)
    error = repository.refused("history", "merges")
    assert file.name in error
    assert "is damaged" in error
    assert "restore it, or remove it" in error
    assert len(error.strip().split("\n")) == 1


def test_foreign_files_are_left_alone_and_a_newer_format_is_refused(repository):
    keep(repository)
    merges = repository.folder / "merges"
    (file,) = merges.iterdir()
    (merges / "README.md").write_text("The history of a gate.")
    (merges / "package.json").write_text("{")
    assert len(shown(repository)["sequences"]) == 1
    content = replace(history_files.read_file(file), format=history_files.FORMAT + 1)
    file.write_bytes(history_files.file_io.to_json(asdict(content)))
    assert "use a newer version" in repository.refused("history", "merges")


def test_a_history_that_cannot_be_read_or_written_is_refused_in_one_line(repository):
    assert "polarbear gate CONFIG --history merges" in repository.refused("history", "merges")
    (repository.folder / "merges").mkdir()
    assert "has no merge yet" in repository.refused("history", "merges")
    with pytest.raises(pb.ConfigError, match="from 0 to below 0.5, found 10%"):
        pb.history(repository.folder / "merges", "10%")
    assert "alpha must be" in repository.refused("history", "merges", "--alpha", "95")
    (repository.folder / "file").write_text("")
    error = repository.refused("gate", "config.yaml", *VERSIONS, "--history", "file")
    assert "--history names a folder, but file is a file" in error
    assert not (repository.folder / "config").exists()


PRINTS = Fingerprints("suite", "grid", "seeds", "machine")


def result_of(values: np.ndarray, **changes: Any) -> MergeResult:
    names = tuple(f"instance {k}" for k in range(len(values)))
    result = MergeResult(
        store="gate",
        algorithm="branch",
        axis="evaluations",
        verdict=GateVerdict.UNDECIDED,
        tie_tolerance=0.0,
        fingerprints=PRINTS,
        times=tuple(range(1, values.shape[1] + 1)),
        instances=names,
        problems=names,
        values=tuple(map(tuple, values.tolist())),
    )
    return replace(result, **changes)


def merges_with(slope: float, n_merges: int, seed: int = 1) -> list[MergeResult]:
    """Merges whose values grow by a slope, in standard deviations of their noise."""
    rng = np.random.default_rng(seed)
    problem = rng.standard_normal((60, 1))
    return [
        result_of(problem + slope * number + rng.standard_normal((60, 4)))
        for number in range(n_merges)
    ]


def write(folder: Path, results: list[MergeResult]) -> None:
    for number, result in enumerate(results):
        merge = Merge(f"{number:040x}", f"2026-01-{number + 1:02}T00:00:00+00:00")
        history_files.write(folder, merge, [result])


def test_a_slow_drift_is_found_with_exit_code_4_and_drawn(tmp_path):
    project = Project(tmp_path)
    results = merges_with(0.08, 13)
    write(tmp_path / "merges", results)
    steps = [comparisons(results[k : k + 2], 0.05, 0.95) for k in range(12)]
    assert not any(compared.is_drift for step in steps for compared in step)
    done = project("history", "merges", "--svg", "merges.svg")
    assert done.returncode == 4
    assert "Drift of branch (gate): the 4 merges 0000000 to 0000000 win" in done.stdout
    assert "8 merges earlier; a win rate below 0.45 is shown (60 problems" in done.stdout
    drawing = (tmp_path / "merges.svg").read_text()
    assert "grey merges show a drift" in drawing
    history = shown(project)
    assert history["is_drift"]
    assert [c["merges_ago"] for c in history["sequences"][0]["comparisons"]] == [1, 2, 4, 8]


def test_a_history_of_seconds_says_which_merges_are_not_comparable(tmp_path):
    machines = [replace(PRINTS, machine=machine) for machine in ("a", "b")]
    results = [
        result_of(np.zeros((2, 1)), axis="seconds", fingerprints=prints) for prints in machines
    ]
    write(tmp_path, results)
    history = pb.history(tmp_path)
    (note,) = history.notes
    assert "different days on one machine, are not comparable" in note
    assert [sequence.changed for sequence in history.sequences] == ["", "machine from a to b"]


@pytest.mark.parametrize("slope", [0.0, -0.1])
def test_merges_without_drift_or_that_improve_raise_no_alarm(slope):
    for seed in range(5):
        results = merges_with(slope, 12, seed)
        for n_merges in range(2, 13):
            compared = comparisons(results[:n_merges], 0.0, 0.95)
            assert not any(comparison.is_drift for comparison in compared)


def test_the_errors_of_all_comparisons_add_up_to_the_permitted_error():
    results = [result_of(np.zeros((1, 1)))] * 40
    errors: dict[int, float] = {}
    for n_merges in range(2, 41):
        for compared in comparisons(results[:n_merges], 0.05, 0.9):
            errors[compared.merges_ago] = errors.get(compared.merges_ago, 0.0) + compared.error
    assert list(errors) == [1, 2, 4, 8, 16]
    assert errors[1] == pytest.approx(0.1 / 2 * (1 - 1 / 40))
    assert sum(errors.values()) < 0.1


def test_scores_are_means_over_pairs_of_merges_and_over_the_instances_of_a_problem():
    older = [result_of(np.array([[1.0], [1.0], [np.inf]]))]
    newer = [
        result_of(np.array([[0.0], [2.0], [np.inf]])),
        result_of(np.array([[1.0], [1.0], [3.0]])),
    ]
    np.testing.assert_allclose(mean_scores(newer, older), [[0.75], [0.25], [0.75]])
    problems = ("p", "p", "q")
    newer = [replace(result, problems=problems) for result in newer]
    np.testing.assert_allclose(mean_scores(newer, older), [[0.5], [0.75]])
    fewer = replace(
        older[0], instances=older[0].instances[:1], problems=("p",), values=older[0].values[:1]
    )
    np.testing.assert_allclose(mean_scores(newer, [fewer]), [[0.75]])


def test_merges_without_a_common_instance_show_nothing():
    other = result_of(np.zeros((1, 1)), instances=("another",))
    (compared,) = comparisons([result_of(np.zeros((1, 1))), other], 0.05, 0.95)
    assert (compared.problems, compared.win_rate, compared.p) == (0, None, 1.0)
    assert not compared.is_drift


def test_several_results_of_a_merge_are_kept_side_by_side(tmp_path):
    merge = Merge("a" * 40, "2026-01-01T00:00:00+00:00")
    one = result_of(np.array([[1.0], [np.inf]]))
    other = replace(one, algorithm="other")
    history_files.write(tmp_path, merge, [one])
    history_files.write(tmp_path, merge, [other])
    history_files.write(tmp_path, merge, [one])
    (content,) = history_files.read(tmp_path)
    assert content.results == (other, one)
    assert len(history_files.sequences([content])) == 2


def merge_branch(host: Host, branch: str) -> None:
    """Merge a branch into main, as a host does after a green check."""
    host.done("git worktree remove --force baseline || true")
    host.done("git worktree remove --force merges || true")
    host.done("git switch -qf main")
    author = "-c user.name=a -c user.email=a@example.org"
    host.done(f"git {author} merge -q --no-ff -m merge origin/{branch}")


@pytest.mark.slow
def test_the_workflows_keep_each_merge_in_a_branch_or_an_artifact(tmp_path: Path):
    """All steps run in a clone of the tutorial's repository, except the actions of the host."""
    host = Host(tmp_path)
    files = files_of("how-to/history.md")
    for number, branch in enumerate(("refactor", "reseed"), start=1):
        merge_branch(host, branch)
        assert host.steps(files[".github/workflows/history.yml"]) == 0
        kept = subprocess.check_output(
            ["git", "ls-tree", "--name-only", "merges"], cwd=tmp_path / "origin", text=True
        )
        assert len(kept.split()) == number
        assert all(name.endswith(history_files.ENDING) for name in kept.split())
    for number, branch in enumerate(("slower", "comment"), start=1):
        if number == 1:
            host.done("git worktree remove --force merges")
        merge_branch(host, branch)
        exit_code = host.script(files[".gitlab-ci.yml"])
        assert exit_code == 0
        assert len(list((host.checkout / "merges").iterdir())) == number
