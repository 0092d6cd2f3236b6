"""Weights of instances: the number of instances that one counts as, by default 1.

A weight is the paper's w_r, the same for all rankings of an instance.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from math import isfinite

from polarbear.settings.options import describe

WEIGHT = "counts_as"  # the key of an imported instance's spec that holds its weight
LARGEST_WEIGHT = 1000.0  # sums of weights beyond it would not be exact in the bootstrap
PROPER = f"a number above 0 and at most {LARGEST_WEIGHT:,.0f}"


def is_weight(value: object) -> bool:
    """Whether a value is a valid weight."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isfinite(value) and 0 < value <= LARGEST_WEIGHT


def improper(value: object, instance: str) -> str:
    """The message about an invalid weight."""
    leave_out = "; leave the instance out instead" if value == 0 else ""
    return f"the weight of '{instance}' must be {PROPER}, found {describe(value)}{leave_out}"


def weight_of(instance: str, weights: Mapping[str, float]) -> float:
    """The weight of this name, or of the first matching pattern (* and ?), or 1."""
    if instance in weights:
        return float(weights[instance])
    fitting = (weight for pattern, weight in weights.items() if fnmatchcase(instance, pattern))
    return float(next(fitting, 1.0))
