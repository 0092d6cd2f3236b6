"""Records of results: as values of JSON, as one line at a prompt, as a table in a notebook.

Uses no other module.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from html import escape
from typing import Any, ClassVar

MAX_ROWS = 20  # a notebook shows no more rows of a table
# The titles of columns whose key would not be understood.
TITLES = {"p2bb": "P(best)"}

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
        """Lines below the main result, which state its limits."""
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
    html = [
        f"<div>{'<br>'.join(map(escape, (title, *lines)))}</div>",
        f"<table>\n<thead>{line(titles, 'th')}</thead>\n<tbody>",
        "\n".join(body),
        "</tbody>\n</table>\n",
    ]
    if len(rows) > MAX_ROWS:
        html[-1] += f"<div>and {len(rows) - MAX_ROWS} more</div>\n"
    return "\n".join(html)


def _is_cell(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _cell(value: object) -> str:
    """A value in a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return _float_cell(value)
    if isinstance(value, int):
        return f"{value:,}"
    return "" if value is None else str(value)


def _float_cell(value: float) -> str:
    if abs(value) >= 1e6:
        return f"{value:,.0f}"
    if abs(value) >= 1:
        return f"{value:,.6g}"
    return f"{value:.4g}"


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
        return _json_values_of_fields(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {key: json_values(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [json_values(member) for member in value]
    return value


def _json_values_of_fields(record: Any) -> Facts:
    """The fields of a dataclass and its derived properties, by the keys of JSON."""
    optional_names = {field.name for field in fields(record) if "optional" in field.metadata}
    names = [*(field.name for field in fields(record)), *getattr(record, "DERIVED", ())]
    facts: Facts = {}
    for name in names:
        value = getattr(record, name)
        if value is not None or name not in optional_names:
            facts[name.rstrip("_")] = json_values(value)
    return facts
