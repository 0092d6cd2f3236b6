"""A look for each algorithm that stays the same in every figure, told apart by any reader.

Eight colours that keep their distance under protanopia and deuteranopia, and lines of other dashes
and markers beside them, so that shades of grey suffice. Beyond eight, colours come again with the
next dash.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Theme = Literal["light", "dark", "print"]
Dash = tuple[int, tuple[float, ...]] | str

COLOURS: dict[Theme, tuple[str, ...]] = {
    "light": (
        "#0072B2",
        "#D55E00",
        "#009E73",
        "#CC79A7",
        "#B98300",
        "#3FA3DC",
        "#1B1B1B",
        "#7A5FB0",
    ),
    "dark": (
        "#4AA3DF",
        "#FF8C42",
        "#2FC79A",
        "#E79BC6",
        "#F0B93A",
        "#9AD7FF",
        "#F2F2F2",
        "#B79CED",
    ),
    "print": ("#000000", "#5A5A5A", "#8C8C8C"),
}
DASHES: tuple[Dash, ...] = (
    "-",
    (0, (5, 1.6)),
    (0, (1.2, 1.4)),
    (0, (6, 1.6, 1.2, 1.6)),
    (0, (9, 2.5)),
    (0, (3, 1.2, 1, 1.2, 1, 1.2)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*")
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "||||", "oooo", "++++", "//..")


@dataclass(frozen=True)
class Look:
    """How one algorithm is drawn, as a line, as points, and as an area."""

    colour: str
    dash: Dash
    marker: str
    hatch: str


@dataclass(frozen=True)
class Inks:
    """Everything of a theme that does not stand for an algorithm.

    ``shades`` run from nothing to much; they say how much, never who.
    """

    paper: str
    ink: str
    faint: str
    grid: str
    shades: tuple[str, str]
    alarm: str


INKS: dict[Theme, Inks] = {
    "light": Inks("#FFFFFF", "#1B1B1B", "#6A6A6A", "#E6E6E6", ("#F4F6F8", "#23395B"), "#B3261E"),
    "dark": Inks("#14171C", "#ECEFF4", "#9AA3AF", "#2A2F37", ("#1D222A", "#C9D8F0"), "#FF8A80"),
    "print": Inks("#FFFFFF", "#000000", "#555555", "#DDDDDD", ("#FAFAFA", "#2A2A2A"), "#000000"),
}


def look(index: int, theme: Theme = "light") -> Look:
    """The look of the algorithm at this place in the configuration."""
    colours, marker = COLOURS[theme], MARKERS[index % len(MARKERS)]
    if theme == "print":  # shades are few, so dashes change from one algorithm to the next
        turn, place = divmod(index, len(DASHES))
        shade = colours[(place + turn) % len(colours)]
        return Look(shade, DASHES[place], marker, HATCHES[index % len(HATCHES)])
    turn, place = divmod(index, len(colours))
    return Look(colours[place], DASHES[turn % len(DASHES)], marker, HATCHES[turn % len(HATCHES)])
