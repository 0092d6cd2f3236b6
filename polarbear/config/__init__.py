"""One configuration file as a whole: read, checked, held against another.

Uses `settings`, and the options of `problems`, `algorithms`, `racing` and `inference`.
"""

from __future__ import annotations

from polarbear.config.changes import contradictions, differences
from polarbear.config.configuration import (
    Config,
    Execution,
    PlainConfig,
    load,
    overridden,
    parse,
)

__all__ = [
    "Config",
    "Execution",
    "PlainConfig",
    "contradictions",
    "differences",
    "load",
    "overridden",
    "parse",
]
