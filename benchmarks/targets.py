"""The report of a benchmark: measurements, their targets, and whether these are met."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One measurement against its target."""

    work: str
    measured: str
    target: str
    met: bool


def report(rows: list[Row]) -> int:
    """Print the rows; the exit code is 1 when a target is missed."""
    for row in rows:
        verdict = "met" if row.met else "MISSED"
        print(f"{row.work:66} {row.measured:28} {row.target:16} {verdict}")
    return 0 if all(row.met for row in rows) else 1
