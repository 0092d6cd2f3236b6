"""Methods of scipy.optimize that handle constraints."""

from typing import get_args

import pytest

from polarbear.algorithms.scipy_constrained import MethodName
from polarbear.config.configuration import parse
from polarbear.errors import ConfigError
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.run import Problems, execute
from polarbear.settings.options import Source

BUDGET = 80


def run(method: str, **options: object) -> Outcome:
    algorithm = {"name": "it", "use": "scipy-constrained", "method": method, "options": options}
    suite = {"functions": ["sphere"], "dimensions": {"from": 3, "to": 3}}
    data = {
        "algorithms": [algorithm],
        "instances": {
            "suite": "linear-constraints",
            "constraints": {"from": 3, "to": 3},
            "feasibility_tolerance": 1e-6,
            **suite,
        },
        "budget": {"grid": [10, BUDGET]},
    }
    config = parse(data, Source("test"))
    instance = config.instances.instance(0, config.setting)
    task = Task(config.algorithms[0], instance, 1, BUDGET)
    return execute(task, Problems(config.instances, config.setting))


@pytest.mark.parametrize("method", get_args(MethodName))
def test_it_comes_close_to_the_constrained_optimum(method: str):
    outcome = run(method)
    feasible = outcome.improvements.feasible()
    assert outcome.message == ""
    assert outcome.evaluations == BUDGET
    assert -1e-4 < feasible.values[-1] < 0.05


def test_options_that_a_method_does_not_have_are_refused():
    with pytest.raises(ConfigError, match="unknown option of cobyla 'rhobeg2'; did you mean"):
        run("cobyla", rhobeg2=1)
    assert run("cobyla", rhobeg=0.1).evaluations == BUDGET
