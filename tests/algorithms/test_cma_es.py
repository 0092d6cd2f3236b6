"""Our CMA-ES is the tutorial's, step by step, and as good as pycma; nothing it meets breaks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import numpy as np
import pytest
from scipy.linalg import inv, sqrtm

from polarbear.algorithms import pycma
from polarbear.algorithms.cma_es import Parameters, Past, bent_into_the_box
from polarbear.numerics.arrays import Floats
from tests.algorithms.helpers import Box, Run, algorithm, rastrigin, run, sphere

IT = algorithm("cma-es")
UNIT = (0.0, 1.0)


def rotated_ellipsoid(dimension: int, condition: float, seed: int = 1) -> Callable[[Floats], float]:
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.standard_normal((dimension, dimension)))[0]
    weights = condition ** np.linspace(0, 1, dimension)
    return lambda share: float(weights @ (10 * rotation @ (share - 0.4)) ** 2)


def as_the_tutorial_says(
    objective: Callable[[Floats], float], n: int, lam: int, sigma: float, seed: int
) -> Iterator[tuple[list[Floats], int]]:
    """The points of each generation on the unit box, and h_sigma, by the equations as printed:
    arXiv:1604.00772, Table 1 and Fig. 6. Bounds are pycma's."""
    w_raw = [np.log((lam + 1) / 2) - np.log(i) for i in range(1, lam + 1)]
    mu = lam // 2
    mu_eff = sum(w_raw[:mu]) ** 2 / sum(w**2 for w in w_raw[:mu])
    mu_eff_minus = sum(w_raw[mu:]) ** 2 / sum(w**2 for w in w_raw[mu:])
    alpha_cov = 2
    c_c = (4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n)
    c_1 = alpha_cov / ((n + 1.3) ** 2 + mu_eff)
    c_mu = min(
        1 - c_1,
        alpha_cov * (0.25 + mu_eff + 1 / mu_eff - 2) / ((n + 2) ** 2 + alpha_cov * mu_eff / 2),
    )
    c_sigma = (mu_eff + 2) / (n + mu_eff + 5)
    damping = max(1, 3 * (1 - 2 ** (-n / 9)))  # pycma's; 1 in the tutorial
    d_sigma = 1 + 2 * max(0, damping * np.sqrt((mu_eff - 1) / (n + 1)) - 1) + c_sigma
    alpha_mu_minus = 1 + c_1 / c_mu
    alpha_mu_eff_minus = 1 + 2 * mu_eff_minus / (mu_eff + 2)
    alpha_pos_def_minus = (1 - c_1 - c_mu) / (n * c_mu)
    positive = sum(w for w in w_raw if w >= 0)
    negative = sum(-w for w in w_raw if w < 0)
    smallest = min(alpha_mu_minus, alpha_mu_eff_minus, alpha_pos_def_minus)
    w = [w / positive if w >= 0 else w * smallest / negative for w in w_raw]
    chi = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2))
    gap = max(1, int(10 / (10 * n * (c_1 + c_mu))))

    rng = np.random.default_rng(seed)
    handler = pycma.load().boundary_handler.BoundTransform([0, 1])
    m, p_sigma, p_c, c, root = rng.random(n), np.zeros(n), np.zeros(n), np.eye(n), np.eye(n)
    for g in count():
        y = [root @ rng.standard_normal(n) for _ in range(lam)]
        x = [handler.repair(m + sigma * one) for one in y]
        h_sigma = 1
        ranked = [y[k] for k in sorted(range(lam), key=lambda k: objective(x[k]))]
        mean_step = sum(w[i] * ranked[i] for i in range(mu))
        m = m + sigma * mean_step
        inverse = inv(root)
        p_sigma = (1 - c_sigma) * p_sigma + np.sqrt(c_sigma * (2 - c_sigma) * mu_eff) * (
            inverse @ mean_step
        )
        length = np.linalg.norm(p_sigma)
        sigma = sigma * np.exp(c_sigma / d_sigma * (length / chi - 1))
        if length / np.sqrt(1 - (1 - c_sigma) ** (2 * (g + 1))) >= (1.4 + 2 / (n + 1)) * chi:
            h_sigma = 0
        yield x, h_sigma
        p_c = (1 - c_c) * p_c + h_sigma * np.sqrt(c_c * (2 - c_c) * mu_eff) * mean_step
        delta = (1 - h_sigma) * c_c * (2 - c_c)
        new = (1 + c_1 * delta - c_1 - c_mu * sum(w)) * c + c_1 * np.outer(p_c, p_c)
        for i in range(lam):
            scale = 1 if w[i] >= 0 else n / np.linalg.norm(inverse @ ranked[i]) ** 2
            new = new + c_mu * w[i] * scale * np.outer(ranked[i], ranked[i])
        c = new
        if (g + 1) % gap == 0:
            root = np.real(sqrtm(c))


def slope(share: Floats) -> float:
    return float(share @ np.arange(1, len(share) + 1))


@pytest.mark.parametrize("popsize", [2, 3, 8, 40])
@pytest.mark.parametrize("dimension", [1, 2, 5, 30])
def test_points_are_those_of_the_equations_as_printed(dimension: int, popsize: int):
    generations = 12
    h_sigmas = set()
    for objective, sigma in ((rotated_ellipsoid(dimension, 100), 0.2), (slope, 0.01)):
        it = algorithm("cma-es", popsize=popsize, sigma0=sigma)
        box = Box.cube(dimension, *UNIT)
        found = run(it, box, objective, generations * popsize, seed=3).points
        theirs = as_the_tutorial_says(objective, dimension, popsize, sigma, 3)
        for generation in range(generations):
            points, h_sigma = next(theirs)
            ours = found[generation * popsize : (generation + 1) * popsize]
            assert np.allclose(ours, points, rtol=0, atol=1e-10)
            h_sigmas.add(h_sigma)
    if (dimension, popsize) == (5, 40):
        assert h_sigmas == {0, 1}  # a slope leads to both


