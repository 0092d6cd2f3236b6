"""The strip of leaders: who is likeliest to be the best when, in one line of colour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.racing.recommendation import leaders
from polarbear.report.best_by_time import p_best
from polarbear.report.drawing.axes import edges
from polarbear.report.material import Material
from polarbear.report.moment import draws_now
from polarbear.report.prose.words import span
from polarbear.wording import P_BEST, joined, time, timed

WIDEST = 100.0  # per cent
LETTER = 0.85, 2.3  # per cent of the width that a letter takes on a laptop, and on a phone


@dataclass(frozen=True)
class Piece:
    """A part of the strip: how wide, of whom, and how sure that is."""

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
    """Spanes with a name each, above cells in the leader's colour; and the same in words."""

    names: tuple[Piece, ...]
    cells: tuple[Piece, ...]
    ticks: tuple[str, ...]
    words: str
    caption: str


def strip(material: Material) -> Strip | None:
    """The strip of a store; None where nobody can be told from anybody."""
    if draws_now(material) is None or material.contest is None:
        return None
    names, likely = p_best(material)
    if len(names) < 2:
        return None
    times = material.times
    scaled = np.log(edges(times, True)) if material.log_times else edges(times, False)
    widths = WIDEST * np.diff(scaled) / (scaled[-1] - scaled[0])
    who = likely.argmax(axis=1)
    cells = [
        _piece(material, names[item], width, float(sure))
        for item, width, sure in zip(who, widths, likely.max(axis=1), strict=True)
    ]
    found = leaders(names, times, likely)
    stretches, place = [], 0
    for one in found:
        here = slice(place, place + one.times)
        sure = float(likely[here].max(axis=1).mean())
        stretches.append(_piece(material, one.algorithms[0], float(widths[here].sum()), sure))
        place += one.times
    first, last = float(times[0]), float(times[-1])
    words = joined(
        [
            f"{material.labels[one.algorithms[0]]} "
            f"{span(one.start, one.stop, first, last, material.axis)}"
            for one in found
        ]
    )
    ends = (
        (time(first), timed(last, material.axis))
        if len(times) > 1
        else (timed(last, material.axis),)
    )
    return Strip(
        tuple(stretches),
        tuple(cells),
        ends,
        f"Likeliest to be the best: {words}",
        f"Who is likeliest to be the best when; the stronger the colour, the higher {P_BEST}.",
    )


def _piece(material: Material, name: str, width: float, sure: float) -> Piece:
    label = material.labels[name]
    return Piece(round(float(width), 3), material.colour_index(name), label, round(sure, 2))
