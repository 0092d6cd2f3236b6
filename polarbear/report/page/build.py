"""Pages as one HTML file: with scripts, without (slim), and of several stores."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markupsafe import Markup

from polarbear import __version__
from polarbear.report.context import ReportContext
from polarbear.report.figures import FIGURES
from polarbear.report.figures.figure_files import rendered, write_text
from polarbear.report.figures.style import Style
from polarbear.report.outline import Block, Chart, Heading
from polarbear.report.page import figure_tables, page_data, sections
from polarbear.report.page.js_bundle import bundle
from polarbear.report.page.packing import json_in_html, squeezed
from polarbear.report.page.sections import Section, log, pareto
from polarbear.report.page.strip import strip
from polarbear.report.page.templating import colours, source, templates
from polarbear.report.stores.comparison_figures import FIGURES_OF_STORES, drawing
from polarbear.report.stores.comparison_story import StoryOfStores
from polarbear.report.stores.differences import Compared
from polarbear.report.story import Story, tell

HEAD = 4096  # bytes within which a page says what wrote it
START = "main.js"  # the module that starts the page
PLOTLY = "plotly/plotly-cartesian.min.js"


@dataclass(frozen=True)
class Script:
    """A script of the page; no other runs there, because the page names their fingerprints."""

    text: Markup

    @property
    def fingerprint(self) -> str:
        digest = hashlib.sha256(self.text.encode()).digest()
        return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def page(context: ReportContext, follows: bool = False, served: str | None = None) -> str:
    """The whole page as text; one that ``follows`` a race loads itself again now and then.

    One that is ``served`` under a name for what it shows asks first whether there is something new.
    """
    story = tell(context)
    content = page_data.of(context)
    shown = figure_tables.of(context)
    content["follows"] = follows
    content["served"] = served
    content["figures"] = {figure.name: figure.table for figure in shown if figure.table}
    # What is marked as markup here is made so that it cannot leave its element; all else is
    # escaped by the templates.
    return (
        templates()
        .get_template("page.html")
        .render(
            version=__version__,
            story=story,
            follows=follows,
            served=served,
            context=context,
            strip=strip(context),
            colours=Markup(colours(context)),
            style=Markup(source("style.css")),
            sections=sections.of(context, story, content, shown),
            data=Markup(json_in_html(content)),
            script=Script(Markup(_own_scripts())),
            # The page answers before it can draw: plotly.js takes a browser a while to read.
            plotly=Script(Markup(source(PLOTLY))),
            squeezed_plotly=Markup(_squeezed_plotly()),
        )
    )


def is_page(path: Path) -> bool:
    """Whether a file is a page that was written here."""
    with path.open("rb") as file:
        return b'name="generator" content="PolarBear ' in file.read(HEAD)


def write_page(
    context: ReportContext,
    path: Path,
    force: bool = False,
    slim: bool = False,
    follows: bool = False,
) -> None:
    """Write the page, as a whole or not at all; over an existing file only by ``force``.

    ``slim`` leaves out all that computes; a page that ``follows`` belongs to a race that goes on.
    """
    write_text(lambda: slim_page(context) if slim else page(context, follows), path, force)


def _own_scripts() -> str:
    return bundle(START, lambda name: source(f"js/{name}"))


@cache
def _squeezed_plotly() -> str:
    """plotly.js with the charts of two axes only, compressed: a ninth of all of it."""
    return squeezed(source(PLOTLY).encode())


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
