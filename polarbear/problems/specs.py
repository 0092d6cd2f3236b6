"""Keys of an instance's spec that other rooms read, if present, and the features among them."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

PROBLEM = "problem"  # names the problem of which an instance is one run of several
FUNCTION = "function"
DIMENSION = "dimension"  # the number of variables
NUMBER = "instance"  # its number among the function's instances
OPTIMUM = "optimum"  # of imported data: the best possible value
FAMILY = "family"  # the kind of instance, where a suite has several
CONSTRAINTS = "constraints"  # the number of constraints
CUSTOMERS = "customers"  # the number of customers of a routing problem
SIZE = "n"  # the size of a generated integer program

# The feature that each number in a spec is. A function is a category, also if it has a number.
NUMERIC_FEATURES = {
    DIMENSION: DIMENSION,
    CONSTRAINTS: CONSTRAINTS,
    CUSTOMERS: CUSTOMERS,
    SIZE: "size",
}


def features_in(spec: Mapping[str, Any]) -> dict[str, float | str]:
    """What a suite knows about an instance: numbers, and categories as texts."""
    features: dict[str, float | str] = {}
    if isinstance(spec.get(FUNCTION), str | int):
        features[FUNCTION] = str(spec[FUNCTION])
    family = family_in(spec)
    if family:
        features[FAMILY] = family
    for key, name in NUMERIC_FEATURES.items():
        value = spec.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            features[name] = float(value)
    return features


def family_in(spec: Mapping[str, Any]) -> str:
    """The family of an instance, or for a file the folder that it is in; empty if unknown."""
    if FAMILY in spec:
        return str(spec[FAMILY])
    return PurePath(str(spec.get("name", ""))).parent.name
