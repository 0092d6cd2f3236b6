"""Convex functions with linear constraints and a known optimum."""

import numpy as np
import pytest
from scipy.optimize import nnls

from polarbear.problems.linear_constraints import constrained_function

SPECS = [
    {"function": function, "dimension": dimension, "constraints": constraints, "seed": seed}
    for function in ("sphere", "ellipsoid")
    for dimension, constraints, seed in ((2, 1, 1), (5, 9, 2), (10, 6, 3))
]


@pytest.fixture(params=SPECS, ids=str)
def spec(request: pytest.FixtureRequest) -> dict[str, object]:
    return dict(request.param)


def test_the_optimum_is_feasible_and_fulfils_the_conditions_of_kuhn_and_tucker(spec):
    function = constrained_function(spec)
    value, constraints = function(function.optimum)
    assert value == 0
    assert max(constraints) <= 0
    is_active = np.array(constraints) == 0
    assert is_active.sum() == spec["constraints"] - spec["constraints"] // 3
    # The function is convex, so non-negative multipliers of active constraints prove optimality.
    gradient = function.gradient_at_optimum()
    _, residual = nnls(function.normals[:, is_active], -gradient)
    assert residual <= 1e-9 * np.linalg.norm(gradient)


def test_the_gradient_is_that_of_the_values(spec):
    function = constrained_function(spec)
    step = 1e-5
    differences = [
        (function(function.optimum + h)[0] - function(function.optimum - h)[0]) / (2 * step)
        for h in step * np.eye(len(function.optimum))
    ]
    assert np.allclose(differences, function.gradient_at_optimum(), rtol=1e-6, atol=1e-4)


def test_no_feasible_point_has_a_better_value(spec):
    function = constrained_function(spec)
    rng = np.random.default_rng(4)
    n_feasible = 0
    for radius in 10.0 ** rng.uniform(-6, 0, 2000):
        direction = rng.standard_normal(len(function.optimum))
        value, constraints = function(function.optimum + radius * direction)
        if max(constraints) <= 0:
            n_feasible += 1
            assert value >= 0
    assert n_feasible or spec["constraints"] > 5
