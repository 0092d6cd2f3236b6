"""Configurations of a notebook or a script: functions of the session, and objects."""

import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

import polarbear as pb
from polarbear.algorithms import ADAPTERS
from polarbear.api.configurations import read
from polarbear.config.configuration import Overrides
from polarbear.errors import ConfigError
from polarbear.problems import SUITES
from tests.support import RANDOM, Project

SCRIPT = """
import math
import numpy as np
import polarbear as pb

STEP = 0.3

class Bowl:
    def __init__(self, seed, size=3):
        self.centre = np.random.default_rng(seed).uniform(-1, 1, size)
        self.lower, self.upper = [-2.0] * size, [2.0] * size

    def __call__(self, x):
        return square(x - self.centre)

def square(x):
    return float(np.sum(x**2))

def climb(problem, seed, step=STEP):
    rng = np.random.default_rng(seed)
    x = rng.uniform(problem.lower, problem.upper)
    y = problem(x)
    while True:
        trial = x + step * math.sqrt(y) * rng.standard_normal(len(x))
        value = problem(trial)
        if value < y:
            x, y = trial, value

store = pb.run(
    {
        "algorithms": [
            pb.adapters.Python(name="climb", function=climb),
            {"name": "random", "use": "random-search"},
        ],
        "instances": {"suite": "python", "function": Bowl},
        "budget": {"grid": {"from": 10, "to": 50, "points": 4}},
    },
    "results",
    instances=4,
)
print(store.runs()["status"].unique().to_list(), len(store.runs()))
"""


@pytest.mark.slow
def test_functions_and_classes_of_a_script_run_in_workers_and_are_not_run_again(project: Project):
    (project.folder / "script.py").write_text(SCRIPT)
    for _ in range(2):
        done = project.python("script.py")
        assert done.returncode == 0, done.stderr
        assert done.stdout == "['budget'] 8\n"
    assert "changed" not in done.stderr
    code = sorted(path.name for path in (project.folder / "results-code").glob("*.py"))
    assert code == ["Bowl.py", "climb.py"]
    assert len(pb.open(project.folder / "results").runs()) == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("data = object()\ndef f(problem, seed):\n    data\n", "uses 'data', a object"),
        ("f = lambda problem, seed: None\n", "a name, defined at top level"),
        ("exec('def f(problem, seed): pass')\n", "the source of 'f' is not known"),
    ],
)
def test_a_function_that_another_process_cannot_have_is_refused_in_one_line(
    text: str, message: str, project: Project
):
    config = "{'algorithms': [{'name': 'f', 'use': 'python', 'function': f}]}"
    check = f"""
    import polarbear as pb
    try:
        pb.run({config}, 'results')
    except pb.ConfigError as error:
        print(error)
    """
    (project.folder / "script.py").write_text(text + textwrap.dedent(check))
    done = project.python("script.py")
    assert done.returncode == 0, done.stderr
    assert message in done.stdout
    assert len(done.stdout.splitlines()) == 1
    assert not (project.folder / "results").exists()


def test_functions_of_modules_are_named_by_their_module(tmp_path: Path):
    config = {
        "algorithms": [{"name": "a", "use": "python", "function": textwrap.dedent}],
        "instances": {"suite": "classic"},
        "budget": {"grid": {"from": 10, "to": 50, "points": 4}},
    }
    with pytest.raises(ConfigError, match="'textwrap:dedent' is called as dedent"):
        pb.run(config, tmp_path / "results")


def test_a_configuration_of_objects_is_that_of_a_file(tmp_path: Path):
    config = pb.Config(
        algorithms=[pb.adapters.Python(name="climb", function="mine:climb"), RANDOM],
        instances=pb.suites.MaBbob(dimensions=[2, 5]),
        budget=pb.Budget(grid={"from": 10, "to": 100, "points": 4}),
        race=pb.Rules(limits={"rounds": 2}),
        inference=pb.ModelOptions(model="gp", lengthscale={"scale": 2}),
    )
    path = tmp_path / "config.yaml"
    path.write_text(
        "algorithms: [{name: climb, use: python, function: 'mine:climb'}, "
        "{name: random, use: random-search}]\n"
        "instances: {suite: ma-bbob, dimensions: [2, 5]}\n"
        "budget: {grid: {from: 10, to: 100, points: 4}}\n"
        "race: {limits: {rounds: 2}}\ninference: {model: gp, lengthscale: {scale: 2}}\n"
    )
    assert read(config, Overrides()).plain() == read(path, Overrides()).plain()


def test_every_suite_and_adapter_is_an_object_with_its_name_and_a_signature():
    for module, registry, key in ((pb.suites, SUITES, "suite"), (pb.adapters, ADAPTERS, "use")):
        ours = {name: registry[name] for name in registry.places}
        assert {getattr(module, name) for name in module.__all__} == set(ours.values())
        for name, model in ours.items():
            assert key in inspect.signature(model).parameters
            assert model._known_keys({})[key] == name


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: pb.suites.MaBbob(dimension=[2]), "did you mean 'dimensions'?"),
        (lambda: pb.Budget(grid=[2, 1]), "a grid must increase"),
        (lambda: pb.Rules(alpah=0.9), "did you mean 'alpha'?"),
    ],
)
def test_a_wrong_option_of_an_object_is_refused_at_once(wrong: Callable[[], object], words: str):
    with pytest.raises(pb.ConfigError, match=re.escape(words)):
        wrong()
