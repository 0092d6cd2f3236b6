"""Records as plain data for JSON, as one line at a prompt, and as a table in a notebook.

Uses no other module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from html import escape
from typing import Any, ClassVar

MAX_ROWS = 20  # of a table in a notebook
TITLES = {"p2bb": "P(best)"}  # of columns whose key says too little
_ASKED = "asked"

Facts = dict[str, Any]


class Record:
    """A result: one line at a prompt, a table in a notebook, the keys of a command's --json.

    ``ROWS`` names the fields whose records are the rows of the table; by default all fields are.
    """

    ROWS: ClassVar[tuple[str, ...]] = ()

    def one_line(self) -> str:
        """The main result, without a full stop."""
        facts = self.to_dict().items()
        return ", ".join(f"{key} {_cell(value)}" for key, value in facts if _is_cell(value))

    def remarks(self) -> list[str]:
        """Lines below the main result: what limits it."""
        return [*getattr(self, "warnings", ()), *getattr(self, "notes", ())]

    def rows(self) -> list[Facts]:
        """The rows of the table."""
        facts = self.to_dict()
        if self.ROWS:
            return [row for name in self.ROWS for row in facts[name]]
        return [{"": name, " ": value} for name, value in facts.items() if _is_cell(value)]

    def to_dict(self) -> Facts:
        """The facts that the command prints with --json."""
        return dict(plain(self))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.one_line()}>"

    def _repr_html_(self) -> str:
        return html_table(self.one_line(), self.rows(), self.remarks())


def html_table(title: str, rows: Sequence[Facts], lines: Sequence[str] = ()) -> str:
    """A table below its title and further lines, cut after MAX_ROWS rows; all text is escaped.

    Its columns are the keys of the rows, without those that are empty or hold collections.
    """

    def line(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"

    names = [
        name
        for name in (rows[0] if rows else ())
        if all(_is_cell(row[name]) for row in rows) and any(_cell(row[name]) for row in rows)
    ]
    titles = [TITLES.get(name, name.replace("_", " ")) for name in names]
    body = [line([_cell(row[name]) for name in names], "td") for row in rows[:MAX_ROWS]]
    more = f"<div>and {len(rows) - MAX_ROWS} more</div>\n" if len(rows) > MAX_ROWS else ""
    return (
        f"<div>{'<br>'.join(map(escape, (title, *lines)))}</div>\n"
        f"<table>\n<thead>{line(titles, 'th')}</thead>\n<tbody>\n"
        + "\n".join(body)
        + f"\n</tbody>\n</table>\n{more}"
    )


def _is_cell(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _cell(value: object) -> str:
    """A value in a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        digits = ",.0f" if abs(value) >= 1e6 else ",.6g" if abs(value) >= 1 else ".4g"
        return f"{value:{digits}}"
    if isinstance(value, int):
        return f"{value:,}"
    return "" if value is None else str(value)


def asked(beside: str | None = None) -> Any:
    """A field of optional results, left out of plain data if it is None.

    A field that may be None among the results names another one ``beside`` it that decides.
    """
    return field(default=None, metadata={_ASKED: beside})


def plain(value: Any) -> Any:
    """Convert a record, or a collection of records, to values that JSON can represent.

    A record may convert itself by a method ``to_plain``. Otherwise, keys are the names of fields,
    without the underscore after a keyword (``from_``), followed by the properties that a class
    lists in ``DERIVED``.
    """
    if hasattr(value, "to_plain"):
        return plain(value.to_plain())
    if is_dataclass(value) and not isinstance(value, type):
        return {name.rstrip("_"): plain(getattr(value, name)) for name in _shown(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def _shown(record: Any) -> list[str]:
    names = []
    for one in fields(record):
        decisive = one.metadata[_ASKED] or one.name if _ASKED in one.metadata else None
        if decisive is None or getattr(record, decisive) is not None:
            names.append(one.name)
    return [*names, *getattr(record, "DERIVED", ())]
