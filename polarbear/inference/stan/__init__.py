"""The Stan engine: every model as a Stan program, run by CmdStanPy, as the reference.

Uses the models' options and diagnostics, and CmdStanPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polarbear.inference.base import Posterior

__all__ = ["run"]


def run(*arguments: Any, **options: Any) -> Posterior:
    """Draw from a posterior; `polarbear stan` has no need to import what that needs."""
    from polarbear.inference.stan import engine

    return engine.run(*arguments, **options)
