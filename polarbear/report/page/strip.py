"""The strip of leaders: the algorithm with the highest P(best) at each budget, by colour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.racing.recommendation import leaders
from polarbear.report.context import ReportContext
from polarbear.report.figures.plotting import edges
from polarbear.wording import P_BEST, joined, time, timed

WIDEST = 100.0  # per cent
LETTER = 0.85, 2.3  # per cent of the width that a letter takes on a laptop, and on a phone


@dataclass(frozen=True)
class Piece:
    """A part of the strip: its width, its algorithm and P(best)."""

    width: float
    colour: int
    label: str
    sure: float

    @property
    def room(self) -> str:
        """Where the label fits: everywhere, on wide screens only, or nowhere."""
        wide, narrow = (len(self.label) * letter for letter in LETTER)
        return "" if self.width >= narrow else "wide-only" if self.width >= wide else "never"


@dataclass(frozen=True)
class Strip:
    """Spans with a name each, above cells in the leader's colour; and the same in words."""

    names: tuple[Piece, ...]
    cells: tuple[Piece, ...]
    ticks: tuple[str, ...]
    words: str
    caption: str


def strip(context: ReportContext) -> Strip | None:
    """The strip of a store; None where there is nothing to compare."""
    if context.draws is None or context.contest is None:
        return None
    names, likely = context.p_best
    if len(names) < 2:
        return None
    times = context.times
    scaled = np.log(edges(times, True)) if context.log_times else edges(times, False)
    widths = WIDEST * np.diff(scaled) / (scaled[-1] - scaled[0])
    leader = likely.argmax(axis=1)
    cells = [
        _piece(context, names[item], width, float(sure))
        for item, width, sure in zip(leader, widths, likely.max(axis=1), strict=True)
    ]
    stretches, words, place = [], [], 0
    for one in leaders(names, times, likely):
        here = slice(place, place + one.times)
        sure = float(likely[here].max(axis=1).mean())
        stretches.append(_piece(context, one.algorithms[0], float(widths[here].sum()), sure))
        words.append(f"{context.labels[one.algorithms[0]]} {one.budgets(context.axis)}")
        place += one.times
    ends = (time(float(times[0])), timed(float(times[-1]), context.axis))
    return Strip(
        tuple(stretches),
        tuple(cells),
        ends if len(times) > 1 else ends[1:],
        f"Highest {P_BEST}: {joined(words)}",
        f"The algorithm with the highest {P_BEST} by budget; the stronger the colour, the higher.",
    )


def _piece(context: ReportContext, name: str, width: float, sure: float) -> Piece:
    label = context.labels[name]
    return Piece(round(float(width), 3), context.colour_index(name), label, round(sure, 2))
