"""One configuration file as a whole: read, checked, held against another.

What is heavy waits until it is asked for: a store that is only read needs little of it.

Uses `settings`, and the options of `problems`, `algorithms`, `racing` and `inference`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.settings.lazily import lazily

if TYPE_CHECKING:
    from polarbear.config.changes import contradictions, differences
    from polarbear.config.configuration import (
        Config,
        Overrides,
        PlainConfig,
        load,
        overridden,
        parse,
    )
    from polarbear.config.execution import Execution, JobQueue
    from polarbear.config.failures import KEEPS, Failures, failed_words, failures_in

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

__getattr__ = lazily(
    __name__,
    {
        "KEEPS": "failures",
        "Config": "configuration",
        "Execution": "execution",
        "Failures": "failures",
        "JobQueue": "execution",
        "Overrides": "configuration",
        "PlainConfig": "configuration",
        "contradictions": "changes",
        "differences": "changes",
        "failed_words": "failures",
        "failures_in": "failures",
        "load": "configuration",
        "overridden": "configuration",
        "parse": "configuration",
    },
)
