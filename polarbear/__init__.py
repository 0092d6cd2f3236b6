"""PolarBear: which anytime algorithm to run when the time limit is not yet known."""

__version__ = "0.1.0"
