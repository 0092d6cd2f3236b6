"""The page put together: one file with everything in it."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markupsafe import Markup

from polarbear import __version__
from polarbear.report.context import ReportContext
from polarbear.report.drawing.files import write_text
from polarbear.report.page import figure_tables, page_data, sections
from polarbear.report.page.js_bundle import bundle
from polarbear.report.page.packing import json_in_html, squeezed
from polarbear.report.page.static_page import slim_page
from polarbear.report.page.strip import strip
from polarbear.report.page.templating import colours, source, templates
from polarbear.report.story import tell

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
