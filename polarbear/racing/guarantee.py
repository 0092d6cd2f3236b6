"""A bound on wrong eliminations that needs no model: betting on duels.

If a does not beat b on more than half of the instances at some time t, nobody can get rich by
betting on a at t. Someone who starts with 1 and stakes the share q - (1 - q) of what he has on a at
each duel (ties return the stake) multiplies it by 2q for a win and by 2(1 - q) for a loss. Averaged
over q from Beta(h, h) above one half, what he owns after w wins and l losses is

    2^(w + l) B(h + w, h + l) P(q > 1/2 | h + w, h + l) / (B(h, h) / 2),

and by Ville's inequality the chance that it ever reaches 1/d, at whatever number of looks, is at
most d (Waudby-Smith and Ramdas 2024). So a is called better at t once that is reached. Whoever is
out was called worse at every time; if it is not worse at one of them, that one call was wrong, so
times need no correction. There are n (n - 1) such calls in a race, each allowed its share of
1 - alpha. What is assumed: instances are drawn independently, or their order is random.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polarbear.rankings import ABSENT

EVEN_DUELS = 4.0  # h: how near to even the bets expect duels to be; any value keeps the bound


def log_wealth(wins: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """The logarithm of what betting on the winner's side has come to."""
    from scipy.special import betaincc, betaln

    one, two = EVEN_DUELS + wins, EVEN_DUELS + losses
    with np.errstate(divide="ignore"):
        above = np.log(betaincc(one, two, 0.5))
    return np.asarray(
        (wins + losses + 1) * np.log(2) + betaln(one, two) - betaln(EVEN_DUELS, EVEN_DUELS) + above
    )


def record_of_duels(positions: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """How often a was ranked before b, from positions[instance, algorithm, time]: [time, a, b].

    An instance counts as ``weights[instance]`` of them, where given; bets are no good then.
    """
    _, n, n_times = positions.shape
    found = np.zeros((n_times, n, n), dtype=np.int64 if weights is None else float)
    there = positions != ABSENT
    for a in range(n):
        for b in range(n):
            if a != b:
                won = there[:, a] & there[:, b] & (positions[:, a] < positions[:, b])
                found[:, a, b] = won.sum(axis=0) if weights is None else weights @ won
    return found


def proven_better(wins: np.ndarray, alpha: float) -> np.ndarray:
    """Where betting on a against b, with this record [time, a, b], has reached its mark: bool."""
    n = wins.shape[1]
    mark = np.log(n * (n - 1) / (1 - alpha))
    return np.asarray(_of_each_record(log_wealth, wins) >= mark)


def shown_by_duels(wins: np.ndarray) -> np.ndarray:
    """How likely a beats b more often than not, by their own duels and nothing else: [time, a, b].

    Before any duel every share is as likely; ties say nothing.
    """
    from scipy.special import betaincc

    return _of_each_record(lambda won, lost: betaincc(1 + won, 1 + lost, 0.5), wins)


def _of_each_record(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray], wins: np.ndarray
) -> np.ndarray:
    """A function of wins and losses, worked out once for records that many pairs and times share:
    [time, a, b]."""
    records, place = np.unique(wins + 1j * wins.swapaxes(1, 2), return_inverse=True)
    return np.asarray(function(records.real, records.imag)[place.reshape(wins.shape)])
