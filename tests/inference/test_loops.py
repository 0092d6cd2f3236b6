"""Compiled loops against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.inference.loops import band, fastmath
from polarbear.inference.loops.likelihood import curvature
from polarbear.inference.loops.observe import observe, observe_back
from polarbear.inference.native.set_sums import helmert, set_sums, with_prior
from polarbear.numerics.compiling import kernel
from polarbear.rankings import count_choice_sets, rank


@kernel
def _log_and_exp(x, y, logs, by_table, exps):
    for i in range(len(x)):
        logs[i] = fastmath.fast_log(x[i])
        by_table[i] = fastmath.table_log(x[i])
        exps[i] = fastmath.fast_exp(y[i])


def test_fast_logarithm_and_exponential_are_exact_enough():
    rng = np.random.default_rng(0)
    x = np.concatenate([np.exp(rng.uniform(-690, 690, 20_000)), 1 + rng.normal(0, 1e-3, 20_000)])
    y = np.concatenate([rng.uniform(-690, 690, 20_000), rng.normal(0, 1, 20_000)])
    logs, by_table, exps = np.empty_like(x), np.empty_like(x), np.empty_like(y)
    _log_and_exp(x, y, logs, by_table, exps)
    np.testing.assert_allclose(logs, np.log(x), rtol=4e-15, atol=1e-18)
    np.testing.assert_allclose(by_table, np.log(x), rtol=4e-15, atol=1e-15)
    np.testing.assert_allclose(exps, np.exp(y), rtol=1e-13)


def test_helmert_columns_are_orthonormal_contrasts_as_the_paper_has_them():
    q = helmert(5)
    np.testing.assert_allclose(q.T @ q, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(q.sum(axis=0), 0, atol=1e-12)
    assert q[1, 1] == pytest.approx(np.sqrt(1 / 6))
    assert q[2, 1] == pytest.approx(-np.sqrt(2 / 3))
    assert q[3, 1] == 0


def _some_sets(n, instances, n_times, seed=0):
    """Tied, partial rankings; the last timepoint has none."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (instances, n, n_times)).astype(float)
    present = rng.random(values.shape) < 0.8
    present[:, :, -1] = False
    return count_choice_sets(rank(values, present))


@pytest.mark.parametrize(("n", "instances"), [(2, 5), (3, 9), (5, 12), (9, 30), (16, 6)])
@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_likelihood_with_a_dirichlet_prior_its_gradient_and_curvature(n, instances, alpha):
    sets = _some_sets(n, instances, 4)
    laid_out = with_prior(set_sums(sets), alpha)
    rng = np.random.default_rng(1)
    eta = rng.normal(size=(4, n - 1))

    def evaluate(at):
        values, slopes, bends = np.empty(4), np.empty((4, n - 1)), np.empty((4, n - 1, n - 1))
        curvature(laid_out, at, values, slopes, bends)
        return values, slopes, bends

    values, slopes, bends = evaluate(eta)
    mu = eta @ helmert(n).T
    prior = alpha * (mu.sum(axis=1) - n * np.logaddexp.reduce(mu, axis=1))
    np.testing.assert_allclose(values, sets.log_likelihood(mu) + prior, rtol=1e-12, atol=1e-10)
    for q in range(n - 1):
        step = np.zeros_like(eta)
        step[:, q] = 1e-5
        ahead, behind = evaluate(eta + step), evaluate(eta - step)
        np.testing.assert_allclose((ahead[0] - behind[0]) / 2e-5, slopes[:, q], atol=1e-6)
        np.testing.assert_allclose((ahead[1] - behind[1]) / -2e-5, bends[:, :, q], atol=1e-6)


def test_utilities_far_apart_neither_overflow_nor_underflow():
    sets = count_choice_sets(rank(np.arange(3.0).reshape(1, 3, 1)))
    laid_out = with_prior(set_sums(sets), 1.0)
    eta = (np.array([[2000.0, 0.0, -2000.0]]) @ helmert(3)).copy()
    values, slopes, bends = np.empty(1), np.empty((1, 2)), np.empty((1, 2, 2))
    curvature(laid_out, eta, values, slopes, bends)
    assert np.isfinite(values).all()
    assert np.isfinite(slopes).all()
    assert np.isfinite(bends).all()


