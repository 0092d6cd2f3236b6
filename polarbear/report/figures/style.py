"""How figures look: themes, a look for each algorithm, sizes for a paper, names and fonts.

Eight colours stay distinguishable under protanopia and deuteranopia. Dashes and markers differ,
too, so that shades of grey suffice. Beyond eight algorithms colours repeat with the next dash.
"""

import re
from dataclasses import dataclass
from typing import Any

from pydantic import Field, field_validator

from polarbear.settings import defaults
from polarbear.settings.enumerations import Theme, TimeAxis
from polarbear.settings.options import Options, describe, nearest

Keywords = dict[str, Any]  # keywords of a function of Matplotlib
Dash = tuple[float, tuple[float, ...]]


def _hex(colours: str) -> tuple[str, ...]:
    return tuple(f"#{colour}" for colour in colours.split())


COLOURS: dict[Theme, tuple[str, ...]] = {
    Theme.LIGHT: _hex("1978DF 8A4200 007C5D E5789F E38B3B 1CBBF8 1B1B1B 4B3D7D"),
    Theme.DARK: _hex("7588FC AC654B 86CE93 D28AAA F67B00 6DD5FC F8F2F4 956094"),
    Theme.PRINT: _hex("000000 5A5A5A 8C8C8C"),
}
# The same colours, mixed with the ink of the theme until text has the contrast that WCAG demands.
TEXT_COLOURS: dict[Theme, tuple[str, ...]] = {
    Theme.LIGHT: _hex("196FCB 8A4200 007C5D A85C77 935E2E 1C7BA0 1B1B1B 4B3D7D"),
    Theme.DARK: _hex("7588FC B2735C 86CE93 D28AAA F67B00 6DD5FC F8F2F4 A67DA7"),
    Theme.PRINT: _hex("000000 000000 000000"),
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
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "||||", "oooo", "++++", "//..")


@dataclass(frozen=True)
class Look:
    """How one algorithm is drawn; ``text`` is its colour with enough contrast to be read."""

    colour: str
    text: str
    dash: Dash
    marker: str
    hatch: str

    @property
    def line(self) -> Keywords:
        return {"color": self.colour, "linestyle": self.dash}

    @property
    def area(self) -> Keywords:
        return {"facecolor": self.colour, "hatch": self.hatch}


@dataclass(frozen=True)
class Inks:
    """The colours of a theme that do not stand for an algorithm; ``shades`` stand for amounts.

    Lines of algorithms that are not named have the colour ``rest``.
    """

    paper: str
    ink: str
    faint: str
    grid: str
    rest: str
    shades: tuple[str, str]
    alarm: str


def _inks(colours: str) -> Inks:
    paper, ink, faint, grid, rest, least, most, alarm = _hex(colours)
    return Inks(paper, ink, faint, grid, rest, (least, most), alarm)


INKS: dict[Theme, Inks] = {
    Theme.LIGHT: _inks("FFFFFF 1B1B1B 6A6A6A E6E6E6 C9C9C9 F4F6F8 23395B B3261E"),
    Theme.DARK: _inks("14171C ECEFF4 9AA3AF 2A2F37 4A505A 1D222A C9D8F0 FF8A80"),
    Theme.PRINT: _inks("FFFFFF 000000 555555 DDDDDD CFCFCF FAFAFA 2A2A2A 000000"),
}


