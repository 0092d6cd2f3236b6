"""How long `polarbear --help` takes, beside what starting Python alone takes.

    python benchmarks/startup.py

Exits with 1 when the target is missed.
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from time import perf_counter

from targets import Row, report

TURNS = 15


def seconds(*arguments: str) -> float:
    start = perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return perf_counter() - start


def main() -> int:
    times = [(seconds("-m", "polarbear", "--help"), seconds("-c", "pass")) for _ in range(TURNS)]
    ours, python = (median(column) for column in zip(*times, strict=True))
    measured = f"{ours:.2f} s, {ours / python:.1f} x bare Python"
    return report([Row("polarbear --help", measured, "under 0.3 s", ours < 0.3)])


if __name__ == "__main__":
    sys.exit(main())
