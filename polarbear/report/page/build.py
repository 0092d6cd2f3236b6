"""Pages as one HTML file: with scripts, without (slim), and of several stores."""

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from markupsafe import Markup

from polarbear import __version__
from polarbear.report.context import ReportContext
from polarbear.report.figures import FIGURES
from polarbear.report.figures.base import Figure, Subject
from polarbear.report.figures.figure_files import rendered
from polarbear.report.figures.style import Style, look
from polarbear.report.outline import Block, CharacterChart, Heading
from polarbear.report.page import page_data
from polarbear.report.page.assets import bundle, compressed, json_in_html, source, templates
from polarbear.report.page.sections import figures_in_page, sections, slim_sections, strip
from polarbear.report.stores.comparison_figures import chosen
from polarbear.report.stores.comparison_story import StoryOfStores
from polarbear.report.stores.differences import StoreComparison
from polarbear.report.story import story_of
from polarbear.settings.enumerations import Theme

HEAD = 4096  # bytes within which a page says what wrote it
START = "main.js"  # the module that starts the page
PLOTLY = "plotly/plotly-cartesian.min.js"
FOR_PAPER = "key-rounds"  # as large as four others
DIGITS = re.compile(r"(\.\d\d)\d+")  # more digits than a screen shows of a coordinate
COORDINATES = re.compile(r' (?:d|x|y|points|transform)="[^"]*"')


def page(context: ReportContext, follows: bool = False, served: str | None = None) -> str:
    """The whole page as text; one that ``follows`` a race loads itself again regularly.

    One that is ``served`` under a name for what it shows asks first whether there is something new.
    """
    story = story_of(context)
    figures = figures_in_page(context)
    content = page_data.of(context) | {
        "follows": follows,
        "served": served,
        "figures": {name: figure.content for name, figure in figures.items() if figure.content},
    }
    script = bundle(START, lambda name: source(f"js/{name}"))
    # Markup is safe here: JSON cannot leave its element, the scripts are the package's.
    return _of_a_store(
        "page.html",
        context,
        sections=sections(context, story, content, figures),
        follows=follows,
        served=served,
        data=Markup(json_in_html(content)),
        script=Markup(script),
        # The page answers before it can draw: plotly.js takes a browser a while to read.
        compressed_plotly=Markup(_compressed_plotly()),
        fingerprints=[_fingerprint(script), _fingerprint(source(PLOTLY))],
    )


def _fingerprint(script: str) -> str:
    """The hash of a script, as a Content-Security-Policy names it: no other script runs."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


@cache
def _compressed_plotly() -> str:
    """plotly.js with the charts of two axes only: a ninth of all of it."""
    return compressed(source(PLOTLY).encode())


def _of_a_store(template: str, context: ReportContext, **content: object) -> str:
    indices = range(len(context.algorithms))
    looks = {
        theme: [look(index, theme) for index in indices] for theme in (Theme.LIGHT, Theme.DARK)
    }
    of_store = {
        "story": story_of(context),
        "context": context,
        "strip": strip(context),
        "looks": looks,
    }
    return _filled(template, **of_store, **content)


def _filled(template: str, **content: object) -> str:
    style = Markup(source("style.css"))
    return templates().get_template(template).render(version=__version__, style=style, **content)


def is_page(path: Path) -> bool:
    """Whether a file is a page that PolarBear wrote."""
    with path.open("rb") as file:
        return b'name="generator" content="PolarBear ' in file.read(HEAD)


def slim_page(context: ReportContext) -> str:
    """The whole page as text, without scripts: figures are drawings."""
    drawings = [
        _drawing(figure, context)
        for name, figure in FIGURES.items()
        if name != FOR_PAPER and figure.missing(context) is None
    ]
    return _of_a_store(
        "slim.html", context, sections=slim_sections(context, story_of(context), drawings)
    )


def _drawing(figure: Figure[Subject], subject: Subject) -> dict[str, str]:
    """A figure as an SVG element, without a prologue, names of groups and needless digits."""
    style = Style(font_size=9)
    svg = rendered(figure, figure.data(subject), subject, style, "svg").decode("utf-8")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    svg = re.sub(r">\s+<", "><", svg).strip()
    svg = COORDINATES.sub(lambda attribute: DIGITS.sub(r"\1", attribute[0]), svg)
    # Markup is safe here: matplotlib has escaped all names.
    return {"title": figure.title, "caption": figure.caption(subject), "svg": Markup(svg)}


def page_of_stores(comparison: StoreComparison, story: StoryOfStores) -> str:
    """The page of several stores as text."""
    return _filled(
        "stores.html",
        story=story,
        drawings=[_drawing(figure, comparison) for figure in chosen(comparison)],
        sections=_by_heading(story.blocks),
        context=None,
        strip=None,
        looks=None,
    )


def _by_heading(blocks: Sequence[Block]) -> list[tuple[str, list[tuple[str, Block]]]]:
    """Blocks under their headings, each with its kind; drawings stand for charts of characters."""
    parts: list[tuple[str, list[tuple[str, Block]]]] = []
    for block in blocks:
        if isinstance(block, Heading):
            parts.append((block.text, []))
        elif not isinstance(block, CharacterChart):
            parts[-1][1].append((type(block).__name__, block))
    return [section for section in parts if section[1]]
