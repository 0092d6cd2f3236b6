"""Records as plain data: what JSON shows follows from the fields of frozen classes.

A record is a dataclass, or a named tuple, which Python makes in a quarter of the time.

Uses nothing of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, is_dataclass
from typing import Any

_ASKED = "asked"


def asked(beside: str | None = None) -> Any:
    """A field that plain data has only where it was asked for: where it is not None.

    A field that may be None even then stands ``beside`` the one that tells.
    """
    return field(default=None, metadata={_ASKED: beside})


def plain(value: Any) -> Any:
    """A record, or a collection of records, as JSON can hold it.

    Keys are the names of fields, without the underscore behind a word that Python keeps for itself
    (``from_``), then those of the properties that a class lists in ``DERIVED``.
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
        teller = one.metadata[_ASKED] or one.name if _ASKED in one.metadata else None
        if teller is None or getattr(record, teller) is not None:
            names.append(one.name)
    return [*names, *getattr(record, "DERIVED", ())]
