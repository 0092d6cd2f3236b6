"""Every adapter in the registry keeps the promises of the base."""

import sys
from typing import Any

import pytest

from polarbear.algorithms import ADAPTERS
from polarbear.algorithms.solver import Solver
from polarbear.config.configuration import parse
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.execution.run import Problems, execute
from polarbear.problems import Kind
from polarbear.settings.options import Source
from tests.support import SOLVERS

PRINTS = "import sys\nfor t in range(1, int(sys.argv[2]) + 1): print(t, int(sys.argv[1]) / t)"
OPTIONS: dict[str, dict[str, Any]] = {
    "command": {"command": [sys.executable, "-c", PRINTS, "{seed}", "{budget}"]},
    "pymoo": {"method": "nsga2"},
    "python": {"function": f"{SOLVERS}:coordinate_descent"},
    "scipy": {"method": "nelder-mead"},
    "scipy-constrained": {"method": "slsqp"},
}
SUITE_OF = {Kind.SCORES: {"suite": "synthetic"}, Kind.CONTINUOUS: {"suite": "classic"}}
BUDGET = 400
# Solvers are timed in seconds and take files: tests/algorithms/test_solvers.py.
USES = [
    pytest.param(use, marks=pytest.mark.peer if use == "pymoo" else ())
    for use in ADAPTERS
    if not issubclass(ADAPTERS[use], Solver)
]


def configured(use: str, budget: int = BUDGET) -> Any:
    if use == "modcma":
        pytest.importorskip("modcma", reason="modcma is not installed: pip install '.[bbob]'")
    kind = Kind.CONTINUOUS if Kind.CONTINUOUS in ADAPTERS[use].accepts else Kind.SCORES
    data = {
        "algorithms": [{"name": "it", "use": use, **OPTIONS.get(use, {})}],
        "instances": SUITE_OF[kind],
        "budget": {"grid": [10, budget]},
    }
    return parse(data, Source("test"))


def run(use: str, seed: int, budget: int = BUDGET, index: int = 0) -> Outcome:
    config = configured(use, budget)
    instance = config.instances.instance(index, config.setting)
    task = Task(config.algorithms[0], instance, seed, budget)
    return execute(task, Problems(config.instances, config.setting))


@pytest.fixture(params=USES)
def use(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_it_uses_its_budget_to_the_last_evaluation(use: str):
    outcome = run(use, seed=1)
    assert outcome.message == ""
    assert outcome.status in (Status.BUDGET, Status.ENDED)
    assert outcome.reached == outcome.evaluations == BUDGET


def test_the_same_seed_gives_the_same_trajectory_even_after_another_run(use: str):
    first = run(use, seed=1)
    run(use, seed=2, index=1)
    second = run(use, seed=1)
    assert first.times.tobytes() == second.times.tobytes()
    assert first.values.tobytes() == second.values.tobytes()


def test_another_seed_gives_another_trajectory(use: str):
    if use == "synthetic":  # its randomness is the instance's
        assert run(use, 1, index=0).values.tobytes() != run(use, 1, index=1).values.tobytes()
    else:
        assert run(use, seed=1).values.tobytes() != run(use, seed=2).values.tobytes()


# synthetic scores are drawn for one grid
@pytest.mark.parametrize("use", [param for param in USES if param.values != ("synthetic",)])
def test_a_longer_budget_extends_the_trajectory(use: str):
    short = run(use, seed=3)
    long = run(use, seed=3, budget=2 * BUDGET)
    within = long.times <= BUDGET
    assert long.times[within].tobytes() == short.times.tobytes()
    assert long.values[within].tobytes() == short.values.tobytes()
