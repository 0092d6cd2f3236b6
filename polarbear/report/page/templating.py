"""Templates of the page, which escape all text, and its colours."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from polarbear.report.context import ReportContext
from polarbear.report.figures.style import look
from polarbear.wording import counted

COMMAND = re.compile(r"`((?:polarbear |--)[^`]*)`")  # no other: a name may hold backticks


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
    made.filters |= {"sentence": sentence, "counted": counted, "with_commands": with_commands}
    return made


def source(name: str) -> str:
    """A file of the page, as text."""
    return (resources.files("polarbear.report.page") / name).read_text(encoding="utf-8")


def sentence(line: str) -> Markup:
    """A line with a capital at its beginning and a full stop at its end."""
    line = line[:1].upper() + line[1:]
    return with_commands(line if line.endswith(".") else f"{line}.")


def with_commands(line: str) -> Markup:
    """A line as markup, in which commands and options that stand between backticks look so."""
    return Markup(COMMAND.sub(r"<code>\1</code>", str(escape(line))))


def colours(context: ReportContext) -> str:
    """Style rules that give each algorithm its colour, and one to read, on light and on dark."""
    light, dark = (
        " ".join(
            f"--algorithm-{i}: {look(i, theme).colour}; --ink-{i}: {look(i, theme).text};"
            for i in range(len(context.algorithms))
        )
        for theme in ("light", "dark")
    )
    return (
        f":root {{ {light} }}\n"
        "@media screen and (prefers-color-scheme: dark) "
        f'{{ :root:not([data-theme="light"]) {{ {dark} }} }}\n'
        f'@media screen {{ :root[data-theme="dark"] {{ {dark} }} }}'
    )
