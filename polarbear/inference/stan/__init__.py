"""The Stan engine: every model as a Stan program, run by CmdStanPy, as the reference."""

from polarbear.inference.stan.engine import run

__all__ = ["run"]
