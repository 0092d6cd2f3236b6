"""The levels at which decisions are taken: their defaults, and the check of a level alpha.

This module imports nothing that takes long, since the command line reads it for its help.
"""

DEFAULT_ALPHA = 0.95  # probability with which a relation is settled, or an algorithm is dominated
DEFAULT_EPSILON = 0.05  # win probabilities this near to even count as equivalent
DEFAULT_CHOICE_REGRET = 0.02  # expected regret of the choice at each time that ends a race
DEFAULT_QUANTILE_LEVEL = 0.05  # of the lower quantile of an algorithm's value, gamma
DEFAULT_GATE_ALPHA = 0.95  # probability with which `gate` shows that a version is no worse
DEFAULT_GATE_TOLERANCE = 0.05  # a win rate of 0.5 less this is no regression


def checked_level(alpha: float) -> float:
    """Return a decision level if it is valid; raise ValueError otherwise."""
    if not 0.5 < alpha <= 1:
        hint = f": did you mean {alpha / 100:g}?" if 1 < alpha <= 100 else ""
        raise ValueError(f"alpha must be above 0.5 and at most 1, found {alpha:g}{hint}")
    return alpha
