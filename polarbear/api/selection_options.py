"""The named values and the defaults of `select`, which the command line shows in its help."""

from polarbear.selection.criterion_names import (
    DEFAULT_DOMINATED_LEVEL,
    DEFAULT_PREFERENCE,
    DEFAULT_RISK,
    DEFAULT_VALUE,
    Risk,
    ValueKind,
)
from polarbear.settings.decision_levels import DEFAULT_QUANTILE_LEVEL

__all__ = [
    "DEFAULT_DOMINATED_LEVEL",
    "DEFAULT_PREFERENCE",
    "DEFAULT_QUANTILE_LEVEL",
    "DEFAULT_RISK",
    "DEFAULT_VALUE",
    "Risk",
    "ValueKind",
]
