"""A report as plain text."""

import textwrap

from rich.cells import cell_len

from polarbear.api.text_table import table_lines
from polarbear.report.figures.short_names import shortened
from polarbear.report.outline import (
    Block,
    Bullets,
    CharacterChart,
    Heading,
    Paragraph,
    Table,
    chart_lines,
)
from polarbear.report.words import without_marks
from polarbear.wording import visible

MAX_BULLET_NAME = 60  # characters


def as_text(blocks: list[Block], width: int = 100) -> str:
    """Blocks as plain text, wrapped to a width; a table whose last column has numbers is not."""
    return "\n\n".join("\n".join(_lines(block, width)) for block in blocks) + "\n"


def _lines(block: Block, width: int) -> list[str]:
    match block:
        case Heading(text):
            heading = visible(text)
            return [heading, "=" * cell_len(heading)]
        case Paragraph(text):
            return textwrap.wrap(visible(without_marks(text)), width)
        case Bullets(lines):
            texts = [
                f"{shortened(name, MAX_BULLET_NAME)}: {rest}" if name else rest
                for name, rest in lines
            ]
            wrap = textwrap.TextWrapper(width, "- ", "  ", break_long_words=False)
            return [line for text in texts for line in wrap.wrap(visible(text))]
        case Table(columns, rows):
            is_numeric = columns[-1].endswith("#")
            return table_lines(columns, rows, None if is_numeric else width)[1:-1]
        case CharacterChart():
            return chart_lines(block)
