"""The textbook functions: where their optimum is, and that they are what they are called."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import rosen
from scipy.stats import chisquare

from polarbear.problems import Setting
from polarbear.problems.classic import FUNCTIONS, Classic, random_rotation
from polarbear.settings.grid import Budget

SETTING = Setting(1, Budget(grid=(1.0, 2.0)))


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


def _sum(numbers):
    return np.add.reduce(numbers)


PLAIN = {
    "sphere": lambda z: z @ z,
    "ellipsoid": lambda z: 10.0 ** (6.0 * np.linspace(0.0, 1.0, len(z))) @ (z * z),
    "cigar": lambda z: z[0] ** 2 + 1e6 * (z[1:] @ z[1:]),
    "discus": lambda z: 1e6 * z[0] ** 2 + z[1:] @ z[1:],
    "rosenbrock": lambda z: (
        100.0 * _sum((z[1:] + 1.0 - (z[:-1] + 1.0) ** 2) ** 2) + _sum((z[:-1] + 1.0 - 1.0) ** 2)
    ),
    "rastrigin": lambda z: 10.0 * (len(z) - _sum(np.cos(2.0 * np.pi * z))) + z @ z,
    "ackley": lambda z: (
        20.0 * -np.expm1(-0.2 * np.sqrt(z @ z / len(z)))
        + np.e
        - np.exp(_sum(np.cos(2.0 * np.pi * z)) / len(z))
    ),
    "griewank": lambda z: (
        (100.0 * z) @ (100.0 * z) / 4000.0
        + 1.0
        - np.multiply.reduce(np.cos(100.0 * z / np.sqrt(np.arange(1, len(z) + 1))))
    ),
    "levy": lambda z: _levy(1.0 + z / 4.0),
    "different-powers": lambda z: np.sqrt(
        _sum(np.abs(z) ** (2.0 + 4.0 * np.linspace(0.0, 1.0, len(z))))
    ),
}


def _levy(w):
    off = w - 1.0
    waves = 1.0 + 10.0 * np.sin(np.pi * w[:-1] + 1.0) ** 2
    end = off[-1] ** 2 * (1.0 + np.sin(2.0 * np.pi * w[-1]) ** 2)
    return np.sin(np.pi * w[0]) ** 2 + _sum(off[:-1] ** 2 * waves) + end


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_one_point_or_of_many_is_its_plain_formula_to_the_bit(name: str):
    rng = np.random.default_rng(3)
    for dimension in (*range(2, 20), 33, 130):
        spec = {"function": name, "dimension": dimension, "seed": dimension}
        problem = Classic(suite="classic").build(spec, SETTING)
        drawn = np.random.default_rng(dimension)
        shift, rotation = drawn.uniform(-4, 4, dimension), random_rotation(dimension, drawn)
        points = rng.uniform(-5, 5, (300, dimension))
        plain = np.array([PLAIN[name](rotation @ (x - shift)) for x in points])
        assert np.array([problem.evaluate(x) for x in points]).tobytes() == plain.tobytes()
        assert problem.evaluate_many(points).tobytes() == plain.tobytes()
        assert problem.evaluate_many(np.asfortranarray(points)).tobytes() == plain.tobytes()
        assert problem.evaluate_many(points[:1]).tobytes() == plain[:1].tobytes()


def test_a_rotation_is_orthogonal():
    q = random_rotation(7, np.random.default_rng(2))
    assert np.allclose(q.T @ q, np.eye(7))


def test_functions_and_dimensions_are_equally_likely():
    """Chi-square tests at level 1e-4 each, fixed seed."""
    suite = Classic(suite="classic")
    specs = [suite.instance(i, SETTING).spec for i in range(3000)]
    for key, kinds in (("function", len(FUNCTIONS)), ("dimension", 9)):
        _, counts = np.unique([spec[key] for spec in specs], return_counts=True)
        assert len(counts) == kinds
        assert chisquare(counts).pvalue > 1e-4


def test_the_optimum_lies_inside_the_box():
    suite = Classic(suite="classic", functions=("sphere",), rotate=False)
    for index in range(20):
        problem = suite.build(suite.instance(index, SETTING).spec, SETTING)
        at_zero = problem.evaluate(np.zeros(problem.dimension))
        # f(x) - f(0) = -2 x.shift + x.x: the gradient at 0 gives the shift back
        basis = np.eye(problem.dimension)
        shift = [(at_zero + 1 - problem.evaluate(e)) / 2 for e in basis]
        assert np.all(np.abs(shift) <= 4)
        assert problem.evaluate(shift) == pytest.approx(0, abs=1e-9)
