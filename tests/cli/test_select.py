"""`polarbear select`, and a race for one preference."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import OVER_TIME
from tests.support import Project, synthetic

KEYS = {"choice", "criterion", "preference", "ranking"}
ROW = {"algorithm", "p2bb", "mean", "quantile", "regret"}


def test_json_holds_what_scripts_rely_on(inferred: Project):
    answer = inferred.json("select", "config", "--preference", "at 1000")
    assert set(answer) >= KEYS
    assert answer["choice"] == "late"
    assert answer["criterion"] == "p2bb"
    assert answer["preference"] == "at 1000"
    assert "portfolio" not in answer
    assert all(set(row) >= ROW for row in answer["ranking"])
    assert answer["ranking"][0]["algorithm"] == "late"
    assert sum(row["p2bb"] for row in answer["ranking"]) == pytest.approx(1)
    assert answer["posterior"]["from"] == "infer"
    early = inferred.json("select", "config", "--preference", "at 10")
    assert early["choice"] == "early"


@pytest.mark.parametrize("risk", ["p2bb", "mean", "quantile", "regret"])
def test_each_risk_profile_chooses_by_its_own_column(inferred: Project, risk: str):
    answer = inferred.json("select", "config", "--risk", risk, "--gamma", 0.2)
    assert answer["criterion"] == risk
    column = [row[risk] for row in answer["ranking"]]
    assert column == sorted(column, reverse=risk != "regret")
    assert answer["choice"] == answer["ranking"][0]["algorithm"]


def test_the_table_shows_all_criteria_next_to_a_sentence(inferred: Project):
    done = inferred.done("select", "config", "--preference", "between 50 and 1000")
    for words in (
        "preference: the budget is equally likely to be anything from 50 to 1000 evaluations",
        "late: P(best) = over 0.99 on 60 problems; beats early, its strongest rival, on 66% of "
        "problems on average over these budgets; expected regret",
        "or 0.31 with early",
        "P(best)",
        "quantile 0.05",
        "expected regret",
    ):
        assert words in " ".join(done.stdout.split())  # lines may be broken anywhere
    by_dirichlet = inferred("select", "config", "--model", "dirichlet")
    assert "looks more certain than it is" in by_dirichlet.stderr
    assert inferred("select", "config", "--model", "dirichlet", "-q").stderr == ""


def test_those_left_out_compete_only_when_named_and_are_shown_when_asked_for(inferred: Project):
    answer = inferred.json("select", "config", "--preference", "at 100", "--alpha", 0.51)
    left_out = answer["left_out"]
    assert left_out
    assert {row["algorithm"] for row in answer["ranking"]} == set(answer["candidates"])
    everyone = inferred.json("select", "config", "--preference", "at 100", "--alpha", 0.51, "--all")
    assert len(everyone["ranking"]) == 3
    outside = [row["algorithm"] for row in everyone["ranking"] if not row["competes"]]
    assert outside == left_out
    assert everyone["choice"] not in left_out
    table = inferred("select", "config", "--alpha", 0.51, "--all").stdout
    assert f"({left_out[0]})" in table
    answer_for_two = inferred.json("select", "config", "--algorithms", "early,never")
    assert answer_for_two["candidates"] == ["early", "never"]


def test_a_portfolio_covers_the_problems_by_different_algorithms(inferred: Project):
    for model in ("empirical", "dirichlet"):
        arguments = ("--preference", "at 1000", "--portfolio", 3, "--model", model)
        chosen = inferred.json("select", "config", *arguments)["portfolio"]
        assert sorted(chosen) == ["early", "late", "never"]
    arguments = ("select", "config", "--preference", "worst-case", "--portfolio", 2)
    worst = inferred.json(*arguments, "--risk", "mean")
    assert sorted(worst["portfolio"]) == ["early", "late"]
    assert worst["portfolio_search"] == "exhaustive"
    assert "1 x early, 1 x late, the best of all" in inferred(*arguments).stdout


def test_a_sweep_shows_where_each_is_the_choice(inferred: Project):
    answer = inferred.json("select", "config", "--sweep")
    intervals = answer["sweep"]["intervals"]
    assert intervals[0]["choice"] == "early"
    assert intervals[0]["from"] == 10
    assert intervals[-1]["choice"] == "late"
    assert intervals[-1]["to"] == 1000
    assert len(answer["sweep"]["positions"]) == len(answer["sweep"]["p2bb"]["late"])
    done = inferred.done("select", "config", "--sweep", "--png", "sweep.png")
    assert "budget in evaluations" in done.stdout
    assert (inferred.folder / "sweep.png").read_bytes().startswith(b"\x89PNG")


def test_the_value_of_information_is_the_regret_of_the_choice(inferred: Project):
    answer = inferred.json("select", "config", "--preference", "at 100", "--value-of-information")
    information = answer["value_of_information"]
    assert information["gain"] == pytest.approx(answer["ranking"][0]["regret"])
    assert sum(rival["gain"] for rival in information["rivals"]) == pytest.approx(
        information["gain"]
    )
    text = inferred("select", "config", "--preference", "at 100", "--value-of-information").stdout
    assert "exact knowledge could gain at most" in text


def test_criteria_that_disagree_are_named_with_the_cost(project: Project):
    """Two algorithms are close, and one has fewer runs: mean and lower quantile disagree."""
    wins = {"A": (30, 20), "B": (2, 1)}  # numbers of wins and losses against C
    rows = []
    for name, (won, lost) in wins.items():
        for i in range(won + lost):
            first, second = (1, 2) if i < won else (2, 1)
            rows += [f"{name}{i},1,{name},{first}", f"{name}{i},1,C,{second}"]
    text = "\n".join(["instance,t,algorithm,position", *rows]) + "\n"
    (project.folder / "r.csv").write_text(text)
    project.json("import", "r.csv", "--format", "rankings", "--store", "s")
    project.json("infer", "s", "--model", "dirichlet", "--draws", 4000)
    arguments = ("select", "s", "--preference", "final", "--model", "dirichlet", "--value", "theta")
    by_mean = project.json(*arguments, "--risk", "mean", "--all")
    careful = project.json(*arguments, "--risk", "quantile", "--all")
    assert (by_mean["choice"], careful["choice"]) == ("B", "A")
    against = {disagreement["criterion"]: disagreement for disagreement in by_mean["disagreements"]}
    assert against["quantile"]["prefers"] == "A"
    rows_of = {row["algorithm"]: row for row in by_mean["ranking"]}
    cost = rows_of["A"]["quantile"] - rows_of["B"]["quantile"]
    assert against["quantile"]["cost"] == pytest.approx(cost)
    text = project(*arguments, "--risk", "mean").stdout
    assert "by lower quantile the choice would be A; B costs" in text


def test_yaml_and_functions_are_looked_for_where_they_are_named(inferred: Project):
    (inferred.folder / "wishes").mkdir(exist_ok=True)
    (inferred.folder / "wishes" / "mine.py").write_text(
        "def worth(theta, times):\n    return float(theta[-1] + 0.1 * theta[0])\n"
    )
    (inferred.folder / "wishes" / "mine.yaml").write_text(
        "preference: mix\nof:\n  - {weight: 3, preference: python, function: 'mine.py:worth'}\n"
        "  - {weight: 1, preference: final}\n"
    )
    by_file = inferred.json("select", "config", "--preference", "wishes/mine.yaml")
    assert by_file["choice"] == "late"
    inline = inferred.json("select", "config", "--preference", "wishes/mine.py:worth")
    assert inline["choice"] == "late"


def test_a_store_without_a_posterior_is_answered_from_its_runs(project: Project):
    project.configure()
    project.json("run", "config.yaml")
    answer = project.json("select", "config")
    assert answer["too_early"]
    assert answer["posterior"]["model"] == "empirical"
    assert answer["posterior"]["instances"] == 3
    done = project("select", "config")
    assert "too early to recommend" in done.stderr


def test_runs_that_came_later_are_noticed(inferred: Project, tmp_path: Path):
    copy = Project(tmp_path)
    shutil.copytree(inferred.folder, tmp_path, dirs_exist_ok=True)
    copy.json("run", "config.yaml", "--instances", 65)
    notes = copy.json("select", "config", "--model", "dirichlet")["notes"]
    assert any("uses 60 of the store's 65 problems" in note for note in notes)
    assert copy.json("select", "config")["posterior"]["instances"] == 65


@pytest.mark.slow
def test_a_race_for_a_preference_stops_when_its_regret_is_small_and_select_uses_it(project):
    rules = {"race": {"limits": {"rounds": 30}}, "inference": {"draws": 1000}}
    project.configure(**synthetic(OVER_TIME), budget={"grid": [10, 100, 1000]}, **rules)
    answer = project.json("race", "config.yaml", "--for", "at 1000", "--regret", 0.05, "-q")
    (purpose,) = answer["for"]
    assert purpose["preference"] == "at 1000"
    assert purpose["choice"] == "late"
    regret = purpose["expected_regret"]
    assert regret < 0.05 == purpose["threshold"]
    assert purpose["answered"]
    assert purpose["open"] == []
    assert answer["resolved"] is False  # other budgets are not settled
    assert "expected regret of late for 'at 1000'" in answer["stopped_because"]
    chosen = project.json("select", "config", "--preference", "at 1000")
    assert chosen["posterior"]["from"] == "race"
    assert chosen["choice"] == "late"
    assert chosen["too_early"] is None
    assert chosen["ranking"][0]["regret"] == pytest.approx(regret, abs=1e-6)
    # The same command runs nothing; a lower threshold continues the race.
    repeated_race = project.json("race", "config.yaml", "--for", "at 1000", "--regret", 0.05)
    assert repeated_race["rounds"] == answer["rounds"]
    stricter = project("race", "config.yaml", "--for", "at 100", "--regret", 1e-4, "--json")
    assert json.loads(stricter.stdout)["rounds"] > answer["rounds"]
    both = project("race", "config.yaml", "--for", "at 10", "--for", "at 1000", "--regret", 0.05)
    assert both.stdout.count("For 'at 10") == 2
    assert 'Next: polarbear select config --preference "at 10"' in both.stdout
