"""Converts records (dataclasses and named tuples) to plain data for JSON.

Uses no other module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, is_dataclass
from typing import Any

_ASKED = "asked"


def asked(beside: str | None = None) -> Any:
    """A field of optional results, left out of plain data if it is None.

    A field that may be None among the results names another one ``beside`` it that decides.
    """
    return field(default=None, metadata={_ASKED: beside})


def plain(value: Any) -> Any:
    """Convert a record, or a collection of records, to values that JSON can represent.

    Keys are the names of fields, without the underscore after a keyword (``from_``), followed by
    the properties that a class lists in ``DERIVED``.
    """
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
