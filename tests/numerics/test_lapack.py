"""Cholesky factors and solving by them: held against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.numerics import lapack


def covariance(size: int) -> np.ndarray:
    rows = np.random.default_rng(size).standard_normal((size, 2 * size))
    return rows @ rows.T


@pytest.mark.parametrize("size", [1, 2, 37, 200])
def test_the_factor_is_numpys_and_what_is_above_the_diagonal_stays(size):
    matrix = covariance(size)
    found = matrix.copy()
    lapack.factorise(found)
    np.testing.assert_allclose(np.tril(found), np.linalg.cholesky(matrix), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(np.triu(found, 1), np.triu(matrix, 1))


@pytest.mark.parametrize(("size", "sides"), [(1, 1), (5, 3), (40, 90), (200, 1)])
def test_each_row_is_solved_for(size, sides):
    matrix = covariance(size)
    wanted = np.random.default_rng(1).standard_normal((sides, size))
    factor, solved = matrix.copy(), wanted @ matrix
    lapack.factorise(factor)
    lapack.solve(factor, solved)
    np.testing.assert_allclose(solved, wanted, rtol=1e-7, atol=1e-7)


def test_a_matrix_that_has_no_factor_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        lapack.factorise(np.diag([1.0, -1.0]))


@pytest.mark.parametrize(
    "wrong", [np.eye(3, dtype=np.float32), np.eye(4)[::2, ::2], np.ones((2, 3))]
)
def test_what_lapack_would_misread_is_refused(wrong):
    with pytest.raises(AssertionError):
        lapack.factorise(wrong)
