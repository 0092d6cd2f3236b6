"""The weight of each ranking in a temporal model's composite likelihood.

Rankings of one instance at different times come from the same trajectories, so they repeat each
other. A temporal model that takes them for independent counts the same evidence several times.
Instances are independent of each other. With s_p the score of instance p over all times (the
gradient of its log-likelihood) and S the posterior covariance of the ratings, instance p moves the
estimate by S s_p, so that

    inflation = sum_p |S s_p|^2 / sum_p sum_t |S s_p(t)|^2

is the variance of the smoothed ratings, summed over times, relative to the variance if an
instance's rankings were independent. Its reciprocal is the weight of each ranking, so that the
ratings' posterior at each time has the right width (the magnitude adjustment of composite
likelihoods: Pauli, Racugno and Ventura 2011; Ribatet, Cooley and Davison 2012). Both engines use
choice sets counted with this weight.
"""

from collections.abc import Sequence

import numpy as np

from polarbear.inference.model_options import ModelOptions
from polarbear.inference.models.base import rating_model
from polarbear.inference.plackett_luce.laplace import Mode
from polarbear.inference.plackett_luce.lattice import most_probable
from polarbear.inference.plackett_luce.likelihood import Likelihood, helmert, strengths
from polarbear.numerics.threads import single_threaded_blas
from polarbear.rankings.choice_sets import ChoiceSets, count_choice_sets
from polarbear.rankings.duels import duels_of

MAX_INSTANCES = 300  # the estimate's error is then about 3 %, and time is bounded
PRIOR_INSTANCES = 0.5  # imaginary instances whose rankings never change
MAX_ROUNDS = 8
_CONVERGED = 0.02  # relative change of the weight
_MAX_RANKINGS = 4000  # whose scores are computed at once, which bounds memory
_MAX_SIDES = 256  # right-hand sides of linear equations that are solved at once


