"""The page put together: one file with everything in it."""

from __future__ import annotations

import re
from html import escape
from importlib import resources
from pathlib import Path

from polarbear import __version__
from polarbear.errors import ReportError, StoreError
from polarbear.report.material import Material
from polarbear.report.page import data, figures, sections
from polarbear.report.page.colours import colours
from polarbear.report.page.packing import json_in_html
from polarbear.report.story import tell
from polarbear.store import files

# In this order: later ones use what earlier ones define, and the last one starts the page.
SCRIPTS = (
    "numbers",
    "dom",
    "preferences",
    "choosing",
    "charts",
    "tables",
    "controls",
    "answer",
    "selector",
    "rounds",
    "figures",
    "rowpanels",
    "drawings/matrix",
    "drawings/pairs",
    "drawings/evolution",
    "drawings/values",
    "drawings/allocation",
    "drawings/curves",
    "drawings/attainment",
    "drawings/trust",
    "main",
)
PLACE = re.compile(r"\{\{(\w+)\}\}")


def page(material: Material) -> str:
    """The whole page as text."""
    story = tell(material)
    content = data.of(material)
    shown = figures.of(material)
    content["figures"] = {figure.name: figure.table for figure in shown if figure.table}
    made = sections.of(material, story, content, shown)
    filled = {
        "version": escape(__version__),
        "title": escape(f"{story.title} · PolarBear"),
        "name": escape(story.title),
        "colours": colours(material),
        "style": _source("style.css"),
        "answer": sections.answer(story),
        "warnings": sections.warnings(story),
        "contents": "".join(section.link for section in made),
        "sections": "\n".join(section.markup for section in made),
        "data": json_in_html(content),
        "plotly": _plotly(),
        "scripts": "\n".join(_source(f"js/{name}.js") for name in SCRIPTS),
    }
    return PLACE.sub(lambda place: filled[place[1]], _source("template.html"))


def write_page(material: Material, path: Path, force: bool = False) -> None:
    """Write the page, as a whole or not at all; over an existing file only by ``force``."""
    if path.is_dir():
        raise ReportError(f"{path} is a folder; name a file to write the page to")
    if path.exists() and not force:
        raise ReportError(f"{path} exists; --force writes over it, or choose another file")
    if not path.parent.is_dir():
        raise ReportError(
            f"there is no folder {path.parent} to write {path.name} in; make it first"
        )
    text = page(material).encode("utf-8", "replace")
    try:
        files.write_whole(path, text)
    except StoreError as error:
        raise ReportError(f"cannot write {path}: {error.__cause__ or error}") from error


def _source(name: str) -> str:
    return (resources.files("polarbear.report.page") / name).read_text(encoding="utf-8")


def _plotly() -> str:
    """plotly.js as its Python package ships it; the package itself is not imported."""
    try:
        shipped = resources.files("plotly") / "package_data" / "plotly.min.js"
        text = shipped.read_text(encoding="utf-8")
    except (ModuleNotFoundError, OSError) as error:
        raise ReportError(
            f"plotly.min.js, which draws the page, was not found ({error}): install the Python "
            "package 'plotly'"
        ) from None
    return text.replace("</script", "<\\/script")
