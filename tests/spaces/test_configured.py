"""Values of a space reach the adapters, through configurations and `polarbear check`."""

import json
from pathlib import Path

import pytest

from polarbear.config.configuration import Config, load
from polarbear.errors import ConfigError

HEAD = "budget: {grid: {from: 10, to: 100, points: 4}}\ninstances: {suite: classic}\n"
DE = """\
algorithms:
  - name: DE
    use: scipy
    method: differential-evolution
    label: de
    options: {popsize: 8}
    space:
      popsize: {integer: [4, 40], log: true, default: 15}
      recombination: {real: [0, 1], default: 0.7}
      strategy: {categorical: [best1bin, rand1bin]}
    given: [{popsize: 20, strategy: rand1bin}]
"""
PROGRAM = """\
algorithms:
  - {name: ants, use: command, command: "echo 1 2 {config}", parameters: --fixed,
     space: parameters.txt, given: table.txt}
"""
PARAMETERS = 'alg "--" c (as, mmas)\nants "--ants " i (5, 100)\nq "--q=" r (0, 1) | alg == "as"\n'


def config(folder: Path, algorithms: str, head: str = HEAD) -> Config:
    (folder / "config.yaml").write_text(head + algorithms)
    return load(folder / "config.yaml")


def test_an_algorithm_has_its_own_values_and_the_defaults_of_its_space(tmp_path):
    parsed = config(tmp_path, DE)
    first, given = parsed.algorithms
    assert first.options == {"popsize": 8, "recombination": 0.7}
    assert first.label == "de"
    assert given.name == "DE 1"
    assert given.options == {"popsize": 20, "recombination": 0.7, "strategy": "rand1bin"}
    assert parsed.designs["DE 1"].algorithm == "DE"
    assert parsed.designs["DE"].values == {"popsize": 8, "recombination": 0.7}


def test_a_space_does_not_change_what_is_stored(tmp_path):
    plain = config(tmp_path, DE).plain()["algorithms"]["DE"]
    assert "space" not in plain
    assert "given" not in plain


def test_a_program_receives_its_switches(tmp_path):
    (tmp_path / "parameters.txt").write_text(PARAMETERS)
    (tmp_path / "table.txt").write_text(".ID. alg ants q\n7 mmas 9 NA\n8 as 10 0.25\n")
    parameters = [algorithm.parameters for algorithm in config(tmp_path, PROGRAM).algorithms]
    assert parameters == [
        ("--fixed",),
        ("--fixed", "--mmas", "--ants", "9"),
        ("--fixed", "--as", "--ants", "10", "--q=0.25"),
    ]


def test_a_parameter_is_an_option_of_its_name_or_goes_into_a_group(tmp_path):
    algorithms = """\
algorithms:
  - name: CMA
    use: cma
    space:
      sigma0: {real: [0.1, 1]}
      CMA_diagonal: {categorical: [true, false]}
    given: [{sigma0: 0.5, CMA_diagonal: true}]
"""
    _, given = config(tmp_path, algorithms).algorithms
    assert given.sigma0 == 0.5
    assert given.options == {"CMA_diagonal": True}


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("{name: a, use: random-search, space: {x: {real: [0, 1]}}}", "unknown option 'x'"),
        ("{name: a, use: random-search, given: [{x: 1}]}", "'space', which is not given"),
        ("{name: a, use: cma, space: {sigma0: {real: [0, 9], default: 9}}}", "sigma0"),
        ("{name: a, use: cma, space: {sigma0: {real: [0.1, 1]}}, given: [{x: 1}]}", "given.0"),
        ("{name: a, use: command, command: echo, space: {x: {real: [0, 1]}}}", "{config}"),
        ("{name: a, use: cma, space: no.txt}", "cannot read .*no.txt"),
        ("{name: a, use: cma, space: {sigma0: {real: [0.1, 1]}}, given: no.txt}", "no.txt"),
        (
            "{name: a, use: command, command: e, configurations: f, space: {x: {real: [0, 1]}}}",
            "choose one",
        ),
    ],
)
def test_a_space_that_fits_no_option_is_refused(tmp_path, entry, reason):
    with pytest.raises(ConfigError, match=reason.replace("{", r"\{")):
        config(tmp_path, f"algorithms:\n  - {entry}\n")


def test_check_draws_from_the_space(project):
    (project.folder / "config.yaml").write_text(HEAD + DE)
    checked = json.loads(project.done("check", "config.yaml", "--json").stdout)
    (space,) = checked["spaces"]
    assert space["algorithm"] == "DE"
    assert space["parameters"] == 3
    assert space["refused"] == 0
    assert set(space["example"]) == {"popsize", "recombination", "strategy"}
    shown = project.done("check", "config.yaml").stdout
    assert "space of DE: 3 parameters; for example popsize=" in shown


def test_check_fails_where_the_adapter_refuses_draws(project):
    (project.folder / "config.yaml").write_text(
        HEAD + DE.replace("rand1bin]", "best9bin]").replace("rand1bin}", "best1bin}")
    )
    done = project("check", "config.yaml")
    assert done.returncode == 1
    assert "has configurations that cannot be used" in done.stdout


def test_check_runs_drawn_configurations(project):
    (project.folder / "mine.py").write_text(
        "def mine(problem, seed, step=1):\n"
        "    if step == 2:\n        raise RuntimeError('step two')\n"
        "    while True:\n        problem(problem.lower)\n",
    )
    (project.folder / "config.yaml").write_text(
        HEAD
        + 'algorithms: [{name: mine, use: python, function: "mine.py:mine", '
        + "space: {step: {categorical: [2]}}}]\n",
    )
    done = project.done("check", "config.yaml")
    assert "'mine (draw 1)' failed" in done.stdout
