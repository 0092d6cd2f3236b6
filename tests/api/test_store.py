"""A store of the Python interface."""

import shutil
from pathlib import Path

import pytest

import polarbear as pb
from tests.api.conftest import RATINGS, configuration
from tests.support import Project


def test_a_store_shows_its_contents(raced: pb.Store):
    opened = pb.open(str(raced.path))
    assert opened.algorithms == tuple(RATINGS)
    assert opened.times.tolist() == [10, 100, 1000]
    assert opened.axis == "evaluations"
    assert opened.config["instances"]["suite"] == "synthetic"
    assert opened.result is None
    runs = opened.runs()
    points = opened.trajectories()
    assert len(opened.instances()) == 32
    assert points.columns == ["algorithm", "instance", "run_status", "t", "y"]
    last = points.group_by("algorithm", "instance").agg(y=points["y"].min())
    assert len(last) == len(runs)
    assert points["y"].min() == runs["best"].min()
    assert set(opened.trajectories(["A"])["algorithm"]) == {"A"}


def test_nothing_that_a_caller_changes_reaches_the_store(raced: pb.Store):
    raced.config["seed"] = 99
    raced.times[0] = 99
    assert raced.config["seed"] == 1
    assert raced.times[0] == 10


def test_values_have_the_objectives_own_sign(tmp_path: Path):
    (tmp_path / "t.csv").write_text(
        "algorithm,instance,t,y\nA,i,1,5\nA,i,2,7\nB,i,1,6\nB,i,2,6.5\n"
    )
    store = pb.import_data(tmp_path / "t.csv", tmp_path / "s", maximise=True)
    assert store.trajectories()["y"].to_list() == [5, 7, 6, 6.5]
    assert sorted(store.runs()["best"]) == [6.5, 7]


def test_standings_are_those_of_the_race_and_refused_without_one(raced: pb.Store, folder: Path):
    assert "A" in raced.standings().pareto_set
    assert raced.result.standings.pareto_set == raced.standings().pareto_set
    store = pb.run(configuration(), folder, instances=2)
    with pytest.raises(pb.RaceError, match="has not been run"):
        store.standings()


def test_a_choice_has_the_fields_of_the_json(raced: pb.Store):
    answer = raced.select(
        "at 1000", risk="p2bb", portfolio=2, sweep=True, value_of_information=True
    )
    assert answer.choice == "A"
    assert answer.criterion == "p2bb"
    assert answer.ranking[0].algorithm == "A"
    assert len(answer.portfolio) == 2
    assert answer.sweep.intervals[0].choice == "A"
    assert answer.value_of_information.gain >= 0
    assert raced.select("at 1000").portfolio is None
    with pytest.raises(pb.SelectionError):
        raced.select("at 1000", risk="luck")


def test_the_classical_view_has_the_fields_of_the_json(measured: pb.Store, tmp_path: Path):
    comparison = measured.compare(["A", "B"], bootstrap=200, csv=tmp_path / "figures")
    assert [row.algorithm for row in comparison.aocc] == list(RATINGS)
    assert (comparison.pair.a, comparison.pair.b) == ("A", "B")
    assert comparison.written
    assert all(Path(path).exists() for path in comparison.written)
    only = measured.compare(algorithms=["B", "A"], bootstrap=200)
    assert {row.algorithm for row in only.aocc} == {"A", "B"}
    with pytest.raises(pb.ReportError, match="two different algorithms"):
        measured.compare(["A", "A"])
    with pytest.raises(pb.ConfigError, match="bootstrap"):
        measured.compare(bootstrap=1)


def test_a_report_has_words_and_writes_the_named_files(raced: pb.Store, tmp_path: Path):
    report = raced.report(tmp_path / "page.html", csv=tmp_path / "figures", only=["leaders"])
    assert report.written == (tmp_path / "figures" / "leaders.csv", tmp_path / "page.html")
    assert all(path.exists() for path in report.written)
    assert report.answer[0] in report.text()
    assert raced.report().written == ()
    with pytest.raises(pb.ReportError, match="exists"):
        raced.report(tmp_path / "page.html")


def test_commands_print_the_results_of_the_python_interface(project: Project):
    project.configure(**configuration())
    printed = project.json("run", "config.yaml", "--instances", 6)
    store = pb.open(project.store)
    assert printed["evaluations"]["A"] == store.runs().filter(algorithm="A")["evaluations"].sum()
    inferred = project.json("infer", "config", "--pairs", "--draws", 1000)
    posterior = store.infer(draws=1000)
    assert posterior.from_store
    assert inferred["ratings"] == posterior.summary().to_dicts()
    columns = ["a", "b", "t", "p_dominates", "p_equivalent", "error", "p_wins"]
    assert inferred["pairs"] == posterior.pairs().select(columns).to_dicts()
    assert project.json("select", "config")["choice"] == store.select().choice


def test_options_that_cannot_be_meant_are_refused(raced: pb.Store, folder: Path):
    with pytest.raises(pb.ConfigError, match="did you mean 'draws'"):
        raced.infer(drows=1000)
    with pytest.raises(pb.ConfigError, match="zero or more, found -1"):
        raced.infer(seed=-1)
    with pytest.raises(pb.ConfigError, match="name the folder"):
        pb.run(configuration())
    with pytest.raises(pb.ConfigError, match="workers"):
        pb.run(configuration(), folder, workers=0)
    with pytest.raises(pb.ConfigError, match="seed"):
        pb.run(configuration(), folder, seed=-1)
    with pytest.raises(pb.ConfigError, match="one instance or more"):
        pb.run(configuration(), folder, instances=0)
    assert not folder.exists()


def test_a_fresh_race_begins_in_the_same_store_and_the_earlier_one_can_be_opened(raced, folder):
    shutil.copytree(raced.path, folder)
    limits = configuration(race={"limits": {"rounds": 1}})
    store = pb.race(limits, folder, fresh=True)
    assert store.path == folder
    assert store.standings().rounds == 1
    assert pb.open(folder, race=1).standings().pareto_set == raced.standings().pareto_set
    assert store.runs().equals(raced.runs())
