"""How much evidence there is: rankings of one instance at different times are not all news.

They come from the same trajectories, so neighbours repeat each other. A temporal model that takes
them for independent sees the same evidence several times over and is too sure of itself. What can
be relied on is that instances are independent of each other. With s_p the score of instance p over
all times (the gradient of its log-likelihood) and S the posterior covariance of the ratings, which
is what smooths them, instance p moves the estimate by S s_p, so that

    inflation = sum_p |S s_p|^2 / sum_p sum_t |S s_p(t)|^2

is the variance of the smoothed ratings, summed over times, beside what it would be if an instance's
rankings were independent: one where they are, and as many as smoothing pools where they all say the
same. One over it is the weight each ranking gets, so that the ratings' posterior at each time is as
wide as it should be (the magnitude adjustment of composite likelihoods: Pauli, Racugno and Ventura
2011; Ribatet, Cooley and Davison 2012). Both engines work on choice sets counted at this weight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polarbear.inference.loops.band import flipped
from polarbear.inference.loops.scores import ranking_scores
from polarbear.inference.loops.smoothing import smooth_times, smoothed_squares
from polarbear.inference.models import rating_model
from polarbear.inference.native.nested import most_probable
from polarbear.inference.native.set_sums import helmert, set_sums
from polarbear.inference.native.temporal.mode import Mode
from polarbear.inference.options import ModelOptions
from polarbear.rankings import ChoiceSets
from polarbear.rankings.duels import duels_of

MOST_INSTANCES = 300  # looked at: the estimate's own error is then some 3 %, and time is bounded
PRIOR_INSTANCES = 0.5  # imagined beside those seen, with rankings that never change
_CONVERGED = 0.02  # relative change of the weight
_MOST_ROUNDS = 8


def evidence_weight(
    positions: np.ndarray,
    sets: ChoiceSets,
    times: np.ndarray,
    options: ModelOptions,
    problems: Sequence[str] | None = None,
    weights: np.ndarray | None = None,
) -> float:
    """The share of its face value that each ranking counts for, in (0, 1].

    ``positions[instance, algorithm, time]`` are the rankings that the choice sets were counted
    from, ``problems`` the problem of each instance where several are seeds of one; the choice sets
    then count a problem once, or as ``weights`` (of the instances) have it. The share decides how
    widely a model smooths, and that decides the share: both are brought into agreement, from above.
    """
    model = rating_model(options.model)(times, sets.n_algorithms, options)
    if not model.temporal or options.dependence == "independent" or len(times) == 1:
        return 1.0
    duels = duels_of(positions, problems, weights)
    stride = -(-duels.n_problems // MOST_INSTANCES)
    looked_at = duels.problem % stride == 0
    ranked = ((duels.positions >= 0).sum(axis=1) > 1).any(axis=1)
    some = np.ascontiguousarray(duels.positions[looked_at & ranked])
    names, problem = np.unique(duels.problem[looked_at & ranked], return_inverse=True)
    counts = np.ones(len(names)) if duels.weights is None else duels.weights[names]
    full = set_sums(sets)
    weight, start = 1.0, None
    for _ in range(_MOST_ROUNDS):
        counted = full._replace(wins=weight * full.wins, counts=weight * full.counts)
        start, mode = most_probable(model, counted, start)
        before, weight = (
            weight,
            1 / max(1.0, _inflation(some, problem.ravel(), counts, mode, weight)),
        )
        if weight > (1 - _CONVERGED) * before:
            break
    return weight


def _inflation(
    positions: np.ndarray, problem: np.ndarray, counts: np.ndarray, mode: Mode, weight: float
) -> float:
    """Of the variance after smoothing; drawn towards that of unchanging rankings.

    The mode was fitted to the same problems, which takes one in P off the numerator. Problem p
    counts as ``counts[p]`` of them.
    """
    rows, n, n_times = positions.shape
    basis = helmert(n)
    scores = np.empty((rows, n_times, n - 1))
    ranking_scores(positions, mode.eta @ basis.T, basis, scores)
    seeds = np.bincount(problem)
    if len(seeds) < rows:
        averaged = np.zeros((len(seeds), n_times, n - 1))
        np.add.at(averaged, problem, scores)
        scores = averaged / seeds[:, None, None]
    scores *= np.sqrt(counts)[:, None, None]
    n_instances = counts.sum()
    smoother = mode.lower, flipped(mode.lower), mode.latent.starts, mode.latent.weights
    information = mode.curvatures / weight
    squares = np.empty_like(information)
    unchanging = smooth_times(*smoother, _square_roots(information), squares)
    most = unchanging / np.einsum("tij,tji->", squares, information)
    found = most  # also where all are tied at all times, and no instance says anything
    apart = np.einsum("pti,tij,ptj->", scores, squares, scores)
    if apart > 0 and n_instances > 1:
        together = smoothed_squares(*smoother, scores)
        found = together / apart * n_instances / (n_instances - 1)
    return float((n_instances * found + PRIOR_INSTANCES * most) / (n_instances + PRIOR_INSTANCES))


def _square_roots(matrices: np.ndarray) -> np.ndarray:
    """Symmetric square roots of a stack of matrices without negative eigenvalues."""
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))[:, None]) @ vectors.swapaxes(1, 2))
