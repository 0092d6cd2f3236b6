"""The criteria of a choice and their defaults, for the Python interface and the command line.

This module imports nothing that takes long, since the command line reads it for its help.
"""

from enum import StrEnum

from polarbear.settings.decision_levels import DEFAULT_ALPHA


class Risk(StrEnum):
    """The criterion by which an algorithm is chosen, from draws of every algorithm's value."""

    P2BB = "p2bb"  # the probability of being best
    MEAN = "mean"
    QUANTILE = "quantile"
    REGRET = "regret"


class ValueKind(StrEnum):
    """The quantity that a preference aggregates over time."""

    DUELS = "duels"  # the win rate against the strongest rival
    FIRSTS = "firsts"  # the share of first places
    THETA = "theta"  # the rating of a Plackett-Luce model: the paper's definition


DEFAULT_PREFERENCE = "uniform"
DEFAULT_RISK = Risk.P2BB
DEFAULT_VALUE = ValueKind.DUELS
# Without a race, algorithms that are dominated with at least this probability do not compete.
DEFAULT_DOMINATED_LEVEL = DEFAULT_ALPHA
