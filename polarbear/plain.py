"""Records as plain data for JSON, as one line at a prompt, and as a table in a notebook.

Uses no other module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from html import escape
from typing import Any

MAX_ROWS = 20  # of a table in a notebook
_ASKED = "asked"


class Record(ABC):
    """A result that is one line at a prompt; its fields are the keys of a command's --json."""

    @abstractmethod
    def one_line(self) -> str:
        """The main result, without a full stop."""

    def to_dict(self) -> dict[str, Any]:
        """The facts that the command prints with --json."""
        return dict(plain(self))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.one_line()}>"


def html_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    lines: Sequence[str] = (),
) -> str:
    """A table below its title and further lines, cut after MAX_ROWS rows; all text is escaped."""

    def row(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"

    rows = list(rows)
    more = f"<div>and {len(rows) - MAX_ROWS} more</div>\n" if len(rows) > MAX_ROWS else ""
    return (
        f"<div>{'<br>'.join(map(escape, (title, *lines)))}</div>\n"
        f"<table>\n<thead>{row(columns, 'th')}</thead>\n<tbody>\n"
        + "\n".join(row(cells, "td") for cells in rows[:MAX_ROWS])
        + f"\n</tbody>\n</table>\n{more}"
    )


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
