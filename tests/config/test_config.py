"""Configurations: what is accepted, and what is refused with which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polarbear.config import Config, differences, load, parse
from polarbear.errors import ConfigError
from polarbear.settings.options import Source
from polarbear.settings.yaml_lines import parse_yaml

GOOD = """\
seed: 5
algorithms:
  - name: A
    use: random-search
  - name: B
    use: synthetic
instances:
  suite: classic
  dimensions: {from: 2, to: 3}
budget:
  grid: {from: 10, to: 100, points: 5}
"""


def parsed(text: str) -> Config:
    return parse(*parse_yaml(text, "race.yaml"))


def changed(**changes: Any) -> Config:
    data, _ = parse_yaml(GOOD, "race.yaml")
    data["algorithms"] = data["algorithms"][:1]
    return parse({**data, **changes}, Source("race.yaml"))


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as error:
        parsed(text)
    return str(error.value)


def refused(**changes: Any) -> str:
    with pytest.raises(ConfigError) as error:
        changed(**changes)
    return str(error.value)


def test_a_misspelt_key_is_refused_with_its_line_and_the_nearest_known_key():
    text = GOOD.replace("budget:", "budgett:")
    assert (
        refusal(text)
        == "race.yaml, line 10: budgett: unknown key 'budgett'; did you mean 'budget'?"
    )


def test_a_misspelt_key_of_a_nested_group_is_refused_with_its_line():
    text = GOOD.replace("points: 5", "pints: 5")
    message = refusal(text)
    assert "line 11" in message
    assert "did you mean 'points'?" in message
    text = GOOD.replace("{from: 2, to: 3}", "{from: 2, until: 3}")
    assert "line 9: instances.dimensions.until: unknown key 'until'" in refusal(text)


def test_a_misspelt_option_of_an_adapter_is_refused_with_its_line():
    text = GOOD.replace("use: random-search", "use: random-search\n    sigam: 3")
    assert "line 5: algorithms[0].sigam: unknown key 'sigam'" in refusal(text)


def test_a_misspelt_adapter_is_refused_with_the_nearest_known_one():
    text = GOOD.replace("random-search", "random-serch")
    assert (
        "line 4: algorithms[0].use: unknown adapter 'random-serch'; did you mean 'random-search'?"
        in (refusal(text))
    )


def test_an_unknown_suite_is_refused_with_the_known_ones():
    message = refusal(GOOD.replace("suite: classic", "suite: tsplib"))
    assert "line 8: instances.suite: unknown suite 'tsplib'; known: bbob, classic" in message


def test_a_misspelt_suite_key_is_recognised():
    assert "unknown key 'sute'; did you mean 'suite'?" in refusal(GOOD.replace("suite:", "sute:"))


def test_a_missing_key_is_named():
    assert "the key 'budget' is missing" in refusal(GOOD[: GOOD.index("budget")])
    assert "algorithms[0]: the key 'name' is missing" in refusal(
        GOOD.replace("- name: A\n    use", "- use")
    )


def test_a_repeated_key_is_refused():
    assert "line 12: seed: the key 'seed' is repeated here" in refusal(GOOD + "seed: 6\n")


def test_a_value_of_the_wrong_kind_is_shown():
    message = refused(seed="three")
    assert "seed" in message
    assert "'three'" in message


def test_an_empty_list_of_algorithms_is_refused():
    assert "the list is empty; name at least one algorithm" in refused(algorithms=[])


def test_two_algorithms_of_one_name_are_refused():
    two = [{"name": "A", "use": "random-search"}] * 2
    assert "algorithms[1].name: 'A' is already the name of algorithms[0]" in refused(algorithms=two)


@pytest.mark.parametrize("name", [" A", "A\nB", "", "\x1b[31mred", "x" * 201])
def test_a_name_that_would_spoil_a_table_is_refused(name: str):
    assert "name" in refused(algorithms=[{"name": name, "use": "random-search"}])


def test_a_label_is_short_and_unique():
    def labelled(label: str) -> str:
        one = {"name": "A", "use": "random-search"}
        return refused(algorithms=[one, {"name": "B", "use": "random-search", "label": label}])

    assert "algorithms[1].label: 'A' is a name of 'A'; choose another" in labelled("A")
    assert "it has 17 characters, more than 16" in labelled("x" * 17)


def test_a_label_is_kept_only_where_there_is_one():
    entries = [
        {"name": n, "use": "random-search", **o} for n, o in (("A", {"label": "a"}), ("B", {}))
    ]
    config = {"algorithms": entries, "instances": {"suite": "classic"}, "budget": {"grid": [10]}}
    kept = parse(config, Source("test")).plain()["algorithms"]
    assert kept["A"]["label"] == "a"
    assert "label" not in kept["B"]


def test_an_adapter_that_cannot_run_on_a_suite_is_refused():
    message = refusal(GOOD)
    assert "algorithms[1]: 'synthetic' takes problems of the kind scores" in message
    assert "the suite 'classic' gives continuous" in message


def test_an_axis_that_an_adapter_cannot_report_is_refused():
    message = refused(budget={"axis": "iterations", "grid": [1, 2]})
    assert "cannot report t on 'iterations'" in message


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ([3, 2], "a grid must increase, but 2 follows 3"),
        ([2, 2], "a grid must increase, but 2 follows 2"),
        ([], "at least one time"),
        ([0, 1], "above zero"),
        ([1, float("nan")], "finite"),
        (["a"], "consists of numbers"),
        ({"from": 10, "to": 5}, "a grid must increase, but goes from 10 to 5"),
        ({"from": 10}, "the key 'to' is missing"),
        ({"from": -1, "to": 5}, "greater than 0"),
        ({"from": 1, "to": 5, "points": 0}, "points"),
        ({"from": 1, "to": 5, "spacing": "cubic"}, "spacing"),
        (7, "expected {spacing, from, to, points} or a list of times"),
    ],
)
def test_a_grid_that_is_none_is_refused(grid: Any, words: str):
    assert words in refused(budget={"grid": grid})


def test_a_log_grid_is_even_in_log_t_and_ends_at_the_budget():
    budget = changed(
        budget={"axis": "seconds", "grid": {"from": 0.1, "to": 30, "points": 7}}
    ).budget
    assert np.ptp(np.diff(np.log(budget.times))) < 1e-12
    assert budget.limit == 30
    assert np.allclose(budget.unit_times, np.linspace(0, 1, 7))


def test_evaluations_on_a_grid_are_whole_and_distinct():
    times = changed(budget={"grid": {"from": 1, "to": 50, "points": 40}}).budget.times
    assert np.array_equal(times, np.unique(np.round(times)))
    assert times[0] == 1
    assert times[-1] == 50


def test_a_listed_grid_is_taken_as_it_is():
    assert changed(budget={"grid": [1, 5, 20]}).budget.times.tolist() == [1, 5, 20]


def test_a_configuration_cannot_be_changed_once_it_is_read():
    config = changed()
    with pytest.raises(Exception, match="frozen"):
        config.budget.axis = "seconds"
    with pytest.raises(Exception, match="cannot assign"):
        config.seed = 3


def test_a_file_that_is_missing_empty_or_not_yaml_is_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match="No such file"):
        load(tmp_path / "none.yaml")
    (tmp_path / "empty.yaml").write_text("# nothing\n")
    with pytest.raises(ConfigError, match="polarbear init"):
        load(tmp_path / "empty.yaml")
    (tmp_path / "list.yaml").write_text("- a\n")
    with pytest.raises(ConfigError, match="expected a mapping"):
        load(tmp_path / "list.yaml")
    (tmp_path / "broken.yaml").write_text("a: [1,\nb: 2\n")
    with pytest.raises(ConfigError, match="line 3: not valid YAML"):
        load(tmp_path / "broken.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="UTF-8"):
        load(tmp_path / "binary.yaml")


def test_yaml_cannot_run_code():
    assert "not valid YAML" in refusal(GOOD + "x: !!python/object/apply:os.system ['true']\n")


def test_the_plain_form_holds_every_default_and_reads_back():
    plain = changed().plain()
    assert plain["execution"]["threads"] == 1
    assert plain["instances"]["rotate"] is True
    again = parse(
        {**plain, "algorithms": [{"name": n, **a} for n, a in plain["algorithms"].items()]},
        Source("stored"),
    )
    assert again.plain() == plain


def test_differences_name_both_sides():
    assert differences({"a": {"b": 1}, "c": 2}, {"a": {"b": 3}, "c": 2}) == [
        "a.b: stored 1, configuration 3"
    ]
