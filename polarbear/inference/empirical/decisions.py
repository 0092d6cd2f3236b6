"""Probabilities that decide a race: exact, from the duels of a pair alone.

Pairs are settled by the neutral posterior of all estimates: with c imaginary problems the shares of
wins, losses and draws are Dirichlet(c/2 + wins, c/2 + losses, draws).

Eliminations are sceptical, because a race looks many times and would separate even algorithms by
chance (sceptical priors for stopping: Spiegelhalter, Freedman and Parmar 1994). With probability
``EVEN_MASS`` the two algorithms are exactly even at all times; otherwise the share of wins among
decided duels is Beta(h, h) at each time. The Bayes factor against evenness at time t is

    2^(w + l) B(h + w, h + l) / B(h, h)

after w wins and l losses, and that against evenness at all times is its mean over time: the two
differ at some time, and each is as likely. An elimination asks for

    P(not even) P(q_t > 1/2 | Beta(h + w, h + l)) >= alpha   at every time.

A pair that differs clearly at some time is not even, so its weakest time is judged as by a plain
posterior; exactly even algorithms are protected at all times. Nothing is sampled.
"""

import numpy as np
import scipy

from polarbear.inference.relations import DecisionTables
from polarbear.rankings.duels import DuelRecord

EVEN_MASS = 0.7  # chosen on truths.KINDS, even algorithms and both populations of benchmarks/
SLAB = 2.0  # h: imaginary wins, and losses, of pairs that are not even
# Frequencies at which the inversion formula is summed, in standard deviations.
_LOG_FREQUENCIES = np.linspace(-14, 9, 180)


def decide_by_duels(record: DuelRecord, epsilon: float, concentration: float) -> DecisionTables:
    """The probabilities by which the empirical model decides.

    ``concentration`` is that of the neutral prior.
    """
    n = record.algorithms
    n_times = len(record.wins)
    a, b = np.triu_indices(n, 1)
    counts = np.stack([record.wins, record.losses, record.draws]).reshape(3, -1)
    (wins, losses, draws), index = np.unique(counts, axis=1, return_inverse=True)

    def table(values: np.ndarray, mirrored: np.ndarray) -> np.ndarray:
        """Values of distinct counts as [time, a, b], ``mirrored`` being those of (b, a)."""
        by_pair = np.zeros((n_times, n, n))
        by_pair[:, a, b] = values[index.ravel()].reshape(n_times, -1)
        by_pair[:, b, a] = mirrored[index.ravel()].reshape(n_times, -1)
        return by_pair

    won = concentration / 2 + wins
    lost = concentration / 2 + losses
    better = scipy.special.betaincc(won, lost, 0.5)
    at_least = _exceeds(won, lost, draws, -epsilon)
    beyond = _exceeds(won, lost, draws, epsilon)
    above = table(better, 1 - better)
    return DecisionTables(
        better=above,
        equivalent=table(at_least - beyond, at_least - beyond),
        no_worse=table(at_least, 1 - beyond),
        dominates=p_dominates(record),
        estimate=above.min(axis=0),
        by_duels=True,
    )


def p_dominates(record: DuelRecord) -> np.ndarray:
    """The sceptical probability of a pair's elimination, by its least certain time: [a, b]."""
    a, b = np.triu_indices(record.algorithms, 1)
    above = scipy.special.betaincc(SLAB + record.wins, SLAB + record.losses, 0.5)
    uneven = 1 - even_probability(record)
    probability = np.zeros((record.algorithms, record.algorithms))
    probability[a, b] = uneven * above.min(axis=0)
    probability[b, a] = uneven * (1 - above).min(axis=0)
    return probability


def even_probability(record: DuelRecord) -> np.ndarray:
    """P(exactly even at all times) of each pair: [pair]."""
    wins = record.wins
    losses = record.losses
    log_factor = (
        scipy.special.betaln(SLAB + wins, SLAB + losses)
        - scipy.special.betaln(SLAB, SLAB)
        + (wins + losses) * np.log(2)
    )
    log_mean_factor = scipy.special.logsumexp(log_factor, axis=0) - np.log(len(log_factor))
    return np.asarray(scipy.special.expit(np.log(EVEN_MASS / (1 - EVEN_MASS)) - log_mean_factor))


def _exceeds(won: np.ndarray, lost: np.ndarray, draws: np.ndarray, margin: float) -> np.ndarray:
    """P(win rate > 1/2 + margin) where (wins, losses, draws) are Dirichlet(won, lost, draws).

    Without draws it is a Beta tail. Otherwise it is P(sum of c_k Gamma(k) > 0), by numerical
    inversion of the characteristic function (Gil-Pelaez 1951).
    """
    probability = scipy.special.betaincc(won, lost, 0.5 + margin)
    has_draws = draws > 0
    if has_draws.any():
        shapes = np.stack([won[has_draws], lost[has_draws], draws[has_draws]])
        probability[has_draws] = _positive(np.array([0.5 - margin, -0.5 - margin, -margin]), shapes)
    return np.asarray(probability)


def _positive(coefficients: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """P(sum over k of coefficients[k] Gamma(shapes[k]) > 0), for shapes[k, case].

    The trapezoidal rule in the logarithm of the frequency converges exponentially.
    """
    scale = np.sqrt(np.square(coefficients) @ shapes)
    probability = np.full(shapes.shape[1], 0.5)
    step = _LOG_FREQUENCIES[1] - _LOG_FREQUENCIES[0]
    for frequency in np.exp(_LOG_FREQUENCIES):
        argument = np.multiply.outer(coefficients, frequency / scale)
        angle = (shapes * np.arctan(argument)).sum(axis=0)
        size = np.exp(-0.5 * (shapes * np.log1p(argument**2)).sum(axis=0))
        probability += step / np.pi * np.sin(angle) * size
    return np.asarray(np.clip(probability, 0, 1))
