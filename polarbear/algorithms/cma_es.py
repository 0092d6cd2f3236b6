"""A CMA-ES of our own, in NumPy alone, which does a whole generation in a few dozen calls.

It is the (mu/mu_w, lambda)-CMA-ES of N. Hansen, The CMA Evolution Strategy: A Tutorial
(arXiv:1604.00772), with its names, its default parameters, negative weights among them, and its
rules for when to stop, with pycma's tolerances. It differs in that

- points are drawn by the symmetric root of C, so that C^-1/2 y is the normal draw itself;
- that root is found less often, in 2 to 10 dimensions mostly every other generation: on quadratic
  functions the evaluations that this took could not be told from noise;
- the step size is damped more in large populations and many dimensions, as pycma does: with the
  tutorial's damping it was farther behind pycma on BBOB's step ellipsoid in 20 dimensions;
- it searches the unit box. A point near or beyond a bound is bent into the box before it is
  evaluated, and learned from as it was drawn, so that the search is that of a function without
  bounds. The parabola is pycma's: where a bound keeps values from falling further, it makes a
  smooth minimum of it. On convex quadratic functions of that kind in 2 to 10 dimensions plain
  reflection took 1.7 to 3.8 times as many evaluations, and learning from points reflected or
  clipped mostly failed in 5 and 10; away from bounds all did about as well. The price: 1.7 to
  3.2 times as many as by reflection where the optimum is on a bound and the function is flat there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np

from polarbear.algorithms.base import Trial
from polarbear.algorithms.restarts import RestartedCma
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Setting

Evaluate = Callable[[Floats], list[float]]

NEAR = 0.05  # to a bound, where points are bent
STRAIGHT = 0.5 - NEAR  # from the middle of the box to where that begins
REACH = 0.5 + NEAR  # from the middle to what is bent onto a bound; beyond, points come back
SMALLEST = 1e-11  # standard deviation, as a share of the box
LARGEST = 1e4  # standard deviation, as a multiple of the first
SAME = 1e-12  # the best values of some generations, if they differ by no more
ALL_SAME = 1e-11  # those and all values of the last generation
WORST_CONDITION = 1e14  # of C
FINEST = 2.0**-53  # a standard deviation too small to move points in the unit box


class CmaEs(RestartedCma):
    """CMA-ES (our own, in NumPy) from uniform random points, restarted with a larger population."""

    def run(self, trial: Trial, setting: Setting) -> None:
        lower, upper = trial.box
        middle, width = lower + (upper - lower) / 2, upper - lower
        rng = np.random.default_rng(trial.seed)

        def evaluate(off: Floats) -> list[float]:
            points = middle + bent_into_the_box(off) * width
            return trial.evaluate_all(np.minimum(np.maximum(points, lower), upper))

        for popsize in self.populations(trial.dimension):
            _search(evaluate, rng, self.sigma0, Parameters.default(trial.dimension, popsize))


def bent_into_the_box(off: Floats) -> Floats:
    """Points by how far off the middle they are: as they are, but near bounds and beyond by a
    parabola that touches the bound and goes back in."""
    farthest = np.abs(off).max()
    if farthest <= STRAIGHT:
        return off
    if farthest > REACH:
        off = REACH - np.abs((off + REACH) % (4 * REACH) - 2 * REACH)
    beyond = off - np.minimum(np.maximum(off, -STRAIGHT), STRAIGHT)
    bent: Floats = off - beyond * np.abs(beyond) / (4 * NEAR)
    return bent


@dataclass(frozen=True)
class Parameters:
    """What the tutorial's update takes in n dimensions."""

    n: int
    weights: Floats
    mu: int
    mu_eff: float
    c_sigma: float
    d_sigma: float
    c_c: float
    c_1: float
    c_mu: float

    @classmethod
    def default(cls, n: int, popsize: int) -> Parameters:
        """Those of its Table 1, but for the damping d_sigma."""
        raw = math.log((popsize + 1) / 2) - np.log(np.arange(1, popsize + 1))
        mu = popsize // 2
        good, bad = raw[:mu], raw[mu:]
        mu_eff, mu_eff_bad = (float(some.sum() ** 2 / (some @ some)) for some in (good, bad))
        c_sigma = (mu_eff + 2) / (n + mu_eff + 5)
        c_1 = 2 / ((n + 1.3) ** 2 + mu_eff)
        c_mu = min(1 - c_1, 2 * (0.25 + mu_eff + 1 / mu_eff - 2) / ((n + 2) ** 2 + mu_eff))
        bad_sum = min(
            1 + c_1 / c_mu, 1 + 2 * mu_eff_bad / (mu_eff + 2), (1 - c_1 - c_mu) / (n * c_mu)
        )
        damped = max(1.0, 3 * (1 - 0.5 ** (n / 9)))  # the tutorial's is 1
        return cls(
            n=n,
            weights=np.concatenate([good / good.sum(), -bad_sum * bad / bad.sum()]),
            mu=mu,
            mu_eff=mu_eff,
            c_sigma=c_sigma,
            d_sigma=1 + 2 * max(0, damped * math.sqrt((mu_eff - 1) / (n + 1)) - 1) + c_sigma,
            c_c=(4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n),
            c_1=c_1,
            c_mu=c_mu,
        )


