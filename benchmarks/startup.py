"""CPU time of commands that run nothing, as a ratio to that of importing NumPy and polars.

    python benchmarks/startup.py

The store is a finished race of the quick start's algorithms. The least time of several repetitions
counts, with bytecode compiled. Exits with 1 when a target is missed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from targets import Row, report

REPETITIONS = 9
REFERENCE = ("-c", "import numpy, polars")
QUICK_START = Path(__file__).parents[1] / "configs" / "quickstart.yaml"
MAX_RATIO = {
    ("--help",): 1.0,
    ("status", "quickstart"): 2.5,
    ("select", "quickstart", "--preference", "at 100"): 2.5,
    ("infer", "quickstart"): 2.5,  # the posterior is stored
    ("race", "quickstart.yaml"): 2.5,  # the race is finished
}


def cpu_seconds(folder: Path, arguments: tuple[str, ...]) -> float:
    """CPU time of one call of Python."""
    environment = {
        name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        env=environment,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "quickstart.yaml").write_text(QUICK_START.read_text())
        for arguments in (("race", "quickstart.yaml", "-q"), ("infer", "quickstart", "-q")):
            command = [sys.executable, "-m", "polarbear", *arguments]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        calls = [REFERENCE]
        calls += [("-m", "polarbear", *command) for command in MAX_RATIO]
        seconds: dict[tuple[str, ...], list[float]] = {call: [] for call in calls}
        # Calls take turns, since the speed of a shared machine changes from minute to minute.
        for _ in range(REPETITIONS):
            for call in calls:
                seconds[call].append(cpu_seconds(folder, call))
    for command, max_ratio in MAX_RATIO.items():
        ratio = min(seconds["-m", "polarbear", *command]) / min(seconds[REFERENCE])
        rows.append(Row(" ".join(command), f"{ratio:.2f}", f"{max_ratio:g}", ratio <= max_ratio))
    return report(rows)


if __name__ == "__main__":
    sys.exit(main())
