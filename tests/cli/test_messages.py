"""Errors that name the line or value of the user, and results at requested times."""

import pytest

from polarbear.settings.enumerations import Method
from tests.support import Project

TABLE = "solver,instance,t,y\nA,i1,1,5\nA,i2,1,4\nB,i1,x,3\n"


def refused(project: Project, *arguments: object) -> str:
    said = project.refused(*arguments)
    assert len(said.strip().splitlines()) <= 2
    return said


def test_an_objective_that_returns_an_array_is_named_by_the_user_s_own_file(project: Project):
    (project.folder / "mine.py").write_text(
        "import numpy as np\n\n\nclass Pair:\n    lower, upper = [0.0, 0.0], [1.0, 1.0]\n\n"
        "    def __call__(self, x):\n        return np.array(x)\n\n\ndef make(seed):\n"
        "    return Pair()\n"
    )
    project.configure(instances={"suite": "python", "function": "mine.py:make", "count": 1})
    said = project.json("run", "config.yaml")["failures"][0]["message"]
    assert "mine.py, line 7) returned an array of the shape (2,); expected a number" in said
    assert "recorder.py" not in said


def test_the_error_of_a_missing_column_lists_those_of_the_file(project: Project):
    (project.folder / "data.csv").write_text(TABLE)
    words = refused(project, "import", "data.csv", "--store", "s")
    assert "it has: solver, instance, t, y; " in words
    done = project("import", "data.csv", "--store", "s", "--algorithm-column", "solver")
    assert "left out: 1 row: t is not a finite number (first: line 4)" in done.stdout


def test_the_help_of_infer_names_every_method(project: Project):
    help_text = "".join(project("infer", "--help").stdout.split())
    # lines are broken at hyphens
    for method in Method:
        assert method in help_text


def test_importing_a_store_is_refused_with_the_reason(project: Project):
    project.configure()
    project.json("run", "config.yaml", "--instances", 1)
    words = refused(project, "import", "config", "--store", "other")
    assert "config is a PolarBear store already" in words
    (project.folder / "empty").mkdir()
    words = refused(project, "import", "empty", "--store", "other")
    assert "empty is a folder; expected a file" in words


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("compared"))
    project.configure()
    project.json("run", "config.yaml")
    return project


@pytest.mark.parametrize(
    ("arguments", "times"),
    [
        (("--grid", "10,20,150"), [10, 20, 150]),
        (("--grid", "{spacing: linear, from: 50, to: 150, points: 3}"), [50, 100, 150]),
        (("--grid", "10,20,150", "--until", 30), [10, 20]),
        (("--until", 60), None),
        (("--grid", "10,900"), "the grid goes to 900 evaluations, but runs in config only to 200"),
        (("--grid", "10,x"), "a listed grid consists of numbers"),
        (("--until", 900), "until: expected a time within the grid, 5 to 200, found 900"),
    ],
)
def test_infer_answers_on_another_grid_and_keeps_nothing_of_it_or_refuses_it(
    compared: Project, arguments: tuple[object, ...], times: list[float] | str | None
):
    if isinstance(times, str):
        assert times in refused(compared, "infer", "config", *arguments)
        return
    answer = compared.json("infer", "config", "--draws", 400, *arguments)
    times_of_answer = sorted({row["t"] for row in answer["ratings"]})
    assert (
        times_of_answer == times if times else (times_of_answer[0], times_of_answer[-1]) == (5, 60)
    )
    assert compared.json("status", "config")["posteriors"] == 0
