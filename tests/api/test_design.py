"""`polarbear design`: generations, limits, output, and what happens when it is killed."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
import yaml

import polarbear as pb
from polarbear.api import design_loop

HERE = Path(__file__).parents[1] / "proposers"
STEP = {"real": [0.001, 1], "log": True}


def write(project, propose="elites", **design):
    for name in ("steps.py", "proposing.py"):
        shutil.copy(HERE / name, project.folder / name)
    rules = design.pop("race", {})
    return project.configure(
        algorithms=[
            {
                "name": "walk",
                "use": "python",
                "function": "steps.py:walk",
                "options": {"step": 0.4},
                "space": {"step": STEP},
                "given": [{"step": 0.002}],
            }
        ],
        instances={"suite": "classic", "dimensions": {"from": 2, "to": 2}},
        budget={"grid": {"from": 5, "to": 60, "points": 4}},
        race=rules,
        design={
            "candidates": 2,
            "problems": 16,
            "stable": 1,
            "generations": 2,
            "propose": propose,
            **design,
        },
        execution={"workers": 1, "check": False, "early": 0},
    )


def by_function(name):
    return {"use": "python", "function": f"proposing.py:{name}"}


def designed(project, *arguments):
    done = project("design", "config.yaml", "--json", *arguments)
    assert done.returncode in (0, 3), done.stderr
    return json.loads(done.stdout)


def generation_files(project):
    files = sorted((project.store / "design").glob("*.json"))
    return {file.name: file.read_bytes() for file in files}


def test_a_design_ends_with_a_set_and_presets(project):
    write(project, candidates=3)
    facts = designed(project)
    assert set(facts["pareto_set"]) >= {preset["algorithm"] for preset in facts["presets"]}
    assert facts["presets"][-1]["until"] is None
    assert all(preset["options"].keys() == {"step"} for preset in facts["presets"])
    assert facts["candidates"] == 3 * facts["generations"]
    assert facts["validated"] is False
    presets = yaml.safe_load((project.store / "presets.yaml").read_text())
    assert [preset["algorithm"] for preset in presets["presets"]] == [
        preset["algorithm"] for preset in facts["presets"]
    ]
    assert presets["presets"][-1]["entry"]["use"] == "python"
    assert project("verify", project.store).returncode == 0
    choice = json.loads(project.done("select", project.store, "--json").stdout)["choice"]
    assert choice in facts["pareto_set"]
    again = designed(project)
    assert again["path"] == facts["path"]


@pytest.mark.slow
def test_the_figures_of_a_search_are_drawn_and_written(project):
    write(project, "uniform", candidates=5, generations=1)
    designed(project)
    names = ("search", "configurations", "importance")
    only = [word for name in names for word in ("--only", name)]
    project.done("report", project.store, "--png", "figures", "--csv", "figures", *only)
    for name in names:
        assert (project.folder / "figures" / f"{name}.png").stat().st_size > 5_000
    tables = {name: pl.read_csv(project.folder / "figures" / f"{name}.csv") for name in names}
    assert len(tables["search"]) == 5
    assert len(tables["configurations"]) == 7
    explained = tables["importance"]["explained"]
    assert explained.is_between(0, 1).all()
    # Steps are all that differs, so they explain much of the differences at some time.
    assert explained.max() > 0.3
    project.done("report", project.store, "--html", "page.html")
    page = (project.folder / "page.html").read_text()
    assert "Which parameters matter when" in page


STEPS_TO_BE_KILLED_IN = [
    pytest.param("settle", 1, marks=pytest.mark.slow),
    # The second candidate of the first generation.
    pytest.param("judge_in", 2, marks=pytest.mark.slow),
    # Before the proposals of the second generation.
    pytest.param("ask", 2, marks=pytest.mark.slow),
    pytest.param("take_in", 1, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("step", "call"), STEPS_TO_BE_KILLED_IN)
def test_killed_and_resumed_gives_the_same_generations(project, monkeypatch, step, call):
    """The proposer would answer differently, if it were asked again."""
    write(project, by_function("changing"), stable=3)
    original = getattr(design_loop, step)
    calls = 0

    def killing(*arguments, **options):
        nonlocal calls
        calls += 1
        if calls == call:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(design_loop, step, killing)
        killed = project("design", "config.yaml", "--json")
    assert killed.returncode == 130
    assert "the same command continues" in killed.stderr
    designed(project)
    resumed = generation_files(project)
    n_asked = len((project.folder / "asked").read_text())
    assert n_asked == 2
    (project.folder / "asked").unlink()
    shutil.rmtree(project.store)
    designed(project)
    assert generation_files(project) == resumed


@pytest.mark.slow
def test_a_set_that_is_too_large_shrinks_and_a_kill_meanwhile_changes_nothing(project, monkeypatch):
    write(project, by_function("remembering"), members=2, stable=3, generations=1)
    config = yaml.safe_load((project.folder / "config.yaml").read_text())
    config["algorithms"][0]["given"].append({"step": 0.05})
    (project.folder / "config.yaml").write_text(yaml.safe_dump(config))
    facts = designed(project)
    assert len(facts["pareto_set"]) <= 2
    assert facts["path"][0]["dropped"]
    uninterrupted = generation_files(project)
    shutil.rmtree(project.store)

    with monkeypatch.context() as patch:
        # The members that are dropped have left the race, and the others are not raced yet.
        patch.setattr(design_loop, "Race", KillingRace)
        assert project("design", "config.yaml").returncode == 130
    designed(project)
    assert generation_files(project) == uninterrupted


class KillingRace(design_loop.Race):
    """A race of the configuration that is killed where it begins with two algorithms."""

    def run(self):
        if len(self.state.algorithms) == 2:
            raise KeyboardInterrupt
        return super().run()


def test_a_proposer_that_fails_is_reported_and_not_fatal(project):
    write(project, by_function("broken"), stable=2)
    facts = designed(project)
    assert facts["generations"] == 2
    assert facts["candidates"] == 0
    assert facts["failures"][0] == "generation 1: RuntimeError: no idea"
    assert (
        "the proposer 'python' failed: RuntimeError: no idea"
        in project("design", "config.yaml", "--store", "other").stderr
    )


def test_candidates_that_cannot_be_used_have_failed_with_the_reason(project):
    write(project, by_function("mixed"), stable=1, generations=1)
    designed(project)
    (_, generation) = generation_files(project).values()
    verdicts = json.loads(generation)["verdicts"]
    outcomes = [(verdict["verdict"], verdict["text"]) for verdict in verdicts]
    assert outcomes[0][0] == "failed"
    assert "a real from 0.001 to 1, found 7" in outcomes[0][1]
    assert "did you mean 'walk'" in outcomes[1][1]
    assert outcomes[2][0] != "failed"
    assert outcomes[3] == ("failed", "these values were tried before")
    assert outcomes[4][0] != "failed"  # code, written beside the configuration
    assert (project.folder / "design-code" / "candidate_1_5.py").exists()
    assert outcomes[5][0] == "failed"
    assert "wrong" in outcomes[5][1]


def test_a_limit_ends_a_generation_and_the_next_command_continues(project):
    write(project, by_function("changing"), race={"limits": {"evaluations": 100}})
    done = project("design", "config.yaml", "--json")
    assert done.returncode == 3
    assert "the limit of 100 evaluations is reached" in done.stdout
    write(project, by_function("changing"))
    assert designed(project)["generations"] >= 1


def test_a_program_or_function_receives_the_set_and_the_last_verdicts(project):
    write(project, by_function("remembering"), stable=3, generations=2)
    designed(project)
    request = json.loads((project.folder / "request.json").read_text())
    assert request["generation"] == 2
    (verdict,) = request["verdicts"]
    assert verdict["name"] == "walk 1.1"
    assert verdict["text"]
    assert len(request["members"][0]["p_best"]) == len(request["times"])
    assert request["spaces"]["walk"]["parameters"][0]["name"] == "step"


def test_test_instances_are_fresh_and_both_numbers_are_shown(project):
    write(project, "uniform", generations=1)
    done = project("design", "config.yaml", "--test-instances", "12")
    assert done.returncode in (0, 3)
    assert "on fresh instances" in done.stdout
    facts = designed(project, "--test-instances", "12")
    assert facts["validated"] is True
    assert facts["test_problems"] == 12
    seen = set(pb.open(project.store).instances()["instance"])
    tested = set(pb.open(project.folder / "config-test").instances()["instance"])
    assert len(tested) == 12
    assert not seen & tested
    assert all(0 <= preset["test_win_rate"] <= 1 for preset in facts["presets"])


@pytest.mark.slow
def test_another_stores_generations_are_replayed(project):
    write(project, by_function("changing"), generations=1)
    first = designed(project)
    write(project, {"use": "replay", "source": "config"}, generations=1)
    second = designed(project, "--store", "replayed")
    assert second["path"] == first["path"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"propose": "elits"}, "did you mean 'elites'"),
        ({"candidates": 0}, "design.candidates"),
        ({"problem": 10}, "did you mean 'problems'"),
    ],
)
def test_wrong_options_are_refused_before_any_run(project, changes, reason):
    write(project, **changes)
    assert reason in project.refused("design", "config.yaml")
    assert not project.store.exists()


def test_one_algorithm_without_a_space_is_refused(project):
    project.configure(
        algorithms=[{"name": "a", "use": "random-search"}],
        design={"propose": {"use": "command", "command": "true"}},
    )
    assert "one that has a 'space'" in project.refused("design", "config.yaml")


def test_a_renamed_algorithm_keeps_its_generations(project):
    write(project, by_function("changing"), generations=1)
    designed(project)
    names = list(pb.open(project.store).algorithms)
    project.done("rename", project.store, names[-1], "best")
    last = list(generation_files(project).values())[-1]
    assert "best" in json.loads(last)["members"] or names[-1] not in json.loads(last)["members"]
    assert project("verify", project.store).returncode == 0
