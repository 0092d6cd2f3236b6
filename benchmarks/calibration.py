"""Simulation-based calibration: are posteriors right when the truth comes from the prior?

For each model, truths are drawn from its prior and rankings from each truth; the truth's rank among
posterior draws must then be uniform, for every quantity of interest (Talts et al. 2018). A model
passes if the histograms of all its quantities lie inside a simultaneous band, which a calibrated
sampler leaves in 1 % of all repetitions of the whole check of that model. The script exits with 1
if a model does not pass.

    python benchmarks/calibration.py --simulations 300 --write benchmarks/results/calibration.md
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from scipy.stats import binom

from polarbear.inference import ModelOptions, infer
from polarbear.inference.models import rating_models
from polarbear.inference.models.base import Model, rating_model
from polarbear.inference.plackett_luce.likelihood import Likelihood, helmert
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets

TIMES = 10
ALGORITHMS = 4
INSTANCES = 8
DRAWS = 2000
THIN = 10
BINS = 20
ERROR_RATE = 0.01
QUANTITIES = ("theta[first]", "theta[middle]", "log ratio", "lowest log ratio", "log-likelihood")


def draw_truth(model: Model, rng: np.random.Generator) -> np.ndarray:
    """Utilities mu[T, n] from the prior, hyperparameters included."""
    n = model.n_algorithms
    n_times = len(model.times)
    latent = model.latent(model.draw_hyper(rng))
    if latent.dirichlet > 0:
        # A small gamma variate underflows; its logarithm does not: G(a) = G(a + 1) U^(1/a).
        shape = (n_times, n)
        large = np.log(rng.gamma(latent.dirichlet + 1, size=shape))
        mu = large + np.log(rng.random(shape)) / latent.dirichlet
        return np.asarray(mu - np.logaddexp.reduce(mu, axis=1, keepdims=True))
    z = rng.standard_normal((latent.n_coefficients, n - 1))
    eta = latent.observe(latent.solve_factor(z, transposed=True).reshape(1, -1))[:, 0]
    return np.asarray(eta @ helmert(n).T)


def draw_positions(mu: np.ndarray, instances: int, rng: np.random.Generator) -> np.ndarray:
    """Positions[instance, algorithm, time] of rankings that follow Plackett-Luce exactly."""
    n_times, n = mu.shape
    utility = mu.T + rng.gumbel(size=(instances, n, n_times))
    return rank(-utility)


def quantities(mu: np.ndarray, log_likelihood: np.ndarray) -> np.ndarray:
    """The quantities that are ranked, from mu[draw, T, n]: [draw, quantity]."""
    theta = np.exp(mu - np.logaddexp.reduce(mu, axis=2, keepdims=True))
    ratio = mu[:, :, 0] - mu[:, :, 1]
    return np.stack(
        [
            theta[:, 0, 0],
            theta[:, mu.shape[1] // 2, 1],
            ratio[:, -1],
            ratio.min(axis=1),
            log_likelihood,
        ],
        axis=1,
    )


def truth_ranks(
    seed: int, name: str, method: str = "auto", instances: int = INSTANCES
) -> np.ndarray:
    """The truth's rank, for each quantity, in one simulation."""
    rng = np.random.default_rng([seed, sorted(rating_models()).index(name)])
    times = np.linspace(0, 1, TIMES)
    options = ModelOptions(model=name, dependence="independent", draws=DRAWS, method=method)
    mu = draw_truth(rating_model(name)(times, ALGORITHMS, options), rng)
    sets = count_choice_sets(draw_positions(mu, instances, rng))
    posterior = infer(sets, times, options, seed=seed, threads=1)
    with np.errstate(divide="ignore"):
        log_theta = np.log(posterior.theta[::THIN])
    log_theta = np.maximum(log_theta, -700.0)
    likelihood = Likelihood(sets)
    log_likelihood = likelihood.evaluate(log_theta.swapaxes(0, 1))[0].sum(axis=0)
    drawn = quantities(log_theta, log_likelihood)
    true = quantities(mu[None], likelihood.evaluate(mu[:, None])[0].sum(axis=0))
    below = (drawn < true).sum(axis=0)
    equal = (drawn == true).sum(axis=0)
    return np.asarray(below + rng.integers(0, equal + 1))


