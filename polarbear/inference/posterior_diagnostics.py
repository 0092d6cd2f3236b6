"""Diagnostics of a posterior: R-hat, effective sample sizes, divergences, Pareto-k."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy  # loads its parts when they are used

from polarbear.numerics.threads import in_threads
from polarbear.wording import counted, percent_cell

MAX_R_HAT = 1.01
BY_CHANCE = 0.01  # how often the worst R-hat of well-mixed chains may exceed its limit
MIN_ESS = 400.0
MAX_PARETO_K = 0.7
MAX_MISSED = 0.02
MIN_E_BFMI = 0.3
_PARAMETERS_A_TASK = 32


@dataclass(frozen=True)
class Diagnostics:
    """The worst values over all of theta; ``pareto_k`` exists for approximate methods only.

    ``missed`` is the share of draws beyond the range of hyperparameters that was covered.
    ``deep_trees`` counts transitions that reached NUTS's greatest depth: they cost time but do not
    fail; ``e_bfmi`` is the lowest of any chain, for Stan's NUTS. ``r_hat_limit`` is above MAX_R_HAT
    where few draws of many well-mixed ratings exceed it by chance.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("passed", "problems")  # added to plain data

    r_hat: float
    ess_bulk: float
    ess_tail: float
    divergences: int
    pareto_k: float | None
    acceptance: float | None
    attempts: int
    missed: float = 0.0
    deep_trees: int = 0
    e_bfmi: float | None = None
    r_hat_limit: float = MAX_R_HAT

    @property
    def problems(self) -> tuple[str, ...]:
        """Each failed threshold in one sentence; empty for a posterior that can be used."""
        found = []
        if not self.r_hat < self.r_hat_limit:
            found.append(f"R-hat is {self.r_hat:.3f}, should be below {self.r_hat_limit:.4g}")
        for name, ess in (("bulk", self.ess_bulk), ("tail", self.ess_tail)):
            if not ess >= MIN_ESS:
                found.append(f"{name} ESS is {ess:.0f}, should be at least {MIN_ESS:.0f}")
        if self.divergences:
            found.append(f"{counted(self.divergences, 'transition')} diverged, should be none")
        if self.pareto_k is not None and not self.pareto_k < MAX_PARETO_K:
            found.append(
                f"Pareto-k of the approximation is {self.pareto_k:.2f}, "
                f"should be below {MAX_PARETO_K}"
            )
        if not self.missed < MAX_MISSED:
            found.append(
                f"{percent_cell(self.missed, 1)} of draws crowd at the edge of the "
                f"hyperparameters' range, should be below {percent_cell(MAX_MISSED)}"
            )
        if self.e_bfmi is not None and not self.e_bfmi > MIN_E_BFMI:
            found.append(f"E-BFMI is {self.e_bfmi:.2f}, should be above {MIN_E_BFMI}")
        return tuple(found)

    @property
    def passed(self) -> bool:
        return not self.problems

    @property
    def converged(self) -> bool:
        """Whether chains agree and cover the posterior, so that at most more draws are needed."""
        return self.r_hat < self.r_hat_limit and not self.divergences and self.missed < MAX_MISSED

    def doubts(self, convergence: np.ndarray) -> np.ndarray:
        """Which parameters exceed a limit, by their `convergence_of`."""
        r_hat, bulk, tail = convergence.T
        good = (r_hat < self.r_hat_limit) & (bulk >= MIN_ESS) & (tail >= MIN_ESS)
        return np.asarray(~good)


def diagnose(
    theta: np.ndarray,
    chains: int,
    *,
    divergences: int = 0,
    pareto_k: float | None = None,
    acceptance: float | None = None,
    attempts: int = 1,
    missed: float = 0.0,
    deep_trees: int = 0,
    e_bfmi: float | None = None,
    threads: int | None = None,
    convergence: np.ndarray | None = None,
) -> Diagnostics:
    """Diagnostics of draws theta[draw, T, n], chain after chain; ``convergence`` may be given."""
    if convergence is None:
        convergence = convergence_of(theta.reshape(len(theta), -1), chains, threads)
    r_hat, bulk, tail = convergence.T
    return Diagnostics(
        r_hat=float(r_hat.max()),
        ess_bulk=float(bulk.min()),
        ess_tail=float(tail.min()),
        divergences=divergences,
        pareto_k=pareto_k,
        acceptance=acceptance,
        attempts=attempts,
        missed=missed,
        deep_trees=deep_trees,
        e_bfmi=e_bfmi,
        r_hat_limit=max(MAX_R_HAT, r_hat_by_chance(len(theta), chains, len(r_hat))),
    )


def r_hat_by_chance(draws: int, chains: int, parameters: int) -> float:
    """The limit that the worst R-hat of independent draws exceeds with probability 0.01 at most.

    The variance of the means of half-chains relative to that of draws is then chi-squared over its
    degrees of freedom and the length; each parameter has two R-hats, of location and of spread.
    """
    halves = 2 * chains
    length, freedom = draws // halves, halves - 1
    extreme = scipy.special.chdtri(freedom, BY_CHANCE / (2 * parameters))
    return float(np.sqrt((length - 1 + extreme / freedom) / length))


