"""Probabilities that decide a race: exact, from the duels of a pair alone.

Pairs are settled by the neutral posterior of all estimates (`pair_probabilities.py`).

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

from polarbear.inference.empirical.pair_probabilities import pair_probabilities
from polarbear.inference.relations import DecisionTables
from polarbear.rankings.duels import DuelRecord

EVEN_MASS = 0.7  # chosen on truths.KINDS, even algorithms and both populations of benchmarks/
SLAB = 2.0  # h: imaginary wins, and losses, of pairs that are not even


def decide_by_duels(record: DuelRecord, epsilon: float, concentration: float) -> DecisionTables:
    """The probabilities by which the empirical model decides.

    ``concentration`` is that of the neutral prior.
    """
    neutral = pair_probabilities(record, epsilon, concentration)
    return DecisionTables(
        better=neutral.better,
        equivalent=neutral.equivalent,
        no_worse=neutral.no_worse,
        dominates=p_dominates(record),
        estimate=neutral.better.min(axis=0),
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
