"""The report as plain text, for terminals and logs, and as Markdown, for pull requests."""

from __future__ import annotations

import re
import textwrap

from rich.cells import cell_len

from polarbear.report.outline import Block, Bullets, Chart, Heading, Paragraph, Table
from polarbear.report.words import Name, plain
from polarbear.wording import visible

MAX_NAME = 28  # characters of a name in a table or chart


def as_text(blocks: list[Block], width: int = 100) -> str:
    """All blocks, wrapped to a width; of tables only the last column is wrapped."""
    made = []
    for block in blocks:
        made += [*_lines(block, width), ""]
    return "\n".join(made).rstrip() + "\n"


def short(name: str, longest: int = MAX_NAME) -> str:
    """A name cut to the width of a column."""
    name = visible(name)
    return name if len(name) <= longest else name[: longest - 1] + "…"


def _lines(block: Block, width: int) -> list[str]:
    match block:
        case Heading(text):
            shown = visible(text)
            return [shown, "=" * cell_len(shown)]
        case Paragraph(text):
            return textwrap.wrap(visible(plain(text)), width)
        case Bullets(lines):
            return [line for name, rest in lines for line in _bullet(name, rest, width)]
        case Table():
            return _table(block, width)
        case Chart():
            return _chart(block)


def _bullet(name: str, rest: str, width: int) -> list[str]:
    text = f"{short(name, 60)}: {visible(rest)}" if name else visible(rest)
    return textwrap.wrap(
        text, width, initial_indent="- ", subsequent_indent="  ", break_long_words=False
    )


def _padded(text: str, width: int, right: bool = False) -> str:
    space = " " * max(0, width - cell_len(text))
    return space + text if right else text + space


def _table(table: Table, width: int) -> list[str]:
    right = [title.endswith("#") for title in table.columns]
    titles = [short(title.removesuffix("#")) for title in table.columns]
    last = len(titles) - 1
    rows = [
        [visible(cell) if column == last else short(cell) for column, cell in enumerate(row)]
        for row in table.rows
    ]
    if rows and not right[last]:
        before = [max(map(cell_len, column)) + 2 for column in zip(titles, *rows, strict=True)][
            :last
        ]
        rows = _with_last_wrapped(rows, max(MAX_NAME, width - sum(before)))
    widths = [max(map(cell_len, column)) for column in zip(titles, *rows, strict=True)]
    made = [
        "  ".join(_padded(*cell) for cell in zip(row, widths, right, strict=True)).rstrip()
        for row in (titles, *rows)
    ]
    return [made[0], "  ".join("-" * width for width in widths), *made[1:]]


def _with_last_wrapped(rows: list[list[str]], width: int) -> list[list[str]]:
    """Rows whose last cell continues in further rows where it is too wide."""
    made = []
    for *first, text in rows:
        lines = textwrap.wrap(text, width) or [""]
        made.append([*first, lines[0]])
        made += [[*[""] * len(first), line] for line in lines[1:]]
    return made


def _chart(chart: Chart) -> list[str]:
    names = [short(name) for name, _, _ in chart.rows]
    first = max(map(cell_len, names), default=0)
    middle = max((len(drawn) for _, drawn, _ in chart.rows), default=0)
    made = [
        f"{_padded(name, first)}  {drawn:<{middle}}  {visible(remark)}".rstrip()
        for name, (_, drawn, remark) in zip(names, chart.rows, strict=True)
    ]
    return [*made, " " * (first + 2) + chart.below] if chart.below else made


def as_markdown(blocks: list[Block]) -> str:
    """All blocks; the first heading is the title."""
    made, headings = [], 0
    for block in blocks:
        headings += isinstance(block, Heading)
        made += [*_markdown(block, "#" if headings == 1 else "##"), ""]
    return "\n".join(made).rstrip() + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows unchanged: no markup, link, mention or tag."""
    return _prose(text).replace("`", "\\`").replace("#", "\\#")


def _prose(text: str) -> str:
    """Escaped text in which backticks still mark code."""
    return re.sub(r"([\\*_\[\]<>|~$@])", r"\\\1", visible(text)).replace("&", "&amp;")


def _part(part: str | Name) -> str:
    return f"**{escaped(part.name)}**" if isinstance(part, Name) else _prose(part)


def _markdown(block: Block, level: str) -> list[str]:
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
            drawn = as_text([block]).rstrip("\n").replace("```", "'''")  # must not close its fence
            return ["```text", drawn, "```"]


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
