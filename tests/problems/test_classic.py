"""The textbook functions: where their optimum is, and that they are what they are called."""

import hashlib

import numpy as np
import pytest
from scipy.optimize import rosen
from scipy.stats import chisquare

from polarbear.problems.classic import FUNCTIONS, orthonormal
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


def test_rotations_are_the_same_to_the_byte_everywhere():
    digest = hashlib.sha256()
    for dimension in (1, 2, 3, 5, 10, 40):
        normals = np.random.default_rng(dimension).standard_normal((dimension, dimension))
        digest.update(orthonormal(normals).tobytes())
    assert digest.hexdigest() == "748f39923cd1a20b478e211de77e1fd712f675568f93c1507e62a0ae3e9b74c3"


def test_values_without_a_power_a_root_or_a_wave_are_the_same_to_the_byte_everywhere():
    known_values = {
        "sphere": 56.083829167144074,
        "cigar": 52476122.829262964,
        "discus": 3607762.4217102723,
        "rosenbrock": 39295.106644531756,
    }
    for name, known_value in known_values.items():
        spec = {"function": name, "dimension": 10, "seed": 3}
        problem = suite("classic").build(spec, SETTING)
        assert problem.evaluate(np.linspace(-1.0, 1.0, 10)) == known_value


@pytest.mark.parametrize("dimension", [1, 2, 10, 40])
def test_rotations_are_those_of_a_qr_decomposition(dimension: int):
    normals = np.random.default_rng(dimension).standard_normal((dimension, dimension))
    rotation = orthonormal(normals)
    q, r = np.linalg.qr(normals)
    assert np.allclose(rotation, q * np.sign(np.diag(r)), rtol=0, atol=1e-12)
    assert np.allclose(rotation.T @ rotation, np.eye(dimension), rtol=0, atol=1e-14)


def test_columns_that_nearly_depend_on_each_other_are_made_orthonormal():
    nearly_dependent = np.eye(3) * 1e-9 + 1.0
    rotation = orthonormal(nearly_dependent)
    assert np.allclose(rotation.T @ rotation, np.eye(3), rtol=0, atol=1e-14)
