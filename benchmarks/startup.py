"""How long `polarbear --help` takes, beside what starting Python alone takes, and what is loaded.

    python benchmarks/startup.py

Loading is the sum over all modules of what `python -X importtime` says of each alone, for commands
on a store of a few runs of the quick start; the least of some turns, bytecode compiled. Exits with
1 when the target is missed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from targets import Row, report

TURNS, LOADING_TURNS = 15, 5
QUICK_START = Path(__file__).parents[1] / "configs" / "quickstart.yaml"
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def seconds(*arguments: str) -> float:
    start = perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return perf_counter() - start


def loading(*arguments: str) -> tuple[float, int]:
    """Milliseconds, and modules."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    own = [int(line.partition(":")[2].partition("|")[0]) for line in lines[1:]]
    return sum(own) / 1000, len(own)


def loaded() -> list[str]:
    """A table of what commands load."""
    rows = ["| command | modules | ms |", "|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/store"
        seconds("-m", "polarbear", "run", str(QUICK_START), "--store", store, "--instances", "4")
        for words in (["status", store], ["infer", store]):
            least, modules = min(
                loading("-m", "polarbear", *words) for _ in range(1 + LOADING_TURNS)
            )
            rows.append(f"| {words[0]} | {modules} | {least:.0f} |")
    least, modules = min(loading("-c", "import polarbear") for _ in range(LOADING_TURNS))
    return [*rows, f"| `import polarbear` | {modules} | {least:.0f} |"]


def main() -> int:
    print(*loaded(), "", sep="\n")
    times = [(seconds("-m", "polarbear", "--help"), seconds("-c", "pass")) for _ in range(TURNS)]
    ours, python = (median(column) for column in zip(*times, strict=True))
    measured = f"{ours:.2f} s, {ours / python:.1f} x bare Python"
    return report([Row("polarbear --help", measured, "under 0.3 s", ours < 0.3)])


if __name__ == "__main__":
    sys.exit(main())
