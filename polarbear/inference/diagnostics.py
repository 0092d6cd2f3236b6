"""Whether to believe a posterior: R-hat, effective sample sizes, divergences, Pareto-k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from polarbear.numerics.threads import in_threads
from polarbear.wording import counted, percent_cell

MAX_R_HAT = 1.01
BY_CHANCE = 0.01  # how often the worst of all may be above its limit, and nothing be wrong
MIN_ESS = 400.0
MAX_PARETO_K = 0.7
MAX_MISSED = 0.02
MIN_E_BFMI = 0.3
_PARAMETERS_A_TASK = 64
_DRAWS_AT_ONCE = 256
_MOST_PLACES = 1 << 22  # which leave a number's other bits precise enough
_FEW_PLACES = 1 << 13  # which do so in half a word


@dataclass(frozen=True)
class Diagnostics:
    """The worst over all of theta; ``pareto_k`` is there for approximate methods only.

    ``missed`` is the share of draws that show hyperparameters going on where they were cut off.
    ``deep_trees`` counts transitions that NUTS cut off at its greatest depth: they cost time, and
    are no reason for doubt; ``e_bfmi`` is the least of any chain's, known for Stan's NUTS.
    ``r_hat_limit`` is above MAX_R_HAT where the worst of so many well-mixed ratings is there by
    chance, which takes few draws.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("passed", "problems")  # of it, in plain data

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
        """What is wrong, one sentence each; empty for a posterior that can be used."""
        found = []
        if not self.r_hat < self.r_hat_limit:
            found.append(f"R-hat is {self.r_hat:.3f}, should be below {self.r_hat_limit:.4g}")
        for name, ess in (("bulk", self.ess_bulk), ("tail", self.ess_tail)):
            if not ess > MIN_ESS:
                found.append(f"{name} ESS is {ess:.0f}, should be above {MIN_ESS:.0f}")
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

    def doubts(self, convergence: np.ndarray) -> np.ndarray:
        """Which parameters are beyond a limit, by what `convergence_of` says of each."""
        r_hat, bulk, tail = convergence.T
        good = (r_hat < self.r_hat_limit) & (bulk > MIN_ESS) & (tail > MIN_ESS)
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
    """Judge draws theta[draw, T, n], chain after chain, whose ``convergence`` may be known."""
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
    """What the worst R-hat of so many parameters exceeds with probability 0.01 at most, if draws
    are independent of each other.

    The means of half-chains then vary by one part in their length, times chi-squared over its
    degrees of freedom; each parameter has two chances, by its location and by its spread.
    """
    from scipy.special import chdtri

    halves = 2 * chains
    length, freedom = draws // halves, halves - 1
    extreme = chdtri(freedom, BY_CHANCE / (2 * parameters))
    return float(np.sqrt((length - 1 + extreme / freedom) / length))


def convergence_of(draws: np.ndarray, chains: int, threads: int | None = None) -> np.ndarray:
    """(R-hat, bulk ESS, tail ESS) for each column of draws[draw, parameter]."""
    from scipy.special import ndtri

    from polarbear.inference.loops.series import folded_orders, mixing, normal_scores

    size, parameters = draws.shape
    quantiles = ndtri((1 + 0.5 * np.arange(2 * size - 1) - 0.375) / (size + 0.25))
    out = np.empty((parameters, 3))

    def run(first: int) -> None:
        part = slice(first, first + _PARAMETERS_A_TASK)
        series = turned(draws[:, part])
        order = _orders(series)
        low, median, high = _sorted_quantiles(series, order, (0.05, 0.5, 0.95))
        rows = np.empty((2, *series.shape))  # location, spread
        normal_scores(series, order, quantiles, rows[0])
        folded, folded_order = np.empty_like(series), np.empty_like(order)
        folded_orders(series, order, median[:, 0], folded, folded_order)
        normal_scores(folded, folded_order, quantiles, rows[1])
        found = np.empty((2, len(series), 2))
        mixing(rows.reshape(-1, size), chains, len(series), found.reshape(-1, 2))
        tails = _effective_sizes(np.concatenate([series <= low, series <= high]), chains)
        out[part, 0] = found[:, :, 0].max(axis=0)
        out[part, 1] = found[0, :, 1]
        out[part, 2] = tails.reshape(2, -1).min(axis=0)

    in_threads(run, range(0, parameters, _PARAMETERS_A_TASK), threads)
    return out


def turned(draws: np.ndarray) -> np.ndarray:
    """Draws of one parameter side by side; a run of draws at a time, which stays in near memory."""
    series = np.empty(draws.shape[::-1])
    for first in range(0, len(draws), _DRAWS_AT_ONCE):
        some = slice(first, first + _DRAWS_AT_ONCE)
        series[:, some] = draws[some].T
    return series


