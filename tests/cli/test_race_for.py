"""`race --for` with preferences, models and engines of all kinds; `select` then recommends."""

from typing import Any

import pytest

from tests.cli.conftest import OVER_TIME
from tests.support import Project, synthetic

GRID = [10, 100, 1000]
FUNCTION = "def worth(theta):\n    return 0.9 * theta[-1] + 0.1 * theta[0]\n"


def race_for(project: Project, preference: str, *options: object, **config: Any) -> dict[str, Any]:
    """The question of a race for a preference, as the race prints it."""
    (project.folder / "mine.py").write_text(FUNCTION)
    parts: dict[str, Any] = {"inference": {"draws": 400}, **config}
    project.configure(**synthetic(OVER_TIME), budget={"grid": GRID}, **parts)
    answer = project.json(
        "race", "config.yaml", "--for", preference, "--regret", 0.05, *options, "-q"
    )
    (question,) = answer["for"]
    assert question["answered"]
    return dict(question)


@pytest.mark.parametrize(
    ("preference", "choice"),
    [
        ("at 1000", "late"),
        ("mine:worth", "late"),
        ("worst-case", None),
        ("0.7 * at 10 + 0.3 * mine:worth", None),
    ],
)
def test_select_recommends_what_the_race_chose(project: Project, preference: str, choice: str):
    question = race_for(project, preference)
    if choice is not None:
        assert question["choice"] == choice
    chosen = project.json("select", "config", "--preference", preference)
    assert chosen["choice"] == question["choice"]
    assert chosen["too_early"] is None
    assert chosen["ranking"][0]["regret"] == pytest.approx(question["expected_regret"], abs=1e-6)
    portfolio = project.json("select", "config", "--preference", preference, "--portfolio", 2)
    assert len(portfolio["portfolio"]) == 2


@pytest.mark.parametrize("model", ["dirichlet", "empirical"])
def test_it_works_with_every_kind_of_model(project: Project, model: str):
    inference = {"model": model, "method": "laplace", "draws": 400}
    if model == "empirical":
        inference = {"model": model, "draws": 400}
    question = race_for(project, "at 1000", inference=inference)
    assert question["choice"] == "late"
    chosen = project.json("select", "config", "--preference", "at 1000")
    assert (chosen["choice"], chosen["too_early"]) == ("late", None)


@pytest.mark.slow
def test_on_dask_it_makes_the_same_choice(project: Project):
    on_dask = race_for(project, "at 100", "--store", "dask", "--engine", "dask", "--workers", 1)
    assert race_for(project, "at 100") == on_dask
