"""Calvo's Bayesian Plackett-Luce at one time: who is best at the end, with which probability.

Calvo, Ceberio and Lozano (2018), Calvo et al. (2019): a uniform Dirichlet prior over ratings, the
rankings of the final values; the probability of each algorithm to have the highest rating.
"""

from __future__ import annotations

import numpy as np

from polarbear.inference import ModelOptions, infer
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets


def best(costs: np.ndarray, seed: int, draws: int = 1000) -> np.ndarray:
    """P(highest rating) from costs[instance, algorithm]."""
    sets = count_choice_sets(rank(costs[:, :, None]))
    options = ModelOptions(model="dirichlet", method="laplace", draws=draws)
    theta = infer(sets, np.array([0.0]), options, seed, threads=1).theta[:, 0]
    return np.asarray(np.bincount(theta.argmax(axis=1), minlength=theta.shape[1]) / len(theta))
