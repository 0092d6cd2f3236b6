"""Power cuts and failing disks at every file operation of whole commands.

    python benchmarks/crashes.py [--only NAME,NAME] [--kind cuts|errors] [--every N] [--kept FILE]

A command is recorded once; then, for every step of it, the folder that a power cut would leave is
laid out (unsynced writes kept, lost, torn, or any of them), the command is given again, and the
result is compared with the undisturbed outcome, to the byte. Folders with the same content are
tried once. The same with a full disk, an input/output error and a missing permission at every step,
reading included. --every N tries each N-th case. With --kept, the result of every case is written
to a file, and cases in that file are not tried again. Exits with 1 if anything went wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

from campaigns import Kept
from targets import Row, report

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the disks that fail, which tests have

from tests.faults.crashes import SCENARIOS, Trials

WORDS = {"cuts": "power cuts", "errors": "full disk, input/output error, forbidden"}


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--only", default=",".join(scenario.name for scenario in SCENARIOS))
    options.add_argument("--kind", choices=WORDS, action="append")
    options.add_argument("--every", type=int, default=1)
    options.add_argument("--kept")
    chosen = options.parse_args()
    kept = Kept(chosen.kept)
    rows, all_wrong = [], []
    for scenario in (one for one in SCENARIOS if one.name in chosen.only.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            trials = Trials(scenario, Path(folder))
            for kind in chosen.kind or WORDS:
                cases = getattr(trials, kind)[:: chosen.every]
                attempts = {
                    f"{scenario.name}: {case}": partial(trials.tried, case) for case in cases
                }
                failed = [wrong for one in attempts.items() if (wrong := kept.tried(*one))]
                all_wrong += failed
                same = f"{len(cases) - len(failed):,} of {len(cases):,} the same"
                rows.append(Row(f"{scenario.name}: {WORDS[kind]}", same, "all", not failed))
                print(rows[-1].what, rows[-1].measured, file=sys.stderr, flush=True)
    for wrong in all_wrong:
        print(wrong, file=sys.stderr)
    return report(rows)


if __name__ == "__main__":
    sys.exit(main())
