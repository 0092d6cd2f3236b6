"""Names as a drawing can show them: short, harmless, on one line."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def plain(text: str) -> str:
    """Text without what cannot be seen: line ends, control characters, changes of direction."""
    seen = (" " if unicodedata.category(c) in _INVISIBLE else c for c in text)
    return " ".join("".join(seen).split()) or "?"


def shortened(text: str, limit: int) -> str:
    """Text that is cut in its middle: what tells configurations apart often stands at the end."""
    text = plain(text)
    if len(text) <= limit:
        return text
    kept = max(limit - 1, 2)
    tail = kept // 3
    return f"{text[: kept - tail].rstrip()}…{text[len(text) - tail :].lstrip()}"


def short_names(names: Sequence[str], limit: int) -> dict[str, str]:
    """A short form of each name; those that would look the same get a number."""
    short = {name: shortened(name, limit) for name in names}
    twins = {form for form, count in Counter(short.values()).items() if count > 1}
    for number, name in enumerate(names, start=1):
        if short[name] in twins:
            mark = f"#{number}"
            short[name] = f"{shortened(name, max(limit - len(mark), 3))}{mark}"
    return short
