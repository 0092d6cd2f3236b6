"""Pages without scripts: text, and figures as inline SVG. They are small enough to keep."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from polarbear import __version__
from polarbear.report.context import ReportContext
from polarbear.report.drawing.files import rendered, write_text
from polarbear.report.drawing.style import Style
from polarbear.report.figures import FIGURES
from polarbear.report.page.sections import Section, log, pareto
from polarbear.report.page.strip import strip
from polarbear.report.page.templating import colours, source, templates
from polarbear.report.prose.outline import Block, Chart, Heading
from polarbear.report.stores.comparison_figures import FIGURES_OF_STORES, drawing
from polarbear.report.stores.comparison_story import StoryOfStores
from polarbear.report.stores.differences import Compared
from polarbear.report.story import Story, tell

FOR_PAPER = "key-rounds"  # as large as four others
DIGITS = re.compile(r"(\.\d\d)\d+")  # more digits than a screen shows of a coordinate
COORDINATES = re.compile(r' (?:d|x|y|points|transform)="[^"]*"')


def slim_page(context: ReportContext) -> str:
    """The whole page as text."""
    story = tell(context)
    return (
        templates()
        .get_template("slim.html")
        .render(
            version=__version__,
            story=story,
            context=context,
            strip=strip(context),
            colours=Markup(colours(context)),
            style=Markup(source("style.css")),
            sections=_sections(context, story),
        )
    )


def _sections(context: ReportContext, story: Story) -> list[Section]:
    figures = [_drawing(context, name) for name in FIGURES if name != FOR_PAPER]
    shown = {"drawings": [figure for figure in figures if figure is not None]}
    made = [
        pareto(context, story),
        Section("figures", "Figures", "drawings", shown) if shown["drawings"] else None,
        log(story),
        Section("method", "How to repeat it", "method", {"settings": story.settings}),
    ]
    return [section for section in made if section is not None]


def _drawing(context: ReportContext, name: str) -> Mapping[str, object] | None:
    figure = FIGURES[name]
    if figure.missing(context) is not None:
        return None
    data = figure.data(context)
    if data.is_empty():
        return None
    svg = rendered(figure, data, context, Style(font_size=9), "svg").decode("utf-8")
    return {
        "title": figure.title,
        "caption": figure.caption(context),
        "svg": Markup(in_html(svg)),  # matplotlib has escaped all names in it
    }


def in_html(svg: str) -> str:
    """A drawing as an element of a page: no prologue, no names of groups, no idle digits."""
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    svg = re.sub(r">\s+<", "><", svg).strip()
    return COORDINATES.sub(lambda found: DIGITS.sub(r"\1", found[0]), svg)


def write_page_of_stores(
    found: Compared, story: StoryOfStores, path: Path, force: bool = False
) -> None:
    """Write the page, as a whole or not at all; over an existing file only by ``force``."""
    write_text(lambda: page_of_stores(found, story), path, force)


def page_of_stores(found: Compared, story: StoryOfStores) -> str:
    """The whole page as text."""
    style = Style(font_size=9)
    drawings = [
        {
            "title": figure.title,
            "caption": figure.caption(found),
            # matplotlib has escaped all names in it
            "svg": Markup(in_html(drawing(figure, found, style, "svg").decode("utf-8"))),
        }
        for figure in FIGURES_OF_STORES.values()
    ]
    return (
        templates()
        .get_template("stores.html")
        .render(
            version=__version__,
            story=story,
            style=Markup(source("style.css")),
            drawings=drawings,
            sections=_by_heading(story.blocks),
        )
    )


def _by_heading(blocks: Sequence[Block]) -> list[tuple[str, list[tuple[str, Block]]]]:
    """Blocks under their headings, each with its kind; charts of characters are drawings here."""
    made: list[tuple[str, list[tuple[str, Block]]]] = []
    for block in blocks:
        if isinstance(block, Heading):
            made.append((block.text, []))
        elif not isinstance(block, Chart):
            made[-1][1].append((type(block).__name__, block))
    return [section for section in made if section[1]]
