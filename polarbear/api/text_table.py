"""Tables and long lines as text, in the width of a terminal."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from polarbear.wording import visible

UNLIMITED = 10**6  # columns

TableText = tuple[list[str], list[list[str]]]  # titles and rows


def table_lines(
    titles: Sequence[str], rows: Iterable[Sequence[str]], columns: int | None = None
) -> list[str]:
    """Titles, a rule and rows between empty lines, in at most ``columns`` columns of text.

    A column whose title ends in '#' is aligned to the right.
    """
    shape = str(box.SIMPLE_HEAD) if is_unicode() else str(box.SIMPLE_HEAD).replace("─", "-")
    table = Table(box=box.Box(shape, ascii=True), pad_edge=False)  # rich does not replace the rule
    for title in titles:
        table.add_column(
            _text(title.removesuffix("#")),
            justify="right" if title.endswith("#") else "left",
            overflow="fold",
        )
    for row in rows:
        table.add_row(*map(_text, row))
    console = Console(width=columns or UNLIMITED, color_system=None)
    lines = console.render_lines(table, pad=False)
    return ["".join(part.text for part in line).rstrip() for line in lines]


def folded(texts: Iterable[str], columns: int | None = None) -> list[str]:
    """Texts in lines of at most ``columns`` characters, broken between words."""
    lines = [line for text in texts for line in visible(text, keep="\n").split("\n")]
    if columns is None:
        return lines
    console = Console(width=columns)
    return [part.plain.rstrip() for line in lines for part in Text(line).wrap(console, columns)]


def is_unicode() -> bool:
    """Whether standard output can encode Unicode, as far as that is known."""
    return not Console().options.ascii_only


def _text(cell: str) -> Text:
    return Text(visible(cell))
