"""The same posterior several times faster, for simulations: importance-weighted Laplace draws.

Independent draws from the nested Laplace approximation, weighted by how far the posterior departs
from it, give what split HMC gives as long as Pareto-k vouches for the weights; where it does not,
the caller infers as the tool does.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from polarbear.inference import ModelOptions
from polarbear.inference.diagnostics import MAX_PARETO_K, pareto_k
from polarbear.inference.models import rating_model
from polarbear.inference.plackett_luce import independent, temporal
from polarbear.inference.plackett_luce.lattice import explore
from polarbear.inference.plackett_luce.likelihood import Likelihood
from polarbear.inference.relations import Joint, Pointwise
from polarbear.rankings import ChoiceSets

PRUNED = 1e-2  # weight of hyperparameter nodes left out, relative to the heaviest


class QuickPosterior:
    """A posterior to draw from, more than once if need be."""

    def __init__(self, sets: ChoiceSets, times: np.ndarray, options: ModelOptions) -> None:
        self.model = rating_model(options.model)(times, sets.n_algorithms, options)
        self.likelihood = Likelihood(sets)
        self.lattice = explore(self.model, self.likelihood, min_weight=PRUNED)

    def drawn(self, draws: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draws theta[draw, time, algorithm], weights[draw, time], and whether to trust them[time].

        Weights of a temporal model are those of whole trajectories: [draw, 1].
        """
        over_time = self.model.temporal
        room = temporal if over_time else independent
        drawn = room.draw_approximation(self.likelihood, self.lattice, draws, 2, seed)
        assert drawn.log_weights is not None
        log_weights = drawn.log_weights
        if over_time:
            log_weights = log_weights.sum(axis=1, keepdims=True)
        trusted = np.array([pareto_k(column) <= MAX_PARETO_K for column in log_weights.T])
        weights = np.exp(log_weights - log_weights.max(axis=0))
        return drawn.theta, weights / weights.sum(axis=0), trusted

    def beliefs(
        self, draws: int, epsilon: float, seed: int
    ) -> tuple[Pointwise, Joint | None] | None:
        """Relations at each time and, of a temporal model, over all; None if Pareto-k objects."""
        theta, weights, trusted = self.drawn(draws, seed)
        return self.relations(theta, weights, epsilon) if trusted.all() else None

    def relations(
        self, theta: np.ndarray, weights: np.ndarray, epsilon: float
    ) -> tuple[Pointwise, Joint | None]:
        """What weighted draws say about pairs."""
        joint = _joint(theta, weights) if self.model.temporal else None
        return _pointwise(theta, weights, epsilon), joint


def _pointwise(theta: np.ndarray, weights: np.ndarray, epsilon: float) -> Pointwise:
    _, n_times, n = theta.shape
    ratio = (0.5 + epsilon) / (0.5 - epsilon)
    tables = np.zeros((6, n_times, n, n))
    tables[2::2] = np.eye(n)
    for a, b in combinations(range(n), 2):
        one, two = theta[:, :, a], theta[:, :, b]
        tables[:2, :, a, b] = _share(one > two, weights)
        tables[0, :, b, a], tables[1, :, b, a] = 1 - tables[0, :, a, b], tables[1, :, a, b]
        first_is, second_is = two <= ratio * one, one <= ratio * two
        tables[2:4, :, a, b] = tables[2:4, :, b, a] = _share(first_is & second_is, weights)
        tables[4:, :, a, b], tables[4:, :, b, a] = (
            _share(as_good, weights) for as_good in (first_is, second_is)
        )
    return Pointwise(*tables[:4], epsilon, *tables[4:])


def _joint(theta: np.ndarray, weights: np.ndarray) -> Joint:
    n = theta.shape[2]
    tables = np.zeros((4, n, n))
    for a, b in combinations(range(n), 2):
        better = theta[:, :, a] > theta[:, :, b]
        above, below = better.all(axis=1)[:, None], ~better.any(axis=1)[:, None]
        tables[:2, a, b] = _share(above, weights)[:, 0]
        tables[:2, b, a] = _share(below, weights)[:, 0]
        tables[2:, a, b] = tables[2:, b, a] = _share(~(above | below), weights)[:, 0]
    return Joint(*tables)


def _share(flags: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted shares of flags[draw, time], and their Monte-Carlo errors, never zero."""
    share = np.clip((weights * flags).sum(axis=0), 0, 1)
    effective = 1 / (weights**2).sum(axis=0)
    smoothed = (share * effective + 0.5) / (effective + 1)
    return np.stack(np.broadcast_arrays(share, np.sqrt(smoothed * (1 - smoothed) / effective)))
