"""Whether flipped bits are noticed.

    python benchmarks/checksums.py [FLIPS]

Flips single bits in the files of a raced store, each kind of file in turn, and reads each file as
commands do. Exits with 1 if a flip is read as different data.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from targets import Row, report

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the flips, which tests have

from tests.faults.bit_flips import DIFFERENT, REFUSED, SAME, flipped_bits
from tests.store.test_catalog import fill

FLIPS = 10_000


def main() -> int:
    flips = int(sys.argv[1]) if len(sys.argv) > 1 else FLIPS
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder))
        told = flipped_bits(Path(folder) / "store", flips, seed=2026)
    counts = dict.fromkeys((REFUSED, SAME, DIFFERENT), 0)
    for (_, what), number in told.items():
        counts[what] += number
    row = Row(
        f"{flips:,} flipped bits in {len({kind for kind, _ in told})} kinds of files",
        ", ".join(f"{n:,} {what}" for what, n in counts.items()),
        "none different",
        counts[DIFFERENT] == 0,
    )
    return report([row])


if __name__ == "__main__":
    sys.exit(main())