def _search(evaluate: Evaluate, rng: np.random.Generator, sigma: float, by: Parameters) -> None:
    """One start, from a random point to where it converges."""
    n, mu, popsize = by.n, by.mu, len(by.weights)
    c_sigma, c_c, c_1 = by.c_sigma, by.c_c, by.c_1
    largest = LARGEST * sigma
    until_new_root = max(1, int(1 / (n * (c_1 + by.c_mu))))
    recombination = np.where(np.arange(popsize) < mu, by.weights, 0.0)
    rates = np.append(by.c_mu * by.weights, c_1)  # p_c counts as one more row
    kept_of_c = 1 - float(rates.sum())
    kept = np.repeat([1 - c_sigma, 1 - c_c], n)  # of the paths p_sigma and p_c, side by side
    gained = np.sqrt((1 - kept**2) * by.mu_eff)
    expected_length = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2))  # of a normal draw
    ones = np.ones(n)

    mean, paths, covariance = rng.random(n) - 0.5, np.zeros(2 * n), np.eye(n)
    z_and_y = np.hstack([np.eye(n), np.eye(n)])  # of z makes z and y = C^1/2 z, side by side
    past = Past(10 + math.ceil(30 * n / popsize))
    for generation in itertools.count(1):
        drawn = rng.standard_normal((popsize, n)).dot(z_and_y)
        values = evaluate(mean + sigma * drawn[:, n:])
        order = np.array(values).argsort()  # what is not a number comes last
        if past.says_stop(values[order[0]], values[order[mu]], values[order[-1]]):
            return
        ranked = drawn.take(order, 0)
        steps = recombination.dot(ranked)
        mean = mean + sigma * steps[n:]
        paths = kept * paths + gained * steps
        p_sigma, p_c = paths[:n], paths[n:]
        length = math.sqrt(p_sigma.dot(p_sigma)) / expected_length
        fading = kept_of_c
        if length >= (1.4 + 2 / (n + 1)) * math.sqrt(1 - (1 - c_sigma) ** (2 * generation)):
            p_c -= gained[n:] * steps[n:]  # the tutorial's h_sigma is 0
            fading += c_1 * c_c * (2 - c_c)
        bad, rows, weights = ranked[mu:, :n], np.vstack([ranked[:, n:], p_c]), rates.copy()
        weights[mu:-1] *= n / (bad * bad).dot(ones)
        covariance = fading * covariance + (rows.T * weights).dot(rows)
        sigma *= math.exp(c_sigma / by.d_sigma * (length - 1))
        if generation % until_new_root == 0:
            squares, axes = np.linalg.eigh(covariance)
            if not 0 < squares[-1] < WORST_CONDITION * squares[0]:
                return
            lengths = np.sqrt(squares)
            if not (SMALLEST < sigma * lengths[-1] < largest and sigma * lengths[0] > FINEST):
                return
            z_and_y[:, n:] = (axes * lengths).dot(axes.T)


class Past:
    """The best and the median value of each generation of a start."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.bests: list[float] = []
        self.medians: list[float] = []

    def says_stop(self, best: float, middle: float, worst: float) -> bool:
        """Take the values of a generation; whether there seems to be nothing more to find."""
        self.bests.append(best)
        self.medians.append(middle)
        if best == worst or math.isnan(best):
            return True  # no point is better than another
        generations = len(self.bests)
        if generations < self.window:
            return False
        if self.bests[-self.window] - best <= ALL_SAME:
            recent = self.bests[-self.window :]
            least, most = min(recent), max(recent)
            if most - least <= SAME or max(most, worst) - least <= ALL_SAME:
                return True
        long = min(max(110 + self.window, generations // 5), 20_000)
        if generations < long or generations % self.window:  # which is often enough
            return False
        part = long * 3 // 10
        return all(
            median(values[-part:]) >= median(values[-long : part - long])
            for values in (self.bests, self.medians)
        )
