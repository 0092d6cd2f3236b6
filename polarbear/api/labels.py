"""Short labels of algorithms, and curves of characters, for terminals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polarbear.report.drawing.labels import labels
from polarbear.report.prose.outline import curve as curve_of

__all__ = ["curve", "labels"]


def curve(values: Sequence[float]) -> str:
    """Numbers from 0 to 1 as a line of characters."""
    return curve_of(np.array(values)) if values else ""
