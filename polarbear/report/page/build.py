"""Pages as one HTML file: with scripts, without (slim), and of several stores."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import polars as pl
from markupsafe import Markup

from polarbear import __version__
from polarbear.report.context import ReportContext
from polarbear.report.figures import FIGURES
from polarbear.report.figures.base import Figure, Subject
from polarbear.report.figures.figure_files import rendered, write_text
from polarbear.report.figures.style import Style
from polarbear.report.outline import Block, Chart, Heading
from polarbear.report.page import figure_tables, page_data, sections
from polarbear.report.page.js_bundle import bundle
from polarbear.report.page.packing import json_in_html, squeezed
from polarbear.report.page.sections import Section
from polarbear.report.page.strip import strip
from polarbear.report.page.templating import colours, source, templates
from polarbear.report.stores.comparison_figures import chosen
from polarbear.report.stores.comparison_story import StoryOfStores
from polarbear.report.stores.differences import Compared
from polarbear.report.story import tell

HEAD = 4096  # bytes within which a page says what wrote it
START = "main.js"  # the module that starts the page
PLOTLY = "plotly/plotly-cartesian.min.js"


def page(context: ReportContext, follows: bool = False, served: str | None = None) -> str:
    """The whole page as text; one that ``follows`` a race loads itself again now and then.

    One that is ``served`` under a name for what it shows asks first whether there is something new.
    """
    content = page_data.of(context)
    shown = figure_tables.of(context)
    content |= {"follows": follows, "served": served}
    content["figures"] = {figure.name: figure.table for figure in shown if figure.table}
    script = bundle(START, lambda name: source(f"js/{name}"))
    # Markup is safe here: JSON cannot leave its element, the scripts are the package's.
    return _of_a_store(
        "page.html",
        context,
        sections.of(context, tell(context), content, shown),
        follows=follows,
        served=served,
        data=Markup(json_in_html(content)),
        script=Markup(script),
        # The page answers before it can draw: plotly.js takes a browser a while to read.
        squeezed_plotly=Markup(_squeezed_plotly()),
        fingerprints=[_fingerprint(script), _fingerprint(source(PLOTLY))],
    )


def _fingerprint(script: str) -> str:
    """The hash of a script, as a Content-Security-Policy names it: no other script runs."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


@cache
def _squeezed_plotly() -> str:
    """plotly.js with the charts of two axes only, compressed: a ninth of all of it."""
    return squeezed(source(PLOTLY).encode())


def _of_a_store(
    template: str, context: ReportContext, shown: Sequence[Section], **more: object
) -> str:
    return _filled(
        template,
        story=tell(context),
        context=context,
        strip=strip(context),
        colours=Markup(colours(context)),
        sections=shown,
        **more,
    )


def _filled(template: str, **content: object) -> str:
    style = Markup(source("style.css"))
    return templates().get_template(template).render(version=__version__, style=style, **content)


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


FOR_PAPER = "key-rounds"  # as large as four others
DIGITS = re.compile(r"(\.\d\d)\d+")  # more digits than a screen shows of a coordinate
COORDINATES = re.compile(r' (?:d|x|y|points|transform)="[^"]*"')


def slim_page(context: ReportContext) -> str:
    """The whole page as text, without scripts: figures are drawings."""
    drawings = []
    for name, figure in FIGURES.items():
        if name != FOR_PAPER and figure.missing(context) is None:
            data = figure.data(context)
            if not data.is_empty():
                drawings.append(_drawing(figure, data, context))
    return _of_a_store("slim.html", context, sections.of_slim(context, tell(context), drawings))


def _drawing(figure: Figure[Subject], data: pl.DataFrame, subject: Subject) -> dict[str, str]:
    svg = rendered(figure, data, subject, Style(font_size=9), "svg").decode("utf-8")
    return {
        "title": figure.title,
        "caption": figure.caption(subject),
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
    figures = chosen(found)
    drawings = [_drawing(figure, figure.data(found), found) for figure in figures]
    shown = _by_heading(story.blocks)
    return _filled("stores.html", story=story, drawings=drawings, sections=shown)


def _by_heading(blocks: Sequence[Block]) -> list[tuple[str, list[tuple[str, Block]]]]:
    """Blocks under their headings, each with its kind; charts of characters are drawings here."""
    made: list[tuple[str, list[tuple[str, Block]]]] = []
    for block in blocks:
        if isinstance(block, Heading):
            made.append((block.text, []))
        elif not isinstance(block, Chart):
            made[-1][1].append((type(block).__name__, block))
    return [section for section in made if section[1]]
