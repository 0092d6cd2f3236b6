"""Configurations are accepted, or refused with a message that names the mistake."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polarbear.config.configuration import Config, Overrides, load, overridden, parse
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


def changed(**changes: Any) -> Config:
    data, _ = parse_yaml(GOOD, "race.yaml")
    data["algorithms"] = data["algorithms"][:1]
    return parse({**data, **changes}, Source("race.yaml"))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("", "", "algorithms[1]: 'synthetic' takes problems of the kind scores, but the suite "
                 "'classic' gives continuous"),
        ("budget:", "budgett:",
         "race.yaml, line 10: budgett: unknown key 'budgett'; did you mean 'budget'?"),
        ("points: 5", "pints: 5", "line 11: budget.grid.pints: unknown key 'pints'; did you mean"),
        ("to: 3}", "until: 3}", "line 9: instances.dimensions.until: unknown key 'until'"),
        ("use: random-search", "use: random-search\n    sigam: 3",
         "line 5: algorithms[0].sigam: unknown key 'sigam'"),
        ("random-search", "random-serch", "line 4: algorithms[0].use: unknown adapter "
         "'random-serch'; did you mean 'random-search'?"),
        ("suite: classic", "suite: tsplib",
         "line 8: instances.suite: unknown suite 'tsplib'; known: bbob, bbob-biobj, classic"),
        ("suite:", "sute:", "unknown key 'sute'; did you mean 'suite'?"),
        (GOOD[GOOD.index("budget"):], "", "the key 'budget' is missing"),
        ("- name: A\n    use", "- use", "algorithms[0]: the key 'name' is missing"),
        ("points: 5}", "points: 5}\nseed: 6", "line 12: seed: the key 'seed' is repeated here"),
        ("seed: 5", "seed: !!python/object/apply:os.system ['true']", "not valid YAML"),
        ("seed: 5", "seed: three", "'three'"),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_with_its_line_and_the_nearest_valid_word(old, new, words):
    with pytest.raises(ConfigError) as error:
        parse(*parse_yaml(GOOD.replace(old, new) if old else GOOD, "race.yaml"))
    assert words in str(error.value)


def entries(*algorithms: dict[str, str]) -> dict[str, Any]:
    return {"algorithms": [{"use": "random-search", **algorithm} for algorithm in algorithms]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (entries({"name": "A"}, {"name": "A"}),
         "algorithms[1].name: 'A' is already the name of algorithms[0]"),
        *((entries({"name": name}), "name") for name in (" A", "A\nB", "", "\x1b[31m", "x" * 201)),
        (entries({"name": "A"}, {"name": "B", "label": "A"}),
         "algorithms[1].label: 'A' is a name of 'A'; choose another"),
        (entries({"name": "B", "label": "x" * 17}), "it has 17 characters, more than 16"),
        ({"budget": {"axis": "iterations", "grid": [1, 2]}}, "cannot report t on 'iterations'"),
        *(
            ({"execution": execution}, words)
            for execution, words in (
                ({"scheduler": "tcp://h:1"}, "needs 'engine: dask'"),
                ({"job_queue": {"name": "slurm"}}, "needs 'engine: dask'"),
                ({"engine": "dask", "scheduler": "tcp://h:1", "job_queue": {"name": "slurm"}},
                 "one"),
                ({"engine": "dask", "job_queue": {"name": "slrum"}},
                 "input should be 'slurm', 'pbs'"),
                ({"engine": "dusk"}, "engine: input should be 'local' or 'dask'"),
            )
        ),
        *(
            ({"budget": {"grid": grid}}, words)
            for grid, words in (
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
            )
        ),
    ],
)  # fmt: skip
def test_an_impossible_value_is_refused(changes: dict[str, Any], words: str):
    with pytest.raises(ConfigError) as error:
        changed(**changes)
    assert words in str(error.value)


def test_the_plain_form_has_a_label_only_if_there_is_one():
    config = changed(**entries({"name": "A", "label": "a"}, {"name": "B"}))
    algorithms = config.plain()["algorithms"]
    assert algorithms["A"]["label"] == "a"
    assert "label" not in algorithms["B"]


def test_a_log_grid_is_even_in_log_t_and_ends_at_the_budget():
    budget = changed(
        budget={"axis": "seconds", "grid": {"from": 0.1, "to": 30, "points": 7}}
    ).budget
    assert np.ptp(np.diff(np.log(budget.times))) < 1e-12
    assert budget.limit == 30
    assert np.allclose(budget.unit_times, np.linspace(0, 1, 7))
    assert changed(budget={"grid": [1, 5, 20]}).budget.times.tolist() == [1, 5, 20]


def test_evaluations_on_a_grid_are_whole_and_distinct():
    times = changed(budget={"grid": {"from": 1, "to": 50, "points": 40}}).budget.times
    assert np.array_equal(times, np.unique(np.round(times)))
    assert times[0] == 1
    assert times[-1] == 50


def test_a_configuration_cannot_be_changed_once_it_is_read():
    config = changed()
    with pytest.raises(Exception, match="frozen"):
        config.budget.axis = "seconds"
    with pytest.raises(Exception, match="cannot assign"):
        config.seed = 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "there is no file .*; `polarbear init .*` writes one"),
        (b"# nothing\n", "polarbear init"),
        (b"- a\n", "expected a mapping"),
        (b"a: [1,\nb: 2\n", "line 3: not valid YAML"),
        (b"\xff\xfe\x00", "UTF-8"),
    ],
)
def test_a_file_that_is_missing_empty_or_not_yaml_is_refused(tmp_path: Path, content, words: str):
    if content is not None:
        (tmp_path / "c.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=words):
        load(tmp_path / "c.yaml")


def test_the_plain_form_holds_every_default_and_reads_back():
    plain = changed().plain()
    assert plain["execution"]["threads"] == 1
    assert plain["instances"]["rotate"] is True
    algorithms = [{"name": name, **options} for name, options in plain["algorithms"].items()]
    config = parse({**plain, "algorithms": algorithms}, Source("stored"))
    assert config.plain() == plain


DASK = {"engine": "dask", "scheduler": "tcp://h:1"}
QUEUE = {"engine": "dask", "job_queue": {"name": "slurm"}}


@pytest.mark.parametrize(
    ("execution", "overrides", "key", "value"),
    [
        # A scheduler replaces the queue.
        (QUEUE, {"scheduler": "tcp://h:1"}, "scheduler", "tcp://h:1"),
        (QUEUE, {"scheduler": "tcp://h:1"}, "job_queue", None),
        ({}, {"scheduler": "tcp://h:1"}, "engine", "dask"),
        (DASK, {"engine": "local"}, "scheduler", None),
        ({}, {"mix_hosts": True}, "processors", "same"),
        (DASK, {"mix_hosts": True}, "processors", "mixed"),
    ],
)
def test_options_of_a_call_override_those_of_the_file(execution, overrides, key, value):
    config = overridden(changed(execution=execution), Overrides(**overrides))
    assert getattr(config.execution, key) == value
