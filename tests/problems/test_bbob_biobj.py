"""Our bbob-biobj against COCO's, and against stored values of COCO."""

import json
from pathlib import Path

import numpy as np
import pytest

from polarbear.errors import ConfigError
from polarbear.problems import Problem
from polarbear.problems.bbob_biobj import FUNCTION_PAIRS, INSTANCE_PAIRS
from tests.data.make_bbob import points
from tests.problems.helpers import SETTING, suite

KNOWN = json.loads((Path(__file__).parents[1] / "data" / "bbob-biobj.json").read_text())
TOLERANCE = 1e-9  # relative: COCO and ioh round differently


def problem(function: int, instance: int, dimension: int) -> Problem:
    spec = {"function": function, "instance": instance, "dimension": dimension}
    return suite("bbob-biobj").build(spec, SETTING)


def test_every_function_and_every_instance_have_the_values_that_coco_once_gave():
    for row in KNOWN:
        evaluate = problem(row["function"], row["instance"], row["dimension"]).evaluate
        for x, values in zip(points(row["dimension"])[1:], row["values"], strict=True):
            assert evaluate(x) == pytest.approx(values, rel=TOLERANCE, abs=TOLERANCE), row
    assert {row["function"] for row in KNOWN} == {*range(1, len(FUNCTION_PAIRS) + 1)}
    assert {row["instance"] for row in KNOWN} == {*range(1, len(INSTANCE_PAIRS) + 1)}


@pytest.mark.slow
@pytest.mark.peer
def test_values_agree_with_coco():
    """In the box, and outside of it."""
    import cocoex

    rng = np.random.default_rng(0)
    theirs = cocoex.Suite("bbob-biobj", "instances: 1-15", "dimensions: 2,3,10")
    for their_problem in theirs:
        function, dimension, instance = their_problem.id_triple
        if rng.random() < 0.1:
            ours = problem(function, instance, dimension)
            for x in rng.uniform(-7, 7, (3, dimension)):
                expected = pytest.approx(their_problem(x).tolist(), rel=TOLERANCE, abs=TOLERANCE)
                assert ours.evaluate(x) == expected, their_problem.id


def test_the_box_is_where_cocos_algorithms_start_or_its_region_of_interest():
    spec = {"function": 1, "instance": 1, "dimension": 3}
    assert suite("bbob-biobj").build(spec, SETTING).upper.tolist() == [5.0] * 3
    assert suite("bbob-biobj", half_width=100).build(spec, SETTING).lower.tolist() == [-100.0] * 3


def test_instances_that_coco_does_not_number_are_refused():
    for ids in ({"from": 1, "to": 16}, [3, 99]):
        with pytest.raises(ConfigError, match="instances have the numbers 1 to 15, found"):
            suite("bbob-biobj", instance_ids=ids)
    with pytest.raises(ConfigError, match="objectives"):
        suite("bbob-biobj", objectives=3)