def composite_weight(
    positions: np.ndarray,
    sets: ChoiceSets,
    times: np.ndarray,
    options: ModelOptions,
    problems: Sequence[str] | None = None,
    weights: np.ndarray | None = None,
) -> float:
    """The weight of each ranking, in (0, 1].

    ``positions[instance, algorithm, time]`` are the rankings that the choice sets were counted
    from, ``problems`` the problem of each instance where several are seeds of one, ``weights`` the
    weights of instances. The weight determines how widely a model smooths, and that determines the
    weight: both are iterated to agreement, from above.
    """
    model = rating_model(options.model)(times, sets.n_algorithms, options)
    duels = duels_of(positions, problems, weights)
    stride = -(-duels.n_problems // MAX_INSTANCES)
    ranked = ((duels.positions >= 0).sum(axis=1) > 1).any(axis=1)
    chosen = (duels.problem % stride == 0) & ranked
    names, problem = np.unique(duels.problem[chosen], return_inverse=True)
    counts = np.ones(len(names)) if duels.weights is None else duels.weights[names]
    rankings = SingleRankings(duels.positions[chosen])
    weight = 1.0
    start = None
    with single_threaded_blas():
        for _ in range(MAX_ROUNDS):
            start, mode = most_probable(model, Likelihood(sets.weighted(weight)), start)
            scores = _by_problem(rankings.scores(mode.eta @ helmert(sets.n_algorithms).T), problem)
            last_weight = weight
            weight = 1 / max(1.0, _inflation(scores, counts, mode, weight))
            if weight > (1 - _CONVERGED) * last_weight:
                break
    return weight


class SingleRankings:
    """Rankings one by one, to compute the gradient of each one's log-likelihood."""

    def __init__(self, positions: np.ndarray) -> None:
        self.n_instances, self.n, self.n_times = positions.shape
        flat = positions.transpose(1, 0, 2).reshape(1, self.n, -1)  # each ranking as a timepoint
        starts = range(0, flat.shape[2], _MAX_RANKINGS)
        self.parts = [count_choice_sets(flat[:, :, k : k + _MAX_RANKINGS]) for k in starts]

    def scores(self, mu: np.ndarray) -> np.ndarray:
        """Gradients[instance, T, d] at utilities mu[T, n], in Helmert coordinates."""
        gradients = [self._gradients(part, k, strengths(mu)) for k, part in enumerate(self.parts)]
        scores = np.concatenate(gradients) @ helmert(self.n)
        return np.asarray(scores.reshape(self.n_instances, self.n_times, -1))

    def _gradients(self, sets: ChoiceSets, part: int, strength: np.ndarray) -> np.ndarray:
        ranking = sets.set_times()
        time = (part * _MAX_RANKINGS + ranking) % self.n_times
        inside = np.where(sets.members(), strength[time], 0.0)
        expected = inside * (sets.counts / inside.sum(axis=1))[:, None]
        gradients = sets.wins.copy()
        np.subtract.at(gradients, ranking, expected)
        return gradients


def _by_problem(scores: np.ndarray, problem: np.ndarray) -> np.ndarray:
    """Scores averaged over the seeds of each problem."""
    seeds = np.bincount(problem)
    if len(seeds) == len(scores):
        return scores
    averaged = np.zeros((len(seeds), *scores.shape[1:]))
    np.add.at(averaged, problem, scores)
    return np.asarray(averaged / seeds[:, None, None])


def _inflation(scores: np.ndarray, counts: np.ndarray, mode: Mode, weight: float) -> float:
    """The inflation of the variance, shrunk towards that of unchanging rankings.

    The mode was fitted to the same problems, which removes one in P from the numerator. Problem p
    counts as ``counts[p]`` problems.
    """
    scores = scores * np.sqrt(counts)[:, None, None]
    total = counts.sum()
    information = mode.curvatures / weight
    unchanging, squares = _unchanging(mode, _square_roots(information))
    of_unchanging = unchanging / np.einsum("tij,tji->", squares, information)
    inflation = of_unchanging  # without other evidence, as where all are tied at all times
    if_independent = np.einsum("pti,tij,ptj->", scores, squares, scores, optimize=True)
    if if_independent > 0 and total > 1:
        variance = sum(
            (_smooth(mode, scores[k : k + _MAX_SIDES]) ** 2).sum()
            for k in range(0, len(scores), _MAX_SIDES)
        )
        inflation = variance / if_independent * total / (total - 1)
    shrunk = (total * inflation + PRIOR_INSTANCES * of_unchanging) / (total + PRIOR_INSTANCES)
    return float(shrunk)


def _smooth(mode: Mode, scores: np.ndarray) -> np.ndarray:
    """S times each of scores[W, T, d], as [T, W, d]."""
    white = mode.spread_back(scores.swapaxes(0, 1))
    return mode.spread(white)


def _unchanging(mode: Mode, roots: np.ndarray) -> tuple[float, np.ndarray]:
    """tr(S J S) for rankings that are the same at all times, and the diagonal blocks of S S.

    J has the block roots[t] roots[u] for times t and u: scores differ over time only through their
    covariance at each time, roots[t] squared.
    """
    n_times, d = roots.shape[:2]
    squares = np.empty((n_times, d, d))
    total = np.zeros((n_times, d, d))
    stride = max(1, _MAX_SIDES // d)
    for first in range(0, n_times, stride):
        times = np.arange(first, min(first + stride, n_times))
        units = np.zeros((len(times), d, n_times, d))
        for k, t in enumerate(times):
            units[k, :, t] = np.eye(d)
        smoothed = _smooth(mode, units.reshape(-1, n_times, d)).reshape(n_times, len(times), d, d)
        squares[times] = np.einsum("skqi,skpi->kqp", smoothed, smoothed, optimize=True)
        total += np.einsum("kqp,skpi->sqi", roots[times], smoothed, optimize=True)
    return float((total**2).sum()), squares


def _square_roots(matrices: np.ndarray) -> np.ndarray:
    """Symmetric square roots of a stack of matrices without negative eigenvalues."""
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))[:, None]) @ vectors.swapaxes(1, 2))
