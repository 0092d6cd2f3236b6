"""The page of several stores: words, tables and drawings, without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from polarbear import __version__
from polarbear.report.drawing.style import Style
from polarbear.report.page.build import write_text
from polarbear.report.page.slim import in_html
from polarbear.report.page.templating import source, templates
from polarbear.report.prose.outline import Block, Chart, Heading
from polarbear.report.stores.differences import Compared
from polarbear.report.stores.figures import FIGURES_OF_STORES
from polarbear.report.stores.files import drawing
from polarbear.report.stores.story import StoryOfStores


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
            sections=_sections(story.blocks),
        )
    )


def _sections(blocks: Sequence[Block]) -> list[tuple[str, list[tuple[str, Block]]]]:
    """Blocks under their headings, each with its kind; charts of characters are drawings here."""
    made: list[tuple[str, list[tuple[str, Block]]]] = []
    for block in blocks:
        if isinstance(block, Heading):
            made.append((block.text, []))
        elif not isinstance(block, Chart):
            made[-1][1].append((type(block).__name__, block))
    return [section for section in made if section[1]]
