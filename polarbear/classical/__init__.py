"""The classical view: ECDF, AOCC and EAF of a store's runs, and where the posterior disagrees.

Uses `store`, `select` and what is below them; draws nothing.
"""

from __future__ import annotations

from polarbear.classical.common_runs import share_more
from polarbear.classical.comparison import EVERYONE, Comparison, checked_names, checked_pair
from polarbear.classical.disagreement import Note, agreement, disagreements
from polarbear.classical.options import ViewOptions
from polarbear.classical.view import View, view

__all__ = [
    "EVERYONE",
    "Comparison",
    "Note",
    "View",
    "ViewOptions",
    "agreement",
    "checked_names",
    "checked_pair",
    "disagreements",
    "share_more",
    "view",
]