def _random_band(size, width, rng):
    """A positive definite matrix and its band."""
    lower = np.tril(rng.normal(size=(size, size)))
    lower[np.abs(np.subtract.outer(np.arange(size), np.arange(size))) >= width] = 0
    matrix = lower @ lower.T + size * np.eye(size)
    rows = np.zeros((size, width))
    for i in range(size):
        for j in range(max(0, i - width + 1), i + 1):
            rows[i, width - 1 - (i - j)] = matrix[i, j]
    return matrix, rows


@pytest.mark.parametrize(("size", "width"), [(1, 1), (7, 1), (12, 4), (9, 9), (40, 13)])
def test_band_factor_and_solves_equal_dense_ones(size, width):
    rng = np.random.default_rng(2)
    matrix, rows = _random_band(size, width, rng)
    lower = rows.copy()
    half_log_det = band.band_cholesky(lower)
    assert half_log_det == pytest.approx(0.5 * np.linalg.slogdet(matrix)[1])
    dense = np.linalg.cholesky(matrix)
    b = rng.normal(size=size)
    x = b.copy()
    band.solve_lower(lower, x)
    np.testing.assert_allclose(x, np.linalg.solve(dense, b), atol=1e-10)
    x = b.copy()
    band.solve_upper(band.flipped(lower), x)
    np.testing.assert_allclose(x, np.linalg.solve(dense.T, b), atol=1e-10)
    out = np.empty((size, 2))
    columns = rng.normal(size=(size, 2))
    band.band_times(rows, columns, out)
    np.testing.assert_allclose(out, matrix @ columns, atol=1e-10)


def test_a_matrix_that_is_not_positive_definite_has_no_factor():
    assert np.isnan(band.band_cholesky(np.array([[0.0, 1.0], [2.0, 1.0]])))


@pytest.mark.parametrize("n_weights", [1, 3, 12])
def test_observing_is_linear_and_its_gradient_the_transpose(n_weights):
    rng = np.random.default_rng(3)
    n_times, d, size = 6, 2, n_weights + 5
    starts = np.arange(n_times)
    weights = rng.normal(size=(n_times, n_weights))
    dense = np.zeros((n_times, size))
    for t in range(n_times):
        dense[t, starts[t] : starts[t] + n_weights] = weights[t]
    x = rng.normal(size=(size, d))
    eta = np.zeros((n_times, d))
    observe(starts, weights, x.ravel(), eta)
    np.testing.assert_allclose(eta, dense @ x, atol=1e-12)
    slopes = rng.normal(size=(n_times, d))
    back = np.zeros(size * d)
    observe_back(starts, weights, slopes, back)
    np.testing.assert_allclose(back.reshape(size, d), dense.T @ slopes, atol=1e-12)


def test_posterior_precision_is_prior_plus_curvature():
    rng = np.random.default_rng(4)
    n_times, d, n_weights, size = 5, 3, 2, 6
    matrix, precision = _random_band(size, 4, rng)
    starts, weights = np.arange(n_times), rng.normal(size=(n_times, n_weights))
    root = rng.normal(size=(n_times, d, d))
    bends = root @ root.swapaxes(1, 2)
    expected = np.kron(matrix, np.eye(d))
    for t in range(n_times):
        row = np.zeros(size)
        row[starts[t] : starts[t] + n_weights] = weights[t]
        expected += np.kron(np.outer(row, row), bends[t])
    rows = np.empty((size * d, 4 * d))
    band.posterior_band(precision, starts, weights, bends, rows)
    for i in range(size * d):
        for j in range(max(0, i - 4 * d + 1), i + 1):
            assert rows[i, 4 * d - 1 - (i - j)] == pytest.approx(expected[i, j])
