"""Names and numbers as a drawing can show them: short, harmless, on one line."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
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


def number(value: float) -> str:
    """A number on an axis: 0.05, 2000, 50,000, 2×10⁵."""
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:g}"
    if 1e4 <= abs(value) < 1e5 and value == round(value):
        return f"{value:,.0f}"
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    front = f"{float(mantissa):g}"
    power = f"10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return power if front == "1" else f"-{power}" if front == "-1" else f"{front}×{power}"


def listed(names: Sequence[str]) -> str:
    """Names as one says them: A, B and C."""
    shown = [plain(name) for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def counted(count: int, noun: str) -> str:
    """1 round, 2 rounds."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def probability(p: float) -> str:
    """Two digits; never certain when it is not."""
    return "> 0.99" if p >= 0.995 else "< 0.01" if p < 0.005 else f"{p:.2f}"