def look(index: int, theme: Theme = Theme.LIGHT) -> Look:
    """The look of an algorithm by its index in the configuration."""
    n_colours = len(COLOURS[theme])
    if theme is Theme.PRINT:  # shades are few, so dashes change from one algorithm to the next
        dash = index % len(DASHES)
        colour = (dash + index // len(DASHES)) % n_colours
        hatch = index
    else:
        colour = index % n_colours
        dash = index // n_colours
        hatch = index // n_colours
    return Look(
        COLOURS[theme][colour],
        TEXT_COLOURS[theme][colour],
        DASHES[dash % len(DASHES)],
        MARKERS[index % len(MARKERS)],
        HATCHES[hatch % len(HATCHES)],
    )


COLUMNS = {"single": 3.5, "double": 7.16}
FONTS = {"sans": "DejaVu Sans", "serif": "STIXGeneral"}  # both come with Matplotlib
INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
NARROWEST = 2.0  # inches
WIDEST = 40.0


class Style(Options):
    """The options of figures."""

    theme: Theme = Field(Theme.LIGHT, description="light, dark, or print (safe in shades of grey)")
    width: float = Field(
        COLUMNS[defaults.WIDTH],
        description="inches, or with a unit: 8.5cm; or a paper's column: single, double",
    )
    font_size: float = Field(defaults.FONT_SIZE, ge=4, le=30, description="points")
    font: str = Field(
        defaults.FONT, description="sans, serif, or the name of a font that is installed"
    )
    time_axis: TimeAxis = Field(
        TimeAxis.GRID,
        description="the scale of time: log, linear, or grid (as its times are spaced)",
    )
    dpi: int = Field(200, ge=30, le=1200, description="dots per inch of PNG files")

    @field_validator("width", mode="before")
    @classmethod
    def _in_inches(cls, width: object) -> float:
        text = str(COLUMNS.get(str(width), width))
        match = re.fullmatch(r"\s*(\d*\.?\d+)\s*(in|cm|mm|pt)?\s*", text)
        if match is None:
            raise ValueError(
                f"expected single, double, or a width such as 3.5 or 8.5cm, found {describe(width)}"
            )
        inches = float(match[1]) * INCHES[match[2] or "in"]
        if not NARROWEST <= inches <= WIDEST:
            raise ValueError(
                f"a figure is {NARROWEST:g} to {WIDEST:g} inches wide, found {inches:.3g}"
            )
        return inches

    @field_validator("font")
    @classmethod
    def _installed(cls, font: str) -> str:
        if font in FONTS:
            return font
        from matplotlib.font_manager import fontManager

        names = {*fontManager.get_font_names(), *FONTS}
        if font not in names:
            guess = nearest(font, names)
            hint = f"did you mean '{guess}'?" if guess else "sans and serif are always there"
            raise ValueError(f"there is no font '{font}' here; {hint}")
        return font

    @property
    def inks(self) -> Inks:
        return INKS[self.theme]

    @property
    def is_narrow(self) -> bool:
        """Whether there is room for less beside each other, as in a column of a paper."""
        return self.width < 5

    @property
    def grey(self) -> Look:
        """The look of all algorithms that a figure does not name."""
        return Look(self.inks.rest, self.inks.faint, DASHES[0], ".", "")

    @property
    def small(self) -> float:
        """The size of ticks and labels beside lines."""
        return max(4.0, 0.875 * self.font_size)

    @property
    def line(self) -> float:
        """A line of small text, in inches."""
        return 1.3 * self.small / 72

    def look(self, index: int) -> Look:
        return look(index, self.theme)

    def settings(self) -> Keywords:
        """Matplotlib's parameters: real text in PDF and SVG, no mathematics in names."""
        inks = self.inks
        settings: Keywords = {
            "font.family": [*dict.fromkeys((FONTS.get(self.font, self.font), FONTS["sans"]))],
            "font.size": self.font_size,
            "axes.titlesize": self.font_size,
            "axes.labelcolor": inks.ink,
            "axes.edgecolor": inks.faint,
            "axes.facecolor": inks.paper,
            "axes.titlelocation": "left",
            "axes.titlepad": 3,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.linewidth": 0.6,
            "axes.axisbelow": True,
            "legend.fontsize": self.small,
            "legend.frameon": False,
            "text.parse_math": False,
            "text.color": inks.ink,
            "figure.facecolor": inks.paper,
            "grid.color": inks.grid,
            "grid.linewidth": 0.5,
            "lines.linewidth": 1.4,
            "lines.markersize": 3.5,
            "hatch.linewidth": 0.6,
            "hatch.color": inks.paper,
            "svg.fonttype": "none",
            "svg.hashsalt": "polarbear",
            "pdf.fonttype": 42,
        }
        ticks = {"labelsize": self.small, "color": inks.faint, "labelcolor": inks.ink}
        ticks |= {"major.width": 0.6, "major.size": 2.5, "minor.width": 0.4, "minor.size": 1.5}
        for axis in ("xtick", "ytick"):
            settings |= {f"{axis}.{key}": value for key, value in ticks.items()}
        return settings
