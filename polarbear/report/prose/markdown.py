"""The report as Markdown, for a pull request or a wiki."""

from __future__ import annotations

import re

from polarbear.report.prose.outline import Block, Bullets, Chart, Heading, Paragraph, Table
from polarbear.report.prose.sentence import Name
from polarbear.report.prose.text import as_text
from polarbear.wording import visible


def as_markdown(blocks: list[Block]) -> str:
    """All blocks; the first heading is the title, the others stand below it."""
    made, headings = [], 0
    for block in blocks:
        headings += isinstance(block, Heading)
        made += [*_lines(block, "#" if headings == 1 else "##"), ""]
    return "\n".join(made).rstrip() + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is: no markup, link, mention or tag comes of it."""
    return _prose(text).replace("`", "\\`").replace("#", "\\#")


def _prose(text: str) -> str:
    """Sentences of ours with names in them; what they put between backticks stays code."""
    return re.sub(r"([\\*_\[\]<>|~$@])", r"\\\1", visible(text)).replace("&", "&amp;")


def _part(part: str | Name) -> str:
    return f"**{escaped(part.name)}**" if isinstance(part, Name) else _prose(part)


def _lines(block: Block, level: str) -> list[str]:
    match block:
        case Heading(text):
            return [f"{level} {escaped(text)}"]
        case Paragraph(text):
            return ["".join(_part(part) for part in text)]
        case Bullets(lines):
            return [
                f"- **{escaped(name)}**: {_prose(rest)}" if name else f"- {_prose(rest)}"
                for name, rest in lines
            ]
        case Table(columns, rows):
            titles = [escaped(title.removesuffix("#")) for title in columns]
            rule = ["---:" if title.endswith("#") else "---" for title in columns]
            return [_row(titles), _row(rule), *(_row([_prose(c) for c in row]) for row in rows)]
        case Chart():
            drawn = as_text([block]).rstrip("\n").replace("```", "'''")  # nor closes its fence
            return ["```text", drawn, "```"]


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
