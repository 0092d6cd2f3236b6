"""The classical view of a store's runs: ECDF, AOCC, EAF, ERT, and where the posterior disagrees.

Uses `store`, `selection` and the rooms below them; draws nothing.
"""

from __future__ import annotations

from polarbear.classical.common_runs import share_more
from polarbear.classical.view import View, view
from polarbear.classical.view_options import (
    ALL_ALGORITHMS,
    Comparison,
    ViewOptions,
    checked_names,
    checked_pair,
)

__all__ = [
    "ALL_ALGORITHMS",
    "Comparison",
    "View",
    "ViewOptions",
    "checked_names",
    "checked_pair",
    "share_more",
    "view",
]
