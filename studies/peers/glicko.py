"""Glicko-2 (Glickman 2012), all duels of a block of instances being one rating period.

A rating has a deviation, and rating +- 2 deviations is the band that players are shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SCALE = 173.7178
START = 1500.0
DEVIATION = 350.0
VOLATILITY = 0.06


@dataclass(frozen=True)
class Player:
    rating: float = START
    deviation: float = DEVIATION
    volatility: float = VOLATILITY


def updated(
    player: Player, opponents: list[Player], scores: list[float], tau: float = 0.5
) -> Player:
    """After a period of games, each won (1), drawn (0.5) or lost (0)."""
    mu = (player.rating - START) / SCALE
    phi = player.deviation / SCALE
    other_mu = np.array([(other.rating - START) / SCALE for other in opponents])
    other_phi = np.array([other.deviation / SCALE for other in opponents])
    g = 1 / np.sqrt(1 + 3 * other_phi**2 / np.pi**2)
    expected = 1 / (1 + np.exp(-g * (mu - other_mu)))
    v = 1 / float((g**2 * expected * (1 - expected)).sum())
    gained = float((g * (np.array(scores) - expected)).sum())
    volatility = _volatility(phi, v, v * gained, player.volatility, tau)
    new_phi = 1 / np.sqrt(1 / (phi**2 + volatility**2) + 1 / v)
    return Player(
        float((mu + new_phi**2 * gained) * SCALE + START), float(new_phi * SCALE), volatility
    )


def _volatility(phi: float, v: float, delta: float, before: float, tau: float) -> float:
    """Step 5: where the posterior of the log-volatility has its mode."""
    from scipy.optimize import brentq

    a = np.log(before**2)

    def slope(x: float) -> float:
        spread = phi**2 + v + np.exp(x)
        return float(np.exp(x) * (delta**2 - spread) / (2 * spread**2) - (x - a) / tau**2)

    low = a - 1.0
    high = a + 1.0
    while slope(low) < 0:
        low -= 1.0
    while slope(high) > 0:
        high += 1.0
    return float(np.exp(brentq(slope, low, high, xtol=1e-10) / 2))


def rated(values: np.ndarray, block: int = 8) -> list[Player]:
    """All algorithms against each other on values[instance, algorithm], ``block`` a period."""
    n = values.shape[1]
    players = [Player() for _ in range(n)]
    for first in range(0, len(values), block):
        instances = values[first : first + block]
        after = []
        for i in range(n):
            others = [j for j in range(n) if j != i]
            opponents = [players[j] for j in others for _ in instances]
            scores = [
                0.5 * (row[i] < row[j]) + 0.5 * (row[i] <= row[j])
                for j in others
                for row in instances
            ]
            after.append(updated(players[i], opponents, scores))
        players = after
    return players


def better_at_each(values: np.ndarray, width: float) -> np.ndarray:
    """Whether a's band of ``width`` deviations lies above b's: bool[time, a, b]."""
    is_better = []
    for t in range(values.shape[2]):
        players = rated(values[:, :, t])
        low = np.array([p.rating - width * p.deviation for p in players])
        high = np.array([p.rating + width * p.deviation for p in players])
        is_better.append(low[:, None] > high[None, :])
    return np.stack(is_better)
