"""Problems that a function of the user makes."""

from pathlib import Path
from typing import Any

import pytest

from polarbear.errors import ConfigError, ProblemError
from polarbear.problems import Problem, Setting
from polarbear.problems.python import Python
from polarbear.settings.grid import Budget
from polarbear.settings.options import Source, validate
from tests.support import SOLVERS


def suite(function: str, **options: Any) -> Python:
    return validate(Python, {"suite": "python", "function": function, **options}, Source("test"))


def build(function: str, folder: Path = SOLVERS.parent, **options: Any) -> Any:
    problems = suite(function, **options)
    setting = Setting(1, Budget(grid=(1.0,)), str(folder))
    return problems.build(problems.instance(0, setting).spec, setting)


def test_a_callable_with_a_box_becomes_a_problem():
    problem = build("solvers.py:bowl", options={"dimension": 4})
    assert isinstance(problem, Problem)
    assert problem.dimension == 4
    assert problem.evaluate([0, 0, 0, 0]) > 0


def test_a_module_beside_the_configuration_is_found(tmp_path: Path):
    (tmp_path / "mine_beside.py").write_text(
        "from polarbear.problems import Problem\n"
        "import numpy as np\n"
        "def make(seed):\n"
        "    return Problem(lambda x: seed, np.zeros(2), np.ones(2))\n"
    )
    assert build("mine_beside:make", tmp_path).dimension == 2


def test_an_object_is_handed_on_where_that_is_asked_for():
    assert build("solvers.py:not_a_problem", gives="object") == 42


@pytest.mark.parametrize("function", ["solvers.py:not_a_problem", "solvers.py:boxless"])
def test_what_is_not_a_problem_is_refused_with_what_was_expected(function: str):
    with pytest.raises(ProblemError, match="expected polarbear.problems.Problem"):
        build(function)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("no_such_module:f", "cannot import 'no_such_module'.*No module named"),
        ("none.py:f", "cannot import 'none.py'.*no file"),
        ("solvers.py:no_such", "has no 'no_such'"),
        ("solvers.py:NOT_CALLABLE", "is not a function but int"),
    ],
)
def test_a_function_that_cannot_be_had_is_refused_before_anything_runs(reference: str, words: str):
    setting = Setting(1, Budget(grid=(1.0,)), str(SOLVERS.parent))
    with pytest.raises(ConfigError, match=words):
        suite(reference).instance(0, setting)


def test_code_that_fails_and_an_option_that_it_does_not_take_are_named(tmp_path: Path):
    (tmp_path / "broken.py").write_text("raise ValueError('licence expired')\n")
    with pytest.raises(ConfigError, match="ValueError: licence expired"):
        build("broken.py:f", tmp_path)
    with pytest.raises(ConfigError, match=r"unknown argument 'dimensions'; did you mean 'dim"):
        build("solvers.py:bowl", options={"dimensions": 4})


@pytest.mark.parametrize("reference", ["plain", ":f", "module:", "module:not a name"])
def test_a_reference_that_names_no_function_is_refused(reference: str):
    with pytest.raises(ConfigError, match="expected 'module:function'"):
        suite(reference)