def simultaneous_band(simulations: int, histograms: int, rng: np.random.Generator) -> np.ndarray:
    """Lowest and highest count a bin may have so that all bins of all histograms hold at once."""
    error_of_histogram = 1 - (1 - ERROR_RATE) ** (1 / histograms)
    uniform = rng.multinomial(simulations, np.full(BINS, 1 / BINS), size=20_000)
    levels = binom.cdf(uniform, simulations, 1 / BINS)
    upper = binom.sf(uniform - 1, simulations, 1 / BINS)
    tightest = np.minimum(levels, upper).min(axis=1)
    level = np.quantile(tightest, error_of_histogram, method="lower")
    return np.array(
        [
            binom.ppf(level, simulations, 1 / BINS),
            binom.isf(level, simulations, 1 / BINS),
        ]
    )


def histogram(ranks: np.ndarray) -> np.ndarray:
    """Counts of ranks 0 .. DRAWS / THIN in BINS bins; a rank is spread at random over its width."""
    highest = DRAWS // THIN
    spread = (ranks + np.random.default_rng(0).random(len(ranks))) / (highest + 1)
    return np.bincount((spread * BINS).astype(int), minlength=BINS)


def calibrate(
    name: str,
    simulations: int,
    method: str = "auto",
    processes: int = 1,
    first_seed: int = 0,
    instances: int = INSTANCES,
) -> tuple[bool, list[str]]:
    """Whether the model passes, and one line of the table for each quantity."""
    start = time.perf_counter()
    seeds = range(first_seed, first_seed + simulations)
    run = partial(truth_ranks, name=name, method=method, instances=instances)
    if processes == 1:
        ranks = np.array([run(seed) for seed in seeds])
    else:
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            ranks = np.array(list(pool.map(run, seeds, chunksize=5)))
    low, high = simultaneous_band(simulations, len(QUANTITIES), np.random.default_rng(1))
    seconds = f"{time.perf_counter() - start:.0f}"
    lines = []
    passed = True
    for k, quantity in enumerate(QUANTITIES):
        counts = histogram(ranks[:, k])
        inside = bool(counts.min() >= low and counts.max() <= high)
        passed &= inside
        lines.append(
            f"| {name} | {quantity} | {counts.min()} to {counts.max()} | {low:.0f} to {high:.0f} "
            f"| {'yes' if inside else '**no**'} | {seconds if k == 0 else ''} |"
        )
    return passed, lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=300)
    parser.add_argument("--models", nargs="*", default=rating_models(), choices=rating_models())
    parser.add_argument("--method", default="auto")
    parser.add_argument("--instances", type=int, default=INSTANCES)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", type=Path, help="a Markdown file for the result")
    args = parser.parse_args()
    text = [
        "# Simulation-based calibration",
        "",
        f"{args.simulations} simulations a model, method {args.method}: {ALGORITHMS} algorithms, "
        f"{TIMES} times, {args.instances} instances; counts in {BINS} bins and the band that a "
        f"calibrated sampler leaves in {ERROR_RATE:.0%} of all repetitions, a model at a time.",
        "",
        "| model | quantity | counts | band | inside | seconds |",
        "|---|---|---|---|---|---|",
    ]
    passed = True
    for name in args.models:
        inside, lines = calibrate(
            name, args.simulations, args.method, args.processes, args.first_seed, args.instances
        )
        passed &= inside
        print("\n".join(lines), flush=True)
        text += lines
    if args.write:
        args.write.write_text("\n".join(text) + "\n")
    return int(not passed)


if __name__ == "__main__":
    sys.exit(main())
