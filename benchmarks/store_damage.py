"""Damaged stores: every damage is noticed, nothing is deleted, and no command fails badly.

    python benchmarks/store_damage.py [--part damages|mixtures|json] [--count N] [--seed N]
                                       [--kept FILE]

damages: flipped bits, truncations, swaps, deletions and duplications of files of every kind. Each
must be noticed by `verify`, and no file may be read as other data. mixtures: two versions of a
store, mixed file by file; `verify` reports them, and no command deletes anything. json: JSON files
changed by type, depth and size, with valid checksums; no command has a traceback or takes more than
10 s or 1 GiB. With --kept, the result of every case is written to a file, and cases in that file
are not tried again. Exits with 1 if any of this does not hold.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

from campaigns import Kept
from targets import Row, report

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the damages of the tests

from tests.faults import store_damage

COUNTS = {"damages": 20_000, "mixtures": 1_000, "json": 10_000}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=COUNTS, action="append")
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--kept")
    args = parser.parse_args()
    kept = Kept(args.kept)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store_damage.fill(folder)
        good_files = store_damage.contents(folder / "store")
        versions = [store_damage.contents(path) for path in sorted((folder / "versions").iterdir())]
        store = Path(shutil.copytree(folder / "store", folder / "copy"))
        trials: dict[str, Callable[[Random], str | None]] = {
            "damages": lambda rng: store_damage.damage(
                rng, good_files, store, rng.choice(store_damage.KINDS)
            ),
            "mixtures": lambda rng: store_damage.mixture(rng, versions, folder / "mixed"),
            "json": lambda rng: store_damage.mutated_json(rng, good_files, store),
        }
        for part in args.part or COUNTS:
            count = args.count or COUNTS[part]
            n_wrong = 0
            for number in range(count):
                case = f"{args.seed} {part} {number}"
                failure = kept.tried(case, partial(trials[part], Random(case)))
                if failure:
                    n_wrong += 1
                    print(f"{part} {number}: {failure}", file=sys.stderr, flush=True)
            rows.append(Row(f"{count:,} {part}", f"{n_wrong:,} wrong", "none", n_wrong == 0))
            print(rows[-1], file=sys.stderr, flush=True)
    return report(rows)


if __name__ == "__main__":
    sys.exit(main())
