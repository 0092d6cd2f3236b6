"""Templates of the page: whatever is put into one is escaped, and nothing may be left out."""

from __future__ import annotations

from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined

from polarbear.wording import counted


@cache
def templates() -> Environment:
    """The page's templates, with the few words they make by themselves."""
    made = Environment(
        loader=PackageLoader("polarbear.report.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"sentence": sentence, "counted": counted}
    return made


def source(name: str) -> str:
    """A file of the page, as text."""
    return (resources.files("polarbear.report.page") / name).read_text(encoding="utf-8")


def sentence(line: str) -> str:
    """A line with a capital at its beginning and a full stop at its end."""
    line = line[:1].upper() + line[1:]
    return line if line.endswith(".") else f"{line}."
