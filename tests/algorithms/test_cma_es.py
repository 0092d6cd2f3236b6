"""Our CMA-ES is the tutorial's, step by step, and as good as pycma; nothing it meets breaks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import numpy as np
import pytest
from scipy.linalg import inv, sqrtm

from polarbear.algorithms import pycma
from polarbear.algorithms.cma_es import Past, bent_into_the_box
from polarbear.numerics.arrays import Floats
from tests.algorithms.helpers import Box, Run, algorithm, constant, rastrigin, run, sphere

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
    d_sigma = 1 + 2 * max(0, np.sqrt((mu_eff - 1) / (n + 1)) - 1) + c_sigma
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
