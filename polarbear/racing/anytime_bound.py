"""A bound on wrong eliminations that holds at any number of looks, without a model.

If a does not beat b on more than half of the problems at time t, betting on a at t is not
profitable. Betting starts with wealth 1; with win probability q a win multiplies it by 2q and a
loss by 2(1 - q). Averaged over q from Beta(h, h) above one half, the wealth after w wins and l
losses is

    2^(w + l) B(h + w, h + l) P(q > 1/2 | h + w, h + l) / (B(h, h) / 2),

and by Ville's inequality it ever reaches 1/d with probability at most d (Waudby-Smith and Ramdas
2024). An eliminated algorithm was proven worse at every time. If it is not worse at one of them,
that proof was wrong, so times need no correction.

A problem with several seeds counts as a fraction of a win or loss; the bound holds for it, because
(2q)^x is at most 1 + (2q - 1) x for x up to one. For the same reason it holds for weighted problems
if no weight is above one: then the weighted share of wins is at most one half.

With `guarantee: pair` the error of each ordered pair is at most 1 - alpha. With `anytime` all pairs
share it. The first field of n algorithms gets 6 / pi^2 of it, divided among its n (n - 1) ordered
pairs; the k-th algorithm that enters later gets 6 / (pi^2 (k + 1)^2), divided among its ordered
pairs with the earlier ones. The shares sum to at most one, whatever the number of entrants.

A newcomer of a stream is called a member once it was shown to be better than each member at some
time. If that is wrong, there is one member that it beats at no time. The mean of its wealth against
this member over all times is wealth, too, whatever the times have to do with each other: it reaches
1/d with probability at most d. So members need no correction, times cost at most the logarithm of
their number, and only entrants share the error: the k-th one gets k^-1.2 / zeta(1.2) of it. These
shares decrease slowly, since streams are long: the hundredth entrant gets 12 times what it would by
1/k^2.

Assumptions: problems are drawn independently, or their order is random, and the seeds of a problem
are drawn in one round. An algorithm was not made for the very problems that it is compared on.
"""

from collections.abc import Callable

import numpy as np
import scipy  # loads `scipy.special` at its first use

EVEN_DUELS = 4.0  # h: how near to even the bets expect duels to be; any value keeps the bound
MAX_WEALTH = 1e12  # the largest wealth that is recorded
ENTRANT_DECAY = 1.2  # the power of its number with which the share of an entrant decreases
WINS_TOLERANCE = 1e-3  # to which the number of wins that a proof needs is computed