@pytest.mark.parametrize("spread", [0.1, 0.5, 3.0, 1e3])
def test_points_come_into_the_box_as_by_pycma(spread: float):
    handler = pycma.load().boundary_handler.BoundTransform([0, 1])
    shares = np.random.default_rng(1).normal(0.5, spread, (500, 4))
    theirs = np.array([handler.repair(share) for share in shares])
    for rows in (slice(None), slice(0, 1)):
        ours = 0.5 + bent_into_the_box(shares[rows] - 0.5)
        assert np.allclose(ours, theirs[rows], rtol=0, atol=1e-11)


@pytest.mark.parametrize(("dimension", "popsize"), [(2, 6), (5, 8), (10, 10), (20, 48), (20, 192)])
def test_parameters_are_those_of_pycma(dimension: int, popsize: int):
    options = {"popsize": popsize, "verbose": -10}
    create = pycma.load().CMAEvolutionStrategy
    theirs = pycma.quietly(create, np.full(dimension, 0.5), 0.2, options)
    theirs.adapt_sigma.initialize(theirs)
    ours = Parameters.default(dimension, popsize)
    assert np.allclose(ours.weights, theirs.sp.weights)
    rates = [ours.c_1, ours.c_mu, ours.c_c, ours.d_sigma - ours.c_sigma]
    damping = theirs.adapt_sigma.damps - theirs.adapt_sigma.cs
    assert np.allclose(rates, [theirs.sp.c1, theirs.sp.cmu, theirs.sp.cc, damping])


SEEDS = range(11)


def median_time(use: str, objective: Callable[[int], Callable[[Floats], float]], d: int) -> float:
    """Evaluations until values are below 1e-9, the median of some seeds."""

    class Reached(Exception):
        pass

    def evaluations(seed: int) -> int:
        count, value = 0, objective(seed)

        def until_reached(share: Floats) -> float:
            nonlocal count
            count += 1
            y = value(share)
            if y < 1e-9:
                raise Reached
            return y

        with pytest.raises(Reached):
            run(algorithm(use), Box.cube(d, *UNIT), until_reached, 100_000, seed)
        return count

    return float(np.median([evaluations(seed) for seed in SEEDS]))


@pytest.mark.slow
@pytest.mark.parametrize(("condition", "at_most"), [(1.0, 1.25), (1e6, 2.0)])
@pytest.mark.parametrize("dimension", [2, 5, 10])
def test_it_converges_as_fast_as_pycma(dimension: int, condition: float, at_most: float):
    # Of medians of other seeds one in 200 would have some of the six outside: found by drawing 11
    # of 60 runs of each, again and again.
    theirs, ours = (
        median_time(use, lambda seed: rotated_ellipsoid(dimension, condition, seed), dimension)
        for use in ("cma", "cma-es")
    )
    assert 1 / at_most < ours / theirs < at_most


def starts(found: Run) -> list[int]:
    """Where points begin to be far apart again, after having been close."""
    moves = np.abs(np.diff(found.points, axis=0)).max(1)
    close = np.convolve(moves < 1e-6, np.ones(3), "valid") == 3
    far = moves > 1e-3
    return [k + 1 for k in range(3, len(moves)) if far[k] and close[k - 3]]


def test_it_starts_again_elsewhere_when_it_has_converged():
    found = run(IT, Box.cube(2, *UNIT), rastrigin, 6000)
    assert len(starts(found)) >= 3
    assert found.values.min() < 1e-9


def test_slow_progress_is_not_taken_for_none_but_none_is():
    falling, still = Past(20), Past(20)
    rng = np.random.default_rng(1)
    assert not any(falling.says_stop(-k, -k + 1, -k + 2) for k in range(1000))
    stops = [still.says_stop(*np.sort(rng.random(3)).tolist()) for _ in range(1000)]
    assert 100 < stops.index(True) < 300


@pytest.mark.parametrize("budget", [1, 5])
def test_a_budget_may_end_amid_the_first_population(budget: int):
    assert len(run(IT, Box.cube(5), budget=budget).points) == budget


def test_where_a_value_is_not_a_number_it_is_the_worst():
    with_holes = run(IT, Box.cube(2), lambda x: np.nan if x[0] > 0.5 else sphere(x))
    infinite_there = run(IT, Box.cube(2), lambda x: np.inf if x[0] > 0.5 else sphere(x))
    assert np.nanmin(with_holes.values) < 1e-9
    assert np.array_equal(with_holes.points[:50], infinite_there.points[:50])
    assert len(run(IT, Box.cube(2), lambda x: np.nan, 500).points) == 500


@pytest.mark.parametrize("optimum", [0.0, 1e-3, -0.3])
def test_an_optimum_at_near_or_beyond_a_bound_is_found(optimum: float):
    nearest = max(optimum, 0.0)

    def objective(share: Floats) -> float:
        return float(((share - optimum) ** 2).sum()) - 3 * (nearest - optimum) ** 2

    box = Box.cube(3, -7.0, 11.0)
    found = run(IT, box, objective)
    assert box.contains(found.points)
    assert found.values.min() < 1e-9


def test_hundreds_of_variables_are_searched():
    found = run(IT, Box.cube(240), budget=6000)
    assert found.values.min() < found.values[0] / 20
