"""A look for each algorithm, the same in every figure and distinguishable for all readers.

Eight colours that keep their distance under protanopia and deuteranopia, and lines of other dashes
and markers beside them, so that shades of grey suffice. Beyond eight, colours come again with the
next dash.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Theme = Literal["light", "dark", "print"]
Dash = tuple[float, tuple[float, ...]]

COLOURS: dict[Theme, tuple[str, ...]] = {
    "light": (
        "#1978DF",
        "#8A4200",
        "#007C5D",
        "#E5789F",
        "#E38B3B",
        "#1CBBF8",
        "#1B1B1B",
        "#4B3D7D",
    ),
    "dark": (
        "#7588FC",
        "#AC654B",
        "#86CE93",
        "#D28AAA",
        "#F67B00",
        "#6DD5FC",
        "#F8F2F4",
        "#956094",
    ),
    "print": ("#000000", "#5A5A5A", "#8C8C8C"),
}
DASHES: tuple[Dash, ...] = (
    (0, ()),  # solid
    (0, (5, 1.6)),
    (0, (1.2, 1.4)),
    (0, (6, 1.6, 1.2, 1.6)),
    (0, (9, 2.5)),
    (0, (3, 1.2, 1, 1.2, 1, 1.2)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*")
READABLE = 4.5  # the contrast that WCAG asks of text
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "||||", "oooo", "++++", "//..")


@dataclass(frozen=True)
class Look:
    """How one algorithm is drawn, as a line, as points, as an area; and its name beside them.

    ``text`` is its colour, as dark or as light as it must be to be read.
    """

    colour: str
    text: str
    dash: Dash
    marker: str
    hatch: str


@dataclass(frozen=True)
class Inks:
    """Everything of a theme that does not stand for an algorithm.

    ``shades`` run from nothing to much; they stand for amounts, never for algorithms.
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
        return Look(shade, INKS[theme].ink, DASHES[place], marker, HATCHES[index % len(HATCHES)])
    turn, place = divmod(index, len(colours))
    colour, text = colours[place], readable(colours[place], theme)
    return Look(colour, text, DASHES[turn % len(DASHES)], marker, HATCHES[turn % len(HATCHES)])


def readable(colour: str, theme: Theme) -> str:
    """The colour mixed with the theme's ink until it stands out from the paper."""
    paper, ink = INKS[theme].paper, INKS[theme].ink
    for tenths in range(10):
        mixed = mix(colour, ink, tenths / 10)
        if contrast(mixed, paper) >= READABLE:
            return mixed
    return ink


def writing_on(colour: str, theme: Theme) -> str:
    """What to write with on an area of this colour: the theme's ink or its paper."""
    inks = INKS[theme]
    return max((inks.ink, inks.paper), key=lambda choice: contrast(choice, colour))


def mix(one: str, other: str, share: float) -> str:
    """A colour with so much of another in it."""
    pairs = zip(_channels(one), _channels(other), strict=True)
    return "#" + "".join(f"{round(255 * (a + (b - a) * share)):02X}" for a, b in pairs)


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG: 1 for the same colour, 21 for black on white."""
    dark, light = sorted(_luminance(colour) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in _channels(colour)
    ]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _channels(colour: str) -> list[float]:
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
