"""Diagnostics of draws: R-hat, effective sample sizes, E-BFMI, Pareto-k."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from polarbear.inference.posterior_draws import MAX_R_HAT, Diagnostics
from polarbear.numerics.threads import ALL_THREADS, Threads, in_threads

BY_CHANCE = 0.01  # probability that the worst R-hat of well-mixed chains exceeds its limit
_PARAMETERS_A_TASK = 32


@dataclass(frozen=True)
class Draws:
    """Draws theta[draw, T, n] and hyper[draw, H], chain after chain, with reports of the sampler.

    ``log_weights`` are the logarithms of importance weights, which only approximate draws have.
    There is one array for each block of parameters, since Pareto-k is computed block by block.
    ``missed`` is the share of draws that indicates hyperparameters beyond the lattice.
    """

    theta: np.ndarray
    hyper: np.ndarray
    divergences: int = 0
    acceptance: float | None = None
    log_weights: tuple[np.ndarray, ...] = ()
    missed: float = 0.0
    deep_trees: int = 0
    e_bfmi: float | None = None


class EngineResult(NamedTuple):
    """The result of an engine of Plackett-Luce models, with the method that was run."""

    method: str
    draws: Draws
    diagnostics: Diagnostics
    notes: tuple[str, ...] = ()


def joined(parts: Sequence[Draws]) -> Draws:
    """The draws of separate parts of the grid, which have no hyperparameters, as one."""
    acceptances = [part.acceptance for part in parts if part.acceptance is not None]
    return replace(
        parts[0],
        theta=np.concatenate([part.theta for part in parts], axis=1),
        divergences=sum(part.divergences for part in parts),
        acceptance=min(acceptances, default=None),
        log_weights=tuple(weights for part in parts for weights in part.log_weights),
    )


def diagnose(
    draws: Draws,
    chains: int,
    attempts: int = 1,
    threads: Threads = ALL_THREADS,
    convergence: np.ndarray | None = None,
) -> Diagnostics:
    """Diagnostics of draws; ``convergence`` saves its computation where it is known."""
    theta = draws.theta
    if convergence is None:
        convergence = convergence_of(theta.reshape(len(theta), -1), chains, threads)
    r_hat, bulk, tail = convergence.T
    return Diagnostics(
        r_hat=float(r_hat.max()),
        ess_bulk=float(bulk.min()),
        ess_tail=float(tail.min()),
        divergences=draws.divergences,
        pareto_k=max(map(pareto_k, draws.log_weights), default=None),
        acceptance=draws.acceptance,
        attempts=attempts,
        missed=draws.missed,
        deep_trees=draws.deep_trees,
        e_bfmi=draws.e_bfmi,
        r_hat_limit=max(MAX_R_HAT, r_hat_by_chance(len(theta), chains, len(r_hat))),
    )


def r_hat_by_chance(draws: int, chains: int, parameters: int) -> float:
    """The limit that the worst R-hat of independent draws exceeds with probability 0.01 at most.

    The variance of the means of half-chains relative to that of draws is then chi-squared over its
    degrees of freedom and the length; each parameter has two R-hats, of location and of spread.
    """
    from scipy.special import chdtri

    n_halves = 2 * chains
    length = draws // n_halves
    degrees_of_freedom = n_halves - 1
    quantile = chdtri(degrees_of_freedom, BY_CHANCE / (2 * parameters))
    return float(np.sqrt((length - 1 + quantile / degrees_of_freedom) / length))


def convergence_of(draws: np.ndarray, chains: int, threads: Threads = ALL_THREADS) -> np.ndarray:
    """R-hat, bulk ESS and tail ESS of each column of draws[draw, parameter], as in ArviZ.

    Vehtari, Gelman, Simpson, Carpenter, Buerkner (2021): split chains, rank-normalised values,
    Geyer's initial monotone sequence.
    """
    from scipy.special import ndtri

    size, parameters = draws.shape
    out = np.empty((parameters, 3))
    scores = ndtri((1 + 0.5 * np.arange(2 * size - 1) - 0.375) / (size + 0.25))

    def run(first: int) -> None:
        part = slice(first, first + _PARAMETERS_A_TASK)
        series = np.array(draws[:, part].T, dtype=float, order="C")
        ordered = np.sort(series, axis=1)
        median = _sorted_quantile(ordered, 0.5)
        location = _halves(_rank_scores(series, scores), chains)
        spread = _halves(_rank_scores(np.abs(series - median), scores), chains)
        low_tail = series <= _sorted_quantile(ordered, 0.05)
        high_tail = series <= _sorted_quantile(ordered, 0.95)
        out[part, 0] = np.maximum(_r_hat(location), _r_hat(spread))
        out[part, 1] = effective_sizes(location)
        out[part, 2] = np.minimum(
            effective_sizes(_halves(low_tail, chains)), effective_sizes(_halves(high_tail, chains))
        )

    in_threads(run, range(0, parameters, _PARAMETERS_A_TASK), threads)
    return out


def _rank_scores(series: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The ranks within each row as normal quantiles; equal values share a mean rank.

    scores[a + b] is the quantile of the mean of ranks a and b, counted from zero.
    """
    order = np.argsort(series, axis=1)
    ordered = np.take_along_axis(series, order, axis=1)
    starts_run = np.ones(series.shape, dtype=bool)  # whether a run of equal values starts
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=starts_run[:, 1:])
    first = np.flatnonzero(starts_run)
    lengths = np.diff(first, append=series.size)
    run_scores = scores[2 * (first % series.shape[1]) + lengths - 1]
    rank_scores = np.empty(series.shape)
    ordered_scores = np.repeat(run_scores, lengths).reshape(series.shape)
    np.put_along_axis(rank_scores, order, ordered_scores, axis=1)
    return rank_scores


