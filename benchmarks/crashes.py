"""Power cuts and failing disks at every file operation of whole commands.

    python benchmarks/crashes.py [--only NAME,NAME] [--kind cuts|errors] [--every N] [--kept FILE]

A command is recorded once; then, for every step of it, the folder that a power cut would leave is
laid out (unsynced writes kept, lost, torn, or any of them), the command is given again, and what it
comes to is compared to the undisturbed outcome, to the byte. Folders that are alike are tried once.
The same with a full disk, an input/output error and a missing permission at every step, reading
included. --every N tries each N-th case. With --kept, every case is noted in a file, and the same
command goes on from there. Exits with 1 if anything came out otherwise.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from targets import Row, report

os.environ["POLARS_MAX_THREADS"] = "1"  # tables are small; threads would only wait for each other
sys.path.insert(0, str(Path(__file__).parents[1]))  # for the disks that fail, which tests have

from tests.faults.crashes import SCENARIOS, Case, Trials

WORDS = {"cuts": "power cuts", "errors": "full disk, input/output error, forbidden"}


class Kept:
    """What became of each case, in a file if one was named: None where it came to the same."""

    def __init__(self, file: str) -> None:
        self._file = Path(file) if file else None
        self._known: dict[str, str | None] = {}
        if self._file is not None and self._file.exists():
            for line in self._file.read_text().splitlines():
                self._known.update(json.loads(line))

    def tried(self, trials: Trials, case: Case) -> str | None:
        """What went wrong in a case; what is in the file is not tried again."""
        name = f"{trials.scenario.name}: {case}"
        if name not in self._known:
            self._known[name] = trials.tried(case)
            if self._file is not None:
                with self._file.open("a") as file:
                    file.write(json.dumps({name: self._known[name]}) + "\n")
        return self._known[name]


def option(name: str, otherwise: str) -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else otherwise


def main() -> int:
    names = option("--only", ",".join(scenario.name for scenario in SCENARIOS)).split(",")
    every = int(option("--every", "1"))
    kept = Kept(option("--kept", ""))
    rows, wrong = [], []
    for scenario in (scenario for scenario in SCENARIOS if scenario.name in names):
        with tempfile.TemporaryDirectory() as folder:
            trials = Trials(scenario, Path(folder))
            for kind in option("--kind", "cuts,errors").split(","):
                cases = getattr(trials, kind)[::every]
                failed = [told for case in cases if (told := kept.tried(trials, case))]
                wrong += failed
                same = f"{len(cases) - len(failed):,} of {len(cases):,} the same"
                rows.append(Row(f"{scenario.name}: {WORDS[kind]}", same, "all", not failed))
                print(rows[-1].what, rows[-1].measured, file=sys.stderr, flush=True)
    for told in wrong:
        print(told, file=sys.stderr)
    return report(rows)


if __name__ == "__main__":
    sys.exit(main())
