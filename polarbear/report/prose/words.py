"""How a report writes numbers, names and lists."""

from __future__ import annotations

from collections.abc import Sequence

from polarbear.report.leading import Stretch


def time(value: float) -> str:
    """A time with the digits that matter: 758, 12,000, 0.223."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def joined(names: Sequence[str], last: str = "and") -> str:
    """A, B and C."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def share(value: float) -> str:
    """A probability with two digits, more of them near 1, but never certain when it is not."""
    if value >= 0.99995:
        return "over 0.9999"
    if value >= 0.99:
        return f"{value:.4f}"
    return "under 0.01" if 0 < value < 0.005 else f"{value:.2f}"


def span(part: Stretch, first: float, last: float, axis: str) -> str:
    """When a stretch is: up to, from .. to, from .. on."""
    mostly = " (nearly always)" if part.mostly else ""
    if part.start <= first and part.stop >= last:
        return "at nearly all times" if part.mostly else "at all times"
    if part.start == part.stop:
        return f"at {time(part.start)} {axis}"
    if part.start <= first:
        return f"up to {time(part.stop)} {axis}{mostly}"
    if part.stop >= last:
        return f"from {time(part.start)} {axis} on{mostly}"
    return f"from {time(part.start)} to {time(part.stop)} {axis}{mostly}"
