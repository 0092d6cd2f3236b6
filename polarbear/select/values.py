"""Values of algorithms for a preference, in each draw of a posterior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np

from polarbear.errors import SelectionError
from polarbear.inference import Posterior
from polarbear.inference.strongest_rival import rival_values
from polarbear.preferences import Valuation
from polarbear.settings.options import unknown

# The win rate against the strongest rival, the share of first places, or the rating of a
# Plackett-Luce model (the paper's definition).
Value = Literal["duels", "firsts", "theta"]
VALUES: tuple[Value, ...] = get_args(Value)


def check_value(name: str, posterior: Posterior) -> Value:
    """A kind of value that the posterior has."""
    for value in VALUES:
        if name == value:
            wanted = {"theta": True, "firsts": False}.get(value)
            if wanted is not None and wanted != posterior.options.plackett_luce:
                other = "firsts" if value == "theta" else "theta"
                raise SelectionError(
                    f"the {posterior.model} model has no value '{value}': use 'duels' or '{other}'"
                )
            return value
    raise SelectionError(unknown("value", name, VALUES))


def draws_of_values(
    posterior: Posterior, items: Sequence[int], valuation: Valuation, value: Value
) -> np.ndarray:
    """V[draw, item] of the items among each other."""
    if value == "duels":
        return rival_values(posterior, items, _value_of_curve(valuation))
    return valuation.values(posterior.theta[:, :, list(items)])


def value_against(
    posterior: Posterior, item: int, rivals: Sequence[int], valuation: Valuation, value: Value
) -> np.ndarray:
    """V[draw] of an item that does not compete, against those that do."""
    if value != "duels":
        return valuation.values(posterior.theta[:, :, [item]])[:, 0]
    of_curve = _value_of_curve(valuation)
    against = [of_curve(posterior.head_to_head(item, rival)) for rival in rivals]
    return np.asarray(np.min(against, axis=0))


def strongest_rival(
    posterior: Posterior, item: int, rivals: Sequence[int], valuation: Valuation
) -> int | None:
    """The rival against which an item has the lowest mean value."""
    others = [rival for rival in rivals if rival != item]
    if not others:
        return None
    of_curve = _value_of_curve(valuation)
    return min(others, key=lambda b: float(of_curve(posterior.head_to_head(item, b)).mean()))


def _value_of_curve(valuation: Valuation) -> Callable[[np.ndarray], np.ndarray]:
    """The function from win probabilities[draw, time] to their value[draw]."""

    def value(wins: np.ndarray) -> np.ndarray:
        return valuation.values(wins[:, :, None])[:, 0]

    return value
