"""How figures look: theme, size for a column of a paper, and how names are shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, field_validator

from polarbear.report.drawing.labels import fitted
from polarbear.report.drawing.palette import INKS, Inks, Look, Theme, look
from polarbear.settings.options import Options, describe, nearest

COLUMNS = {"single": 3.5, "double": 7.16}
FONTS = {"sans": "DejaVu Sans", "serif": "STIXGeneral"}  # that come with Matplotlib
INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
NARROWEST, WIDEST = 2.0, 40.0


class Style(Options):
    """What a reader may set about figures."""

    theme: Theme = Field("light", description="light, dark, or print (safe in shades of grey)")
    width: float = Field(
        COLUMNS["double"],
        description="inches, or with a unit: 8.5cm; or a paper's column: single, double",
    )
    font_size: float = Field(8.0, ge=4, le=30, description="points")
    font: str = Field("sans", description="sans, serif, or the name of a font that is installed")
    log_time: bool | None = Field(
        None, description="time on a log or a linear axis; as the grid is spaced where not said"
    )
    titles: bool = Field(False, description="whether figures carry their title")
    dpi: int = Field(200, ge=30, le=1200, description="dots per inch of PNG files")

    @field_validator("width", mode="before")
    @classmethod
    def _in_inches(cls, width: Any) -> Any:
        found = COLUMNS.get(width) if isinstance(width, str) else width
        if found is None and isinstance(width, str):
            match = re.fullmatch(r"\s*([0-9.]+)\s*(in|cm|mm|pt)?\s*", width)
            try:
                found = float(match[1]) * INCHES[match[2] or "in"] if match else None
            except ValueError:
                found = None
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise ValueError(
                f"expected single, double, or a width such as 3.5 or 8.5cm, found {describe(width)}"
            )
        if not NARROWEST <= found <= WIDEST:
            raise ValueError(
                f"a figure is {NARROWEST:g} to {WIDEST:g} inches wide, found {found:.3g}"
            )
        return float(found)

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
    def small(self) -> float:
        """The size of ticks and labels beside lines."""
        return max(4.0, 0.875 * self.font_size)

    @property
    def line(self) -> float:
        """A line of small text, in inches."""
        return 1.3 * self.small / 72

    def look(self, index: int) -> Look:
        return look(index, self.theme)

    def names(
        self, labels: Mapping[str, str], names: Sequence[str], share: float = 0.22
    ) -> dict[str, str]:
        """The labels of some, cut further where they would take more than this share of the width.

        ``labels`` has those of all algorithms.
        """
        letters = int(share * self.width * 72 / (0.6 * self.small))
        return fitted(labels, names, max(letters, 6))

    def settings(self) -> dict[str, Any]:
        """Matplotlib's parameters: real text in PDF and SVG, no mathematics in names."""
        inks = self.inks
        return {
            "font.family": [*dict.fromkeys((FONTS.get(self.font, self.font), FONTS["sans"]))],
            "font.size": self.font_size,
            "axes.titlesize": self.font_size,
            "axes.labelsize": self.font_size,
            "xtick.labelsize": self.small,
            "ytick.labelsize": self.small,
            "legend.fontsize": self.small,
            "legend.frameon": False,
            "text.parse_math": False,
            "text.color": inks.ink,
            "axes.labelcolor": inks.ink,
            "axes.edgecolor": inks.faint,
            "axes.facecolor": inks.paper,
            "axes.titlelocation": "left",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.linewidth": 0.6,
            "axes.axisbelow": True,
            "axes.unicode_minus": False,
            "figure.facecolor": inks.paper,
            "savefig.facecolor": inks.paper,
            "figure.dpi": self.dpi,
            "savefig.dpi": self.dpi,
            "grid.color": inks.grid,
            "grid.linewidth": 0.5,
            "xtick.color": inks.faint,
            "ytick.color": inks.faint,
            "xtick.labelcolor": inks.ink,
            "ytick.labelcolor": inks.ink,
            "xtick.major.width": 0.6,
            "ytick.major.width": 0.6,
            "xtick.minor.width": 0.4,
            "xtick.major.size": 2.5,
            "ytick.major.size": 2.5,
            "xtick.minor.size": 1.5,
            "lines.linewidth": 1.4,
            "lines.markersize": 3.5,
            "hatch.linewidth": 0.6,
            "hatch.color": inks.paper,
            "svg.fonttype": "none",
            "svg.hashsalt": "polarbear",
            "pdf.fonttype": 42,
            "figure.constrained_layout.use": False,
        }


Format = Literal["png", "pdf", "svg"]
FORMATS: tuple[Format, ...] = ("png", "pdf", "svg")