def _orders(series: np.ndarray) -> np.ndarray:
    """What sorts each row; numbers that differ by less than one part in 10^9 may count as equal.

    A number's place stands in its last bits: whole numbers are sorted by vector instructions,
    which their order by itself is not.
    """
    size = series.shape[1]
    if size <= _FEW_PLACES:
        return _orders_of_few(series)
    place = (1 << size.bit_length()) - 1
    if size > _MOST_PLACES:
        return np.argsort(series, axis=1)
    bits = series.view(np.int64)
    keys = bits ^ ((bits >> 63) & np.iinfo(np.int64).max)  # ordered as the numbers are
    keys &= ~place
    keys |= np.arange(size)
    keys.sort(axis=1)
    return np.asarray(keys & place)


def _orders_of_few(series: np.ndarray) -> np.ndarray:
    """The same by keys of half a word, with a number's first bits in each: they sort it nearly."""
    from polarbear.inference.loops.series import half_words, settle_orders

    place_bits = (series.shape[1] - 1).bit_length()
    keys, order = np.empty(series.shape, np.uint32), np.empty(series.shape, np.int64)
    half_words(series, place_bits, keys)
    keys.sort(axis=1)
    settle_orders(series, keys, (1 << place_bits) - 1, order)
    return order


def energy_bfmi(energies: np.ndarray) -> float:
    """E-BFMI of one chain: how fast it walks through energies, against how far they spread."""
    return float((np.diff(energies) ** 2).mean() / energies.var(ddof=1))


def _sorted_quantiles(
    series: np.ndarray, order: np.ndarray, levels: tuple[float, ...]
) -> list[np.ndarray]:
    """Quantiles of each row, as a column, for each level."""
    found = []
    for level in levels:
        place = level * (series.shape[1] - 1)
        k = min(int(place), series.shape[1] - 2)
        below, above = np.take_along_axis(series, order[:, k : k + 2], axis=1).T
        found.append((below + (place - k) * (above - below))[:, None])
    return found


def shares_with_errors(
    flags: np.ndarray, chains: int, independent: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The share of draws that each row of flags marks, with its Monte-Carlo error.

    The error is not zero even where all draws or none are marked.
    """
    size = flags.shape[1]
    share = shares_of(flags)
    return share, error_of(share, size, None if independent else _effective_sizes(flags, chains))


def ratings_compared(theta: np.ndarray, ratio: float, chains: int) -> tuple[np.ndarray, np.ndarray]:
    """Of theta[draw, T, n], the shares[T, relation, pair] of draws in which two algorithms are in
    each relation of `loops.comparing`, and the Monte-Carlo errors of all but the last."""
    from polarbear.inference.loops.comparing import compare_ratings
    from polarbear.inference.loops.series import flags_mixing

    size, n_times, n = theta.shape
    half, pairs = size // chains // 2, n * (n - 1) // 2
    draws = turned(theta.reshape(size, -1)).reshape(n_times, n, size)
    words = np.empty((n_times, 4, pairs, 2 * chains, -(-half // 64)), dtype=np.uint64)
    counts, effective = np.empty((n_times, 5, pairs), dtype=np.int64), np.empty(words.shape[:3])
    compare_ratings(draws, ratio, chains, words, counts)
    flags_mixing(words.reshape(-1, *words.shape[3:]), half, effective.reshape(-1))
    shares = counts / size
    return shares, error_of(shares[:, :4], size, effective)


def shares_of(flags: np.ndarray) -> np.ndarray:
    """The mean of each row of flags, by counting: for flags the mean by NumPy takes longer."""
    return np.asarray(np.array([np.count_nonzero(row) for row in flags]) / flags.shape[1])


def error_of(share: np.ndarray, size: int, effective: np.ndarray | None = None) -> np.ndarray:
    """The Monte-Carlo error of shares of so many draws, worth so many independent ones."""
    smoothed = (share * size + 0.5) / (size + 1)
    return np.asarray(
        np.sqrt(smoothed * (1 - smoothed) / (size if effective is None else effective))
    )


def _effective_sizes(flags: np.ndarray, chains: int) -> np.ndarray:
    """Of rows of flags, chain after chain."""
    from polarbear.inference.loops.series import flags_mixing

    a_chain = flags.shape[1] // chains
    draws = a_chain // 2
    by_chain = flags.reshape(len(flags), chains, a_chain)
    halves = np.stack([by_chain[:, :, :draws], by_chain[:, :, a_chain - draws :]], axis=2)
    packed = np.packbits(halves, axis=3, bitorder="little")
    whole = np.zeros((*packed.shape[:3], -(-draws // 64) * 8), dtype=np.uint8)
    whole[..., : packed.shape[3]] = packed
    words = whole.reshape(len(flags), 2 * chains, -1).view("<u8").astype(np.uint64, copy=False)
    found = np.empty(len(flags))
    flags_mixing(words, draws, found)
    return found


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
    """Where the tail of the weights begins, relative to the greatest, and how far each exceeds."""
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
