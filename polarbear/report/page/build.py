"""The page put together: one file with everything in it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markupsafe import Markup

from polarbear import __version__
from polarbear.errors import ReportError, StoreError
from polarbear.report.material import Material
from polarbear.report.page import data, figures, sections
from polarbear.report.page.colours import colours
from polarbear.report.page.modules import bundle
from polarbear.report.page.packing import json_in_html, squeezed
from polarbear.report.page.slim import slim_page
from polarbear.report.page.strip import strip
from polarbear.report.page.templating import source, templates
from polarbear.report.story import tell
from polarbear.store import files

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


def page(material: Material, follows: bool = False, served: str | None = None) -> str:
    """The whole page as text; one that ``follows`` a race loads itself again now and then.

    One that is ``served`` under a name for what it shows asks first whether there is something new.
    """
    story = tell(material)
    content = data.of(material)
    shown = figures.of(material)
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
            material=material,
            strip=strip(material),
            colours=Markup(colours(material)),
            style=Markup(source("style.css")),
            sections=sections.of(material, story, content, shown),
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
    material: Material,
    path: Path,
    force: bool = False,
    slim: bool = False,
    follows: bool = False,
) -> None:
    """Write the page, as a whole or not at all; over an existing file only by ``force``.

    ``slim`` leaves out all that computes; a page that ``follows`` belongs to a race that goes on.
    """
    write_text(lambda: slim_page(material) if slim else page(material, follows), path, force)


def write_text(made: Callable[[], str], path: Path, force: bool) -> None:
    """Write a page that is made if there is a place for it."""
    if path.is_dir():
        raise ReportError(f"{path} is a folder; name a file to write the page to")
    if path.exists() and not force:
        raise ReportError(f"{path} exists; --force writes over it, or choose another file")
    if not path.parent.is_dir():
        raise ReportError(
            f"there is no folder {path.parent} to write {path.name} in; make it first"
        )
    text = made().encode("utf-8", "replace")
    try:
        files.write_whole(path, text)
    except StoreError as error:
        raise ReportError(f"cannot write {path}: {error.__cause__ or error}") from error


def _own_scripts() -> str:
    return bundle(START, lambda name: source(f"js/{name}"))


@cache
def _squeezed_plotly() -> str:
    """plotly.js with the charts of two axes only, compressed: a ninth of all of it."""
    return squeezed(source(PLOTLY).encode())
