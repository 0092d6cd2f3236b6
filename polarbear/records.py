"""Records of results: as values of JSON, as one line at a prompt, as a table in a notebook.

Uses no other module.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from html import escape
from typing import Any, ClassVar

MAX_ROWS = 20  # of a table in a notebook
TITLES = {"p2bb": "P(best)"}  # of columns whose key says too little

Facts = dict[str, Any]


class Record:
    """A result: one line at a prompt, a table in a notebook, the keys of a command's --json.

    ``ROWS`` names the field whose records are the rows of the table; by default all fields are.
    """

    ROWS: ClassVar[str] = ""

    def one_line(self) -> str:
        """The main result, without a full stop."""
        return ", ".join(f"{key} {_cell(value)}" for key, value in self._cells().items())

    def remarks(self) -> list[str]:
        """Lines below the main result: what limits it."""
        return [*getattr(self, "warnings", ()), *getattr(self, "notes", ())]

    def rows(self) -> list[Facts]:
        """The rows of the table."""
        if self.ROWS:
            return list(self.to_dict()[self.ROWS])
        return [{"": name, " ": value} for name, value in self._cells().items()]

    def to_dict(self) -> Facts:
        """The facts that the command prints with --json."""
        return dict(json_values(self))

    def _cells(self) -> Facts:
        return {name: value for name, value in self.to_dict().items() if _is_cell(value)}

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


def optional_key() -> Any:
    """A field of a record whose key is left out of JSON if it is None."""
    return field(default=None, metadata={"optional": True})


def json_values(value: object) -> Any:
    """Convert a record, or a collection of records, to values that JSON can represent.

    A record may convert itself by a method ``to_plain``. Otherwise, keys are the names of fields,
    without the underscore after a keyword (``from_``), followed by the properties that a class
    lists in ``DERIVED``.
    """
    if hasattr(value, "to_plain"):
        return json_values(value.to_plain())
    if is_dataclass(value) and not isinstance(value, type):
        optional = {one.name for one in fields(value) if "optional" in one.metadata}
        names = [*(one.name for one in fields(value)), *getattr(value, "DERIVED", ())]
        return {
            name.rstrip("_"): json_values(one)
            for name in names
            if (one := getattr(value, name)) is not None or name not in optional
        }
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {key: json_values(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [json_values(one) for one in value]
    return value
