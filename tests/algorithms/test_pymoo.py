"""pymoo's algorithms for several objectives."""

from typing import Any, get_args

import numpy as np
import pytest

from polarbear.algorithms.pymoo import MethodName, n_partitions
from polarbear.config.configuration import parse
from polarbear.errors import ConfigError
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.run import Problems, execute
from polarbear.rankings.archives import fronts_at
from polarbear.settings.options import Source
from tests.support import SOLVERS

BUDGET = 130  # not a multiple of the population
METHODS = get_args(MethodName)
TWO = {"suite": "bbob-biobj", "functions": [1], "dimensions": [3]}
THREE = {"suite": "dtlz", "functions": ["dtlz2"], "dimensions": [7]}
ONE = {"suite": "classic"}


def run(
    method: str, instances: dict[str, Any], budget: int = BUDGET, seed: int = 1, **options: Any
) -> Outcome:
    entry = {"name": "it", "use": "pymoo", "method": method, "popsize": 20, **options}
    data = {"algorithms": [entry], "instances": instances, "budget": {"grid": [10, budget]}}
    config = parse(data, Source("test"))
    instance = config.instances.instance(0, config.setting)
    task = Task(config.algorithms[0], instance, seed, budget)
    return execute(task, Problems(config.instances, config.setting))


@pytest.mark.peer
@pytest.mark.parametrize("instances", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("method", METHODS)
def test_it_uses_its_budget_is_repeatable_and_improves(method: str, instances: dict[str, Any]):
    outcome = run(method, instances)
    assert outcome.message == ""
    assert outcome.evaluations == BUDGET
    longer = run(method, instances, 2 * BUDGET)
    assert longer.improvements.up_to(BUDGET).points() == outcome.improvements.points()
    assert run(method, instances, seed=2).improvements.points() != outcome.improvements.points()
    first, last = fronts_at(longer.improvements, np.array([20.0, 2 * BUDGET]))
    assert (last.min(axis=0) <= first.min(axis=0)).all()
    assert last.sum(axis=1).min() < first.sum(axis=1).min()


@pytest.mark.peer
def test_constraints_are_handled_or_refused():
    constrained = {
        "suite": "python",
        "function": f"{SOLVERS}:two_bowls_with_a_constraint",
        "objectives": 2,
    }
    for method in METHODS:
        outcome = run(method, constrained)
        if method == "moead":
            assert "MOEA/D takes no constraints" in outcome.message
        else:
            assert outcome.message == ""
            assert outcome.improvements.all_violations()[-1] == 0


@pytest.mark.peer
def test_with_one_objective_those_that_need_directions_are_refused():
    assert run("nsga2", ONE).evaluations == BUDGET
    assert "needs several objectives" in run("moead", ONE).message


def test_options_that_an_algorithm_does_not_have_are_refused():
    with pytest.raises(ConfigError, match="unknown option of moead 'n_neighbours'; did you mean"):
        run("moead", TWO, options={"n_neighbours": 3})


@pytest.mark.parametrize(
    ("most", "objectives", "partitions"), [(100, 2, 99), (20, 2, 19), (91, 3, 12), (90, 3, 11)]
)
def test_directions_are_the_finest_even_partition(most: int, objectives: int, partitions: int):
    assert n_partitions(most, objectives) == partitions
