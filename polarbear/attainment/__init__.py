"""The classical view: ECDF, AOCC and EAF of a store's runs, and where the posterior disagrees."""

from __future__ import annotations

from polarbear.attainment.disagreement import Note, agreement, disagreements
from polarbear.attainment.options import ViewOptions
from polarbear.attainment.view import View, pair_of, view

__all__ = ["Note", "View", "ViewOptions", "agreement", "disagreements", "pair_of", "view"]
