"""How records show themselves: a line for the prompt, a short table for a notebook, plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from polarbear.plain import plain

if TYPE_CHECKING:
    from jinja2 import Template

Record = TypeVar("Record")
MOST_ROWS = 20
TABLE = """\
<div>{{ title }}{% for line in lines %}<br>{{ line }}{% endfor %}</div>
<table>
<thead><tr>{% for column in columns %}<th>{{ column }}</th>{% endfor %}</tr></thead>
<tbody>
{% for row in rows %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</tbody>
</table>
{% if more %}<div>and {{ more }} more</div>{% endif %}
"""


class Shown:
    """A record that is one line at a prompt; its fields are the keys of a command's --json."""

    def _in_a_line(self) -> str:
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """What the command prints with --json."""
        return dict(plain(self))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._in_a_line()}>"


def html_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    lines: Sequence[str] = (),
) -> str:
    """A table under a title, at most so many rows of it; names are escaped."""
    rows = list(rows)
    return _template().render(
        title=title,
        lines=lines,
        columns=columns,
        rows=rows[:MOST_ROWS],
        more=max(0, len(rows) - MOST_ROWS),
    )


def dressed(kind: type[Record], record: Any) -> Record:
    """The same fields in a class that knows how to show itself."""
    return kind(**{one.name: getattr(record, one.name) for one in fields(record)})


@cache
def _template() -> Template:
    from jinja2 import Environment

    return Environment(autoescape=True, trim_blocks=True).from_string(TABLE)
