"""The page without anything that computes: words, and figures as drawings inside it.

It has no script and no draws, so it is small enough to keep with every run of a pipeline.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from markupsafe import Markup

from polarbear import __version__
from polarbear.report.drawing.files import rendered
from polarbear.report.drawing.style import Style
from polarbear.report.figures import FIGURES
from polarbear.report.material import Material
from polarbear.report.page.colours import colours
from polarbear.report.page.sections import Section, log, pareto
from polarbear.report.page.strip import strip
from polarbear.report.page.templating import source, templates
from polarbear.report.story import Story, tell

FOR_PAPER = "key-rounds"  # as heavy as four others: whoever wants it asks for the figure
DIGITS = re.compile(r"(\.\d\d)\d+")  # more digits than a screen shows of a coordinate
COORDINATES = re.compile(r' (?:d|x|y|points|transform)="[^"]*"')


def slim_page(material: Material) -> str:
    """The whole page as text."""
    story = tell(material)
    return (
        templates()
        .get_template("slim.html")
        .render(
            version=__version__,
            story=story,
            material=material,
            strip=strip(material),
            colours=Markup(colours(material)),
            style=Markup(source("style.css")),
            sections=_sections(material, story),
        )
    )


def _sections(material: Material, story: Story) -> list[Section]:
    figures = [_drawing(material, name) for name in FIGURES if name != FOR_PAPER]
    shown = {"drawings": [figure for figure in figures if figure is not None]}
    made = [
        pareto(material, story),
        Section("figures", "Figures", "drawings", shown) if shown["drawings"] else None,
        log(story),
        Section("method", "How to repeat it", "method", {"settings": story.settings}),
    ]
    return [section for section in made if section is not None]


def _drawing(material: Material, name: str) -> Mapping[str, object] | None:
    figure = FIGURES[name]
    if figure.missing(material) is not None:
        return None
    data = figure.data(material)
    if data.is_empty():
        return None
    svg = rendered(figure, data, material, Style(font_size=9), "svg").decode("utf-8")
    return {
        "title": figure.title,
        "caption": figure.caption(material),
        "svg": Markup(in_html(svg)),  # matplotlib has escaped all names in it
    }


def in_html(svg: str) -> str:
    """A drawing as an element of a page: no prologue, no names of groups, no idle digits."""
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    svg = re.sub(r">\s+<", "><", svg).strip()
    return COORDINATES.sub(lambda found: DIGITS.sub(r"\1", found[0]), svg)
