"""Feed every reader with what is nearly right, as the tests do, but other cases and more of them.

    python benchmarks/fuzz.py [--cases 200000] [--seed 1] [--minutes 60]

A case fails if it ends in anything but a PolarBearError of a line or two, takes longer than ten
seconds, or makes this process grow beyond 1 GiB. Failures are told apart by what was raised and
where; each is shown with one case. Exits with 1 if there was any.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

os.environ["POLARS_MAX_THREADS"] = "1"  # tables are small; threads would only wait for each other
sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.fuzz.targets import all_targets, ends_well

LONGEST = 10.0  # seconds a case may take
MOST_MEMORY = 2**30  # bytes
AT_ONCE = 200  # cases of one target before the next has its turn


@dataclass
class Tally:
    """What became of the cases of one target."""

    taken: int = 0
    refused: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Any] = field(default_factory=dict)
    slowest: float = 0.0
    seconds: float = 0.0

    @property
    def cases(self) -> int:
        return self.taken + self.refused + self.failed.total()

    def fail(self, what: str, case: Any) -> None:
        self.failed[what] += 1
        self.examples.setdefault(what, case)


def peak() -> int:
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def place(error: BaseException) -> str:
    """What was raised, and the last place in PolarBear that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "polarbear/" in frame.filename] or frames
    return f"{type(error).__name__} in {Path(ours[-1].filename).name}:{ours[-1].lineno}"


def feed(
    cases: Any, target: Callable[..., None], count: int, number: int, folder: Path, tally: Tally
) -> None:
    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def fed(case: Any) -> None:
        began, before = perf_counter(), peak()
        try:
            if ends_well(target, case, folder):
                tally.taken += 1
            else:
                tally.refused += 1
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of a library is no Exception
            tally.fail(place(error), case)
        took = perf_counter() - began
        tally.slowest = max(tally.slowest, took)
        if took > LONGEST:
            tally.fail("it took too long", case)
        if before <= MOST_MEMORY < peak():
            tally.fail("it took too much memory", case)

    began = perf_counter()
    fed()
    tally.seconds += perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    until = perf_counter() + 60 * asked.minutes
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        targets = {k: v for k, v in all_targets(folder).items() if asked.only in k}
        whole = sum(share for _, _, share in targets.values())
        tallies = {target: Tally() for target in targets}
        number = asked.seed
        open_ = dict(targets)
        while open_ and perf_counter() < until:
            for target, (cases, function, share) in list(open_.items()):
                wanted = round(asked.cases * share / whole)
                tally = tallies[target]
                left = wanted - tally.cases
                if left <= 0:
                    del open_[target]
                    continue
                number += 1
                turn = min(left, AT_ONCE)
                feed(cases, function, turn, number, folder, tally)
                if perf_counter() > until:
                    break
    show(tallies)
    return int(any(tally.failed for tally in tallies.values()))


def show(tallies: dict[str, Tally]) -> None:
    print("| target | cases | taken | refused | failed | slowest case, s | seconds |")
    print("|---|---|---|---|---|---|---|")
    for name, tally in tallies.items():
        print(
            f"| {name} | {tally.cases:,} | {tally.taken:,} | {tally.refused:,} | "
            f"{tally.failed.total():,} | {tally.slowest:.2f} | {tally.seconds:.0f} |"
        )
    total = sum(tally.cases for tally in tallies.values())
    failed = sum(tally.failed.total() for tally in tallies.values())
    print(f"\n{total:,} cases, {failed:,} failed; peak memory {peak() / 2**20:.0f} MiB")
    for name, tally in tallies.items():
        for what, count in tally.failed.most_common():
            print(f"\n{count} x {name}: {what}\n  {str(tally.examples[what])[:600]!r}")


if __name__ == "__main__":
    sys.exit(main())
