"""ZDT, DTLZ and WFG as finite suites."""

import numpy as np
import pytest

from polarbear.errors import ProblemError
from tests.problems.helpers import SETTING, suite

pytestmark = pytest.mark.peer


@pytest.mark.parametrize(
    ("name", "options", "size", "objectives"),
    [
        ("zdt", {}, 10, 2),
        ("dtlz", {}, 21, 3),
        ("dtlz", {"objectives": 5, "functions": ["dtlz2", "dtlz7"]}, 6, 5),
        ("wfg", {}, 18, 2),
        ("wfg", {"objectives": 3, "dimensions": [12]}, 9, 3),
    ],
)
def test_every_function_with_every_number_of_variables_is_an_instance(
    name: str, options: dict[str, object], size: int, objectives: int
):
    drawn_from = suite(name, **options)
    assert drawn_from.size(SETTING) == size
    instances = [drawn_from.instance(index, SETTING) for index in range(size)]
    assert len({instance.id for instance in instances}) == size
    for instance in instances:
        problem = drawn_from.build(instance.spec, SETTING)
        values = problem.evaluate((problem.lower + problem.upper) / 2)
        assert len(problem.lower) == instance.spec["dimension"]
        assert len(values) == objectives
        assert np.isfinite(values).all()


def test_values_are_those_of_the_definition():
    drawn_from = suite("zdt", functions=["zdt1"], dimensions=[3])
    problem = drawn_from.build(drawn_from.instance(0, SETTING).spec, SETTING)
    assert problem.evaluate([0.25, 0.0, 0.0]) == pytest.approx([0.25, 0.5])
    g = 1 + 9 * (0.5 + 1.0) / 2
    assert problem.evaluate([0.25, 0.5, 1.0]) == pytest.approx([0.25, g - np.sqrt(0.25 * g)])


def test_numbers_that_do_not_go_together_are_refused_in_one_line():
    drawn_from = suite("wfg", functions=["wfg2"], dimensions=[11])
    with pytest.raises(ProblemError, match="pymoo cannot make wfg2 with 11 variables and 2 obj"):
        drawn_from.instance(0, SETTING)
