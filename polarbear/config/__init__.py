"""One configuration file as one frozen, typed object: read, checked, compared with another.

Uses `settings`, and the options of `problems`, `algorithms`, `racing` and `inference`.
"""

from __future__ import annotations

from polarbear.config.configuration import (
    Config,
    Overrides,
    PlainConfig,
    contradictions,
    differences,
    load,
    overridden,
    parse,
)
from polarbear.config.execution import (
    KEEPS,
    Execution,
    Failures,
    JobQueue,
    failed_words,
    failures_in,
)

__all__ = [
    "KEEPS",
    "Config",
    "Execution",
    "Failures",
    "JobQueue",
    "Overrides",
    "PlainConfig",
    "contradictions",
    "differences",
    "failed_words",
    "failures_in",
    "load",
    "overridden",
    "parse",
]
