"""The enumerations and defaults of options, for the command line. Importing them takes no time."""

from polarbear.settings import decision_levels, defaults
from polarbear.settings.enumerations import (
    AfterEnd,
    Alignment,
    CmdStanSource,
    ExecutionEngine,
    FailedCandidate,
    InferenceEngine,
    Method,
    Spacing,
    TargetScale,
    Theme,
    TimeAxis,
    Undecided,
)

__all__ = [
    "AfterEnd",
    "Alignment",
    "CmdStanSource",
    "ExecutionEngine",
    "FailedCandidate",
    "InferenceEngine",
    "Method",
    "Spacing",
    "TargetScale",
    "Theme",
    "TimeAxis",
    "Undecided",
    "decision_levels",
    "defaults",
]
