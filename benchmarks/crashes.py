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

import sys
import tempfile
from functools import partial
from pathlib import Path

from campaigns import Kept
from targets import Row, report

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the disks that fail, which tests have

from tests.faults.crashes import SCENARIOS, Trials

WORDS = {"cuts": "power cuts", "errors": "full disk, input/output error, forbidden"}


def option(name: str, otherwise: str) -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else otherwise


def main() -> int:
    names = option("--only", ",".join(scenario.name for scenario in SCENARIOS)).split(",")
    every = int(option("--every", "1"))
    kept = Kept(option("--kept", ""))
    rows, all_wrong = [], []
    for scenario in (scenario for scenario in SCENARIOS if scenario.name in names):
        with tempfile.TemporaryDirectory() as folder:
            trials = Trials(scenario, Path(folder))
            for kind in option("--kind", "cuts,errors").split(","):
                cases = getattr(trials, kind)[::every]
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