def log_wealth(wins: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """The logarithm of the wealth after these wins and losses."""
    for_a = EVEN_DUELS + wins
    for_b = EVEN_DUELS + losses
    with np.errstate(divide="ignore"):
        log_p_above_half = np.log(scipy.special.betaincc(for_a, for_b, 0.5))
    return np.asarray(
        (wins + losses + 1) * np.log(2)
        + scipy.special.betaln(for_a, for_b)
        - scipy.special.betaln(EVEN_DUELS, EVEN_DUELS)
        + log_p_above_half
    )


def log_wealth_table(wins: np.ndarray) -> np.ndarray:
    """The logarithm of the wealth of betting on a against b, by wins[time, a, b]: [time, a, b]."""
    return _by_distinct_record(log_wealth, wins)


def lowest_wealth(log_wealths: np.ndarray) -> float:
    """The lowest wealth of a pair at any time, from its logarithms."""
    return float(np.exp(min(log_wealths.min(), np.log(MAX_WEALTH))))


def proves_pair(log_wealths: np.ndarray, alpha: float) -> np.ndarray:
    """Where the wealth bounds the error of its ordered pair by 1 - alpha: bool[time, a, b]."""
    return np.asarray(log_wealths >= _log_of_inverse(1 - alpha))


def proves_in_race(log_wealths: np.ndarray, alpha: float, initial: int) -> np.ndarray:
    """Where the wealth bounds the error of all pairs together by 1 - alpha: bool[time, a, b].

    ``initial`` is the number of algorithms at the start; the others entered in their order.
    """
    shares = shares_of_error(log_wealths.shape[1], initial)
    return np.asarray(log_wealths >= _log_of_inverse((1 - alpha) * shares))


def log_wealth_at_some_time(log_wealths: np.ndarray, axis: int = 0) -> np.ndarray:
    """The logarithm of the wealth of betting that one is better at some time of the axis.

    It is the mean of the wealth over all times.
    """
    log_sum = scipy.special.logsumexp(log_wealths, axis=axis)
    return np.asarray(log_sum - np.log(log_wealths.shape[axis]))


def log_wealth_of_member(alpha: float, entrant: int) -> float:
    """The logarithm of the wealth with which an entrant of a stream is shown to be a member.

    P(any entrant of the stream is called a member wrongly) is at most 1 - alpha. ``entrant`` is its
    number in the stream, from 1 on.
    """
    share = entrant**-ENTRANT_DECAY / float(scipy.special.zeta(ENTRANT_DECAY))
    return float(_log_of_inverse((1 - alpha) * share))


def fewest_wins_to_prove(decided: np.ndarray, log_needed: np.ndarray | float) -> np.ndarray:
    """The smallest number of wins in these numbers of duels whose wealth is enough.

    It is infinite where not even winning all of them is enough.
    """
    too_few = np.floor(decided / 2)
    enough = np.asarray(decided, dtype=float)
    is_possible = log_wealth(enough, np.zeros_like(enough)) >= log_needed
    while (enough - too_few > 1).any():
        middle = np.where(enough - too_few > 1, np.floor((too_few + enough) / 2), enough)
        is_enough = log_wealth(middle, decided - middle) >= log_needed
        too_few = np.where(is_enough, too_few, middle)
        enough = np.where(is_enough, middle, enough)
    return np.where(is_possible, enough, np.inf)


def proving_score(n_duels: float, error: float) -> float:
    """The smallest (wins - losses) / sqrt(n) of n duels whose wealth is 1 / error.

    Infinite where not even n wins are enough.
    """
    needed = float(_log_of_inverse(error))

    def is_proven(wins: float) -> bool:
        return bool(log_wealth(np.array(wins), np.array(n_duels - wins)) >= needed)

    if not is_proven(n_duels):
        return np.inf
    too_few_wins = n_duels / 2
    enough_wins = n_duels
    while enough_wins - too_few_wins > WINS_TOLERANCE:
        middle = (too_few_wins + enough_wins) / 2
        if is_proven(middle):
            enough_wins = middle
        else:
            too_few_wins = middle
    return float((2 * enough_wins - n_duels) / np.sqrt(n_duels))


def _log_of_inverse(error: np.ndarray | float) -> np.ndarray:
    """The logarithm of the wealth that bounds an error; infinite for an error of zero."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(error))


def shares_of_error(n: int, initial: int) -> np.ndarray:
    """The share of 1 - alpha that each ordered pair may use: [a, b]."""
    entry = np.maximum(np.arange(n) - initial + 2, 1)  # 1 for the first field, then 2, 3, ...
    later = np.maximum.outer(np.arange(n), np.arange(n))
    pairs = np.where(entry[later] == 1, initial * (initial - 1), 2 * later)
    with np.errstate(divide="ignore"):
        return np.asarray(6 / (np.pi * entry[later]) ** 2 / np.maximum(pairs, 1))


def supported_by_duels(wins: np.ndarray) -> np.ndarray:
    """P(a beats b on more than half of the problems) by their duels alone: [time, a, b].

    The prior is uniform; ties do not count.
    """
    return _by_distinct_record(
        lambda won, lost: scipy.special.betaincc(1 + won, 1 + lost, 0.5), wins
    )


def _by_distinct_record(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray], wins: np.ndarray
) -> np.ndarray:
    """A function of wins and losses, computed once for equal records: [time, a, b]."""
    records, index = np.unique(wins + 1j * wins.swapaxes(1, 2), return_inverse=True)
    return np.asarray(function(records.real, records.imag)[index.reshape(wins.shape)])
