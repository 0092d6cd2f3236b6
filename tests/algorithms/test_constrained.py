"""Adapters that handle constraints: SciPy's methods, and CMA-ES with an augmented Lagrangian."""

from pathlib import Path
from typing import Any, get_args

import pytest

from polarbear.algorithms.scipy_constrained import MethodName
from polarbear.config.configuration import parse
from polarbear.errors import ConfigError
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.run import Problems, execute
from polarbear.settings.options import Source

BUDGET = 80
LONG_BUDGET = 2000  # CMA-ES learns the coefficients of the constraints
CMA = {"use": "cma-constrained"}


def scipy(method: str, **options: object) -> dict[str, Any]:
    return {"use": "scipy-constrained", "method": method, "options": options}


def run(
    algorithm: dict[str, Any], budget: int = BUDGET, seed: int = 1, constraints: int = 3
) -> Outcome:
    suite: dict[str, Any] = {
        "suite": "linear-constraints",
        "constraints": {"from": constraints, "to": constraints},
        "feasibility_tolerance": 1e-6,
        "functions": ["sphere"],
        "dimensions": {"from": 3, "to": 3},
    }
    data = {
        "algorithms": [{"name": "it", **algorithm}],
        "instances": suite,
        "budget": {"grid": [10, budget]},
    }
    config = parse(data, Source("test"))
    instance = config.instances.instance(0, config.setting)
    task = Task(config.algorithms[0], instance, seed, budget)
    return execute(task, Problems(config.instances, config.setting))


@pytest.mark.parametrize("method", get_args(MethodName))
def test_it_comes_close_to_the_constrained_optimum(method: str):
    outcome = run(scipy(method))
    feasible = outcome.improvements.feasible()
    assert outcome.message == ""
    assert outcome.evaluations == BUDGET
    assert -1e-4 < feasible.values[-1] < 0.05


@pytest.mark.parametrize("constraints", [1, 3, 6])
def test_the_augmented_lagrangian_leads_to_the_constrained_optimum(constraints: int):
    outcome = run(CMA, LONG_BUDGET, constraints=constraints)
    assert outcome.message == ""
    assert outcome.evaluations == LONG_BUDGET
    assert -1e-4 < outcome.improvements.feasible().values[-1] < 1e-3
    by_values_alone = run({"use": "cma"}, LONG_BUDGET, constraints=constraints)
    feasible_values = by_values_alone.improvements.feasible().values
    assert feasible_values.min(initial=1.0) > 0.05, "without constraints the search leads out"


def test_the_same_seed_gives_the_same_run_and_a_longer_one_extends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    first = run(CMA, 200)
    longer = run(CMA, 400)
    assert longer.improvements.up_to(200).points() == first.improvements.points()
    assert run(CMA, 200, seed=2).improvements.points() != first.improvements.points()
    assert list(tmp_path.iterdir()) == [], "pycma's logs are off"


def test_options_that_a_method_does_not_have_are_refused():
    with pytest.raises(ConfigError, match="unknown option of cobyla 'rhobeg2'; did you mean"):
        run(scipy("cobyla", rhobeg2=1))
    assert run(scipy("cobyla", rhobeg=0.1)).evaluations == BUDGET
    with pytest.raises(ConfigError, match="unknown option of pycma 'tolfum'; did you mean"):
        run({**CMA, "options": {"tolfum": 1}})
