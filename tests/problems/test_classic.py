"""The textbook functions: where their optimum is, and that they are what they are called."""

import numpy as np
import pytest
from scipy.optimize import rosen
from scipy.stats import chisquare

from polarbear.problems.classic import FUNCTIONS
from tests.problems.helpers import ERROR_RATE, SETTING, specs, suite


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dimension", [2, 3, 10])
def test_each_function_is_zero_at_the_origin_and_above_zero_elsewhere(name: str, dimension: int):
    function = FUNCTIONS[name]
    assert abs(function(np.zeros(dimension))) < 1e-12
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 5.0):
        for _ in range(50):
            assert function(scale * rng.standard_normal(dimension)) > 0


def test_rosenbrock_is_scipys_moved_to_the_origin():
    z = np.random.default_rng(1).standard_normal(6)
    assert FUNCTIONS["rosenbrock"](z) == pytest.approx(rosen(z + 1.0), rel=1e-12)


def test_ackley_and_rastrigin_have_their_textbook_values():
    e = np.e
    assert FUNCTIONS["rastrigin"](np.array([0.5, 0.0])) == pytest.approx(20.25)
    ackley = -20 * np.exp(-0.2) - e + 20 + e  # at (1, 1): the waves are at their best
    assert FUNCTIONS["ackley"](np.ones(2)) == pytest.approx(ackley)


def test_functions_and_dimensions_are_equally_likely():
    """Chi-square tests at level 1e-4 each, fixed seed."""
    drawn = specs("classic", 3000)
    for key, kinds in (("function", len(FUNCTIONS)), ("dimension", 9)):
        _, counts = np.unique([spec[key] for spec in drawn], return_counts=True)
        assert len(counts) == kinds
        assert chisquare(counts).pvalue > ERROR_RATE


def test_the_optimum_lies_inside_the_box():
    options = {"functions": ["sphere"], "rotate": False}
    for spec in specs("classic", 20, **options):
        problem = suite("classic", **options).build(spec, SETTING)
        at_zero = problem.evaluate(np.zeros(problem.dimension))
        # f(x) - f(0) = -2 x.shift + x.x: the gradient at 0 gives the shift back
        basis = np.eye(problem.dimension)
        shift = [(at_zero + 1 - problem.evaluate(e)) / 2 for e in basis]
        assert np.all(np.abs(shift) <= 4)
        assert problem.evaluate(shift) == pytest.approx(0, abs=1e-9)