def convergence_of(draws: np.ndarray, chains: int, threads: int | None = None) -> np.ndarray:
    """(R-hat, bulk ESS, tail ESS) for each column of draws[draw, parameter], as ArviZ has them.

    Vehtari, Gelman, Simpson, Carpenter, Buerkner (2021): split chains, rank-normalised values,
    Geyer's initial monotone sequence.
    """
    size, parameters = draws.shape
    out = np.empty((parameters, 3))
    scores = scipy.special.ndtri((1 + 0.5 * np.arange(2 * size - 1) - 0.375) / (size + 0.25))

    def run(first: int) -> None:
        part = slice(first, first + _PARAMETERS_A_TASK)
        series = np.array(draws[:, part].T, dtype=float, order="C")
        normal, ordered = _normal_scores(series, scores)
        low, median, high = (_sorted_quantile(ordered, level) for level in (0.05, 0.5, 0.95))
        location = _halves(normal, chains)
        spread = _halves(_normal_scores(np.abs(series - median), scores)[0], chains)
        tails = [effective_sizes(_halves(series <= q, chains)) for q in (low, high)]
        out[part, 0] = np.maximum(_r_hat(location), _r_hat(spread))
        out[part, 1] = effective_sizes(location)
        out[part, 2] = np.minimum(*tails)

    in_threads(run, range(0, parameters, _PARAMETERS_A_TASK), threads)
    return out


def _normal_scores(series: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row's ranks as normal quantiles, and each row sorted; equal values share a mean rank.

    scores[a + b] is the quantile of the mean of ranks a and b, counted from zero.
    """
    size, order = series.shape[1], np.argsort(series, axis=1)
    ordered = np.take_along_axis(series, order, axis=1)
    starts = np.ones(series.shape, dtype=bool)  # of runs of equal values
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=starts[:, 1:])
    first = np.flatnonzero(starts)
    lengths = np.diff(first, append=series.size)
    found = np.empty_like(series)
    by_rank = np.repeat(scores[2 * (first % size) + lengths - 1], lengths).reshape(series.shape)
    np.put_along_axis(found, order, by_rank, axis=1)
    return found, ordered


def _sorted_quantile(ordered: np.ndarray, level: float) -> np.ndarray:
    """A quantile of each sorted row, as a column."""
    place = level * (ordered.shape[1] - 1)
    k = min(int(place), ordered.shape[1] - 2)
    below, above = ordered[:, k, None], ordered[:, k + 1, None]
    return np.asarray(below + (place - k) * (above - below))


def _halves(series: np.ndarray, chains: int) -> np.ndarray:
    """Each row's chains cut in halves, [row, half, draw], without the middle draw of odd ones."""
    by_chain = series.reshape(len(series), chains, -1)
    length = by_chain.shape[2] // 2
    parts = [by_chain[:, :, :length], by_chain[:, :, by_chain.shape[2] - length :]]
    return np.stack(parts, axis=2).reshape(len(series), 2 * chains, length).astype(float)


def _variances(halves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Within half-chains, and of all draws together."""
    length, means = halves.shape[2], halves.mean(axis=2)
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
    found = np.full(rows, float(size))
    within, total = _variances(halves)
    active = np.flatnonzero(total > 0)  # the rows whose sum goes on
    x = (halves - halves.mean(axis=2, keepdims=True))[active]
    even, smallest, time = np.ones(len(x)), np.full(len(x), np.inf), np.full(len(x), -1.0)

    def correlation(lag: int) -> np.ndarray:
        covariance = np.einsum("rhd,rhd->r", x[:, :, : length - lag], x[:, :, lag:]) / size
        return np.asarray(1 - (within[active] - covariance) / total[active])

    for lag in range(1, length, 2):
        pair = even + correlation(lag)
        done = (pair <= 0) | (lag >= length - 3)
        time_done = time + np.where((even > 0) | (pair >= 0), even, 0.0)
        found[active[done]] = size / np.maximum(time_done[done], 1 / np.log10(size))
        if done.all():
            break
        active, x = active[~done], x[~done] if done.any() else x
        smallest = np.minimum(smallest[~done], pair[~done])
        time = time[~done] + 2 * smallest
        even = correlation(lag + 1)
    return found


def energy_bfmi(energies: np.ndarray) -> float:
    """E-BFMI of one chain: the mean squared change of energy over its variance."""
    return float((np.diff(energies) ** 2).mean() / energies.var(ddof=1))


def shares_with_errors(
    flags: np.ndarray, chains: int, independent: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Shares of draws that flags[draw, item] mark, with their Monte-Carlo errors.

    Errors of chains are those of batch means, and at least those of independent draws. They are
    not zero even where all draws or none are marked.
    """
    size = len(flags)
    share = flags.sum(axis=0, dtype=np.int32) / size
    smoothed = (share * size + 0.5) / (size + 1)
    error = np.sqrt(smoothed * (1 - smoothed) / size)
    if independent:
        return share, error
    by_chain = flags.reshape(chains, -1, *flags.shape[1:])
    batch = max(1, math.isqrt(by_chain.shape[1]))
    count = by_chain.shape[1] // batch
    used = by_chain[:, : count * batch].reshape(chains * count, batch, *flags.shape[1:])
    means = used.sum(axis=1, dtype=np.int32) / batch
    return share, np.maximum(error, means.std(axis=0, ddof=1) / math.sqrt(len(means)))


def pareto_k(log_weights: np.ndarray) -> float:
    """Shape of the generalised Pareto tail of importance weights (Vehtari et al. 2024)."""
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