def _sorted_quantile(ordered: np.ndarray, level: float) -> np.ndarray:
    """A quantile of each sorted row, as a column."""
    position = level * (ordered.shape[1] - 1)
    k = min(int(position), ordered.shape[1] - 2)
    below = ordered[:, k, None]
    above = ordered[:, k + 1, None]
    return np.asarray(below + (position - k) * (above - below))


def _halves(series: np.ndarray, chains: int) -> np.ndarray:
    """Each row's chains cut in halves, [row, half, draw], without the middle draw of odd ones."""
    by_chain = series.reshape(len(series), chains, -1)
    length = by_chain.shape[2] // 2
    parts = [by_chain[:, :, :length], by_chain[:, :, by_chain.shape[2] - length :]]
    return np.stack(parts, axis=2).reshape(len(series), 2 * chains, length).astype(float)


def _variances(halves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The variance within half-chains, and that of all draws together."""
    length = halves.shape[2]
    means = halves.mean(axis=2)
    variance = halves.var(axis=2).mean(axis=1)
    return variance * length / (length - 1), variance + means.var(axis=1, ddof=1)


def _r_hat(halves: np.ndarray) -> np.ndarray:
    within, total = _variances(halves)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(total > 0, np.sqrt(total / within), 1.0))


def effective_sizes(halves: np.ndarray) -> np.ndarray:
    """The effective sample size of each row of halves[row, half, draw].

    Autocovariances are summed lag by lag, since chains that mix need few lags.
    """
    rows, count, length = halves.shape
    size = count * length
    ess = np.full(rows, float(size))
    within, total = _variances(halves)
    active = np.flatnonzero(total > 0)  # the rows whose sum goes on
    x = (halves - halves.mean(axis=2, keepdims=True))[active]
    even = np.ones(len(x))  # the correlation at the even lag before
    smallest_pair = np.full(len(x), np.inf)
    time = np.full(len(x), -1.0)  # the autocorrelation time so far

    def correlation(lag: int) -> np.ndarray:
        covariance = np.einsum("rhd,rhd->r", x[:, :, : length - lag], x[:, :, lag:]) / size
        return np.asarray(1 - (within[active] - covariance) / total[active])

    for lag in range(1, length, 2):
        pair = even + correlation(lag)
        is_done = (pair <= 0) | (lag >= length - 3)
        final_time = time + np.where((even > 0) | (pair >= 0), even, 0.0)
        ess[active[is_done]] = size / np.maximum(final_time[is_done], 1 / np.log10(size))
        if is_done.all():
            break
        active = active[~is_done]
        if is_done.any():
            x = x[~is_done]
        smallest_pair = np.minimum(smallest_pair[~is_done], pair[~is_done])
        time = time[~is_done] + 2 * smallest_pair
        even = correlation(lag + 1)
    return ess


def energy_bfmi(energies: np.ndarray) -> float:
    """E-BFMI of one chain: the mean squared change of energy over its variance."""
    return float((np.diff(energies) ** 2).mean() / energies.var(ddof=1))


def pareto_k(log_weights: np.ndarray) -> float:
    """The shape of the generalised Pareto tail of importance weights (Vehtari et al. 2024)."""
    _, excess = _tail(log_weights)
    if len(excess) <= 4 or excess[-1] < 1e-12:
        return -np.inf if np.ptp(log_weights) < 1e-6 else np.inf
    return _pareto_tail(excess)[0]


def smoothed_weights(log_weights: np.ndarray) -> np.ndarray:
    """Importance weights that sum to one, the greatest replaced by their Pareto quantiles."""
    weights = np.exp(log_weights - log_weights.max())
    cutoff, excess = _tail(log_weights)
    if len(excess) > 4 and excess[-1] >= 1e-12:
        shape, scale = _pareto_tail(excess)
        levels = (np.arange(len(excess)) + 0.5) / len(excess)
        quantiles = cutoff + scale * np.expm1(-shape * np.log1p(-levels)) / shape
        weights[np.argsort(weights)[-len(excess) :]] = np.minimum(quantiles, 1)
    return np.asarray(weights / weights.sum())


def _tail(log_weights: np.ndarray) -> tuple[float, np.ndarray]:
    """The start of the weights' tail, relative to the greatest, and the excesses over it."""
    size = len(log_weights)
    length = int(np.ceil(min(size / 5, 3 * np.sqrt(size))))
    ordered = np.sort(log_weights - log_weights.max())
    cutoff = float(np.exp(ordered[-length - 1]))
    excess = np.exp(ordered[-length:]) - cutoff
    return cutoff, excess[excess > 0]


def _pareto_tail(x: np.ndarray) -> tuple[float, float]:
    """Shape and scale for ascending x by Zhang and Stephens, the shape drawn towards 1/2."""
    size = len(x)
    grid = 30 + int(np.sqrt(size))
    quartile = x[int(size / 4 + 0.5) - 1]
    b = 1 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5))
    b = b / (3 * quartile) + 1 / x[-1]
    k = np.log1p(-b[:, None] * x).mean(axis=1)
    profile = size * (np.log(-b / k) - k - 1)
    weights = 1 / np.exp(profile - profile[:, None]).sum(axis=1)
    kept = weights >= 10 * np.finfo(float).eps
    best = float((b[kept] * weights[kept]).sum() / weights[kept].sum())
    shape = float(np.log1p(-best * x).mean())
    return (size * shape + 10 * 0.5) / (size + 10), -shape / best
