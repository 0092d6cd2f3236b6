"""Power cuts and failing disks at every file operation of whole commands.

    python benchmarks/crashes.py [--only NAME,NAME] [--kind cuts|errors] [--every N] [--kept FILE]

A command is recorded once; then, for every step of it, the folder that a power cut would leave is
laid out (unsynced writes kept, lost, torn, or any of them), the command is given again, and the
result is compared with the undisturbed outcome, to the byte. Folders with the same content are
tried once. A full disk, an input/output error and a missing permission are tried in the same way at
every step, including steps that read. --every N tries each N-th case. With --kept, the result of
every case is written to a file, and cases in that file are not tried again. The script exits with 1
if anything went wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

from campaigns import Kept
from targets import Row, report

sys.path.insert(0, str(Path(__file__).parents[1]))  # The tests simulate the disks that fail.

from tests.faults.crashes import SCENARIOS, Case, Trials

DESCRIPTIONS = {"cuts": "power cuts", "errors": "full disk, input/output error, forbidden"}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=",".join(scenario.name for scenario in SCENARIOS))
    parser.add_argument("--kind", choices=DESCRIPTIONS, action="append")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--kept")
    args = parser.parse_args()
    kept = Kept(args.kept)
    names = args.only.split(",")
    rows = []
    failures: list[str] = []
    for scenario in SCENARIOS:
        if scenario.name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            trials = Trials(scenario, Path(folder))
            for kind in args.kind or DESCRIPTIONS:
                cases = getattr(trials, kind)[:: args.every]
                new_failures = failures_of(scenario.name, trials, cases, kept)
                failures += new_failures
                label = f"{scenario.name}: {DESCRIPTIONS[kind]}"
                n_same = f"{len(cases) - len(new_failures):,} of {len(cases):,} the same"
                rows.append(Row(label, n_same, "all", not new_failures))
                print(label, n_same, file=sys.stderr, flush=True)
    for failure in failures:
        print(failure, file=sys.stderr)
    return report(rows)


def failures_of(scenario_name: str, trials: Trials, cases: list[Case], kept: Kept) -> list[str]:
    """A line for each case in which something went wrong."""
    failures = []
    for case in cases:
        failure = kept.tried(f"{scenario_name}: {case}", partial(trials.tried, case))
        if failure:
            failures.append(failure)
    return failures


if __name__ == "__main__":
    sys.exit(main())
