"""Feed every reader with what is nearly right, as the tests do, but other cases and more of them.

    python benchmarks/fuzz.py [--cases 200000] [--seed 1] [--minutes 60] [--kept FILE]
    python benchmarks/fuzz.py --only TARGET --case NUMBER [--seed 1]

A case fails if it ends in anything but a PolarBearError of a line or two (which a command prints,
to exit with 1), has a library print something, as those in Rust do that panic, takes more than ten
seconds of processor time, or makes this process grow beyond 1 GiB; one that has not ended after a
minute of processor time, or a quarter of an hour by the clock, is cut off. Cases are made of the
seed, the target and a number, without Hypothesis, whose choice of numbers costs more than the
cases. Failures are told apart by what was raised and where; each is shown with the number of one
case, which the second form feeds again, with its traceback. With --kept, the cases so far are
written to a file after every turn, and the same command continues from there. Exits with 1 if there
was any failure.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import TextIO

os.environ["POLARS_MAX_THREADS"] = "1"  # tables are small; threads would only wait for each other
sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.fuzz.targets import Case, Target, all_targets, ends_well

LONGEST = 10.0  # seconds of processor time a case may take
CUT_OFF = 60.0  # seconds of processor time after which a case is not waited for
MOST_MEMORY = 2**30  # bytes
MOST_ADDRESSES = 2**33  # bytes, so that no case takes the machine with it
STUCK = 900.0  # seconds by the clock, of one that waits for something, however busy the machine
AT_ONCE = 1000  # cases of all targets together before progress is written


@dataclass
class Tally:
    """What became of the cases of one target."""

    taken: int = 0
    refused: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    slowest: float = 0.0
    seconds: float = 0.0  # of processor time

    @property
    def cases(self) -> int:
        return self.taken + self.refused + self.failed.total()

    def fail(self, what: str, number: int, case: Case) -> None:
        self.failed[what] += 1
        self.examples.setdefault(what, f"case {number}: {case!r}"[:600])


class Kept:
    """The tallies so far, in a file if one was named."""

    def __init__(self, file: Path | None, seed: int) -> None:
        self._file, self.seed, self.peak = file, seed, 0
        self._tallies: dict[str, Tally] = {}
        if file is not None and file.exists():
            found = json.loads(file.read_text())
            self.seed, self.peak = found["seed"], found["peak"]
            for name, plain in found["tallies"].items():
                self._tallies[name] = Tally(**{**plain, "failed": Counter(plain["failed"])})

    def tally(self, target: str) -> Tally:
        return self._tallies.setdefault(target, Tally())

    @property
    def tallies(self) -> dict[str, Tally]:
        return dict(self._tallies)

    def write(self) -> None:
        self.peak = max(self.peak, peak())
        if self._file is not None:
            plain = {  # not asdict, which takes a counter's pairs for what it counts
                name: {**vars(tally), "failed": dict(tally.failed)}
                for name, tally in self._tallies.items()
            }
            aside = self._file.with_name(self._file.name + ".new")
            aside.write_text(json.dumps({"seed": self.seed, "peak": self.peak, "tallies": plain}))
            aside.replace(self._file)


class Hangs(BaseException):
    """A case that has not ended; no handler of an Exception may take it for its own."""


def limit_this_process() -> None:
    """A case that never ends is interrupted, one that takes all memory is refused it."""

    def ring(*_: object) -> None:
        raise Hangs

    signal.signal(signal.SIGPROF, ring)
    signal.signal(signal.SIGALRM, ring)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, resource.RLIM_INFINITY))


@contextmanager
def cut_off() -> Iterator[None]:
    signal.setitimer(signal.ITIMER_PROF, CUT_OFF)
    signal.setitimer(signal.ITIMER_REAL, STUCK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def peak() -> int:
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def place(error: BaseException) -> str:
    """What was raised, and the last place in PolarBear that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "polarbear/" in frame.filename] or frames
    return f"{type(error).__name__} in {Path(ours[-1].filename).name}:{ours[-1].lineno}"


@contextmanager
def overheard() -> Iterator[TextIO]:
    """What libraries print to standard error, in a file; tracebacks of ours still go there."""
    ours = os.dup(2)
    sys.stderr = os.fdopen(ours, "w", buffering=1)
    with tempfile.TemporaryFile("w+") as heard:
        os.dup2(heard.fileno(), 2)
        try:
            yield heard
        finally:
            os.dup2(ours, 2)


def said(heard: TextIO) -> str:
    """The output since the last call."""
    if not os.fstat(heard.fileno()).st_size:
        return ""
    heard.seek(0)
    words = heard.read().strip()
    heard.seek(0)
    heard.truncate()
    return words.partition("\n")[0]


def case_of(seed: int, name: str, number: int, target: Target) -> Case:
    return target.make(Random(f"{seed}, {name}, {number}"))


def feed(
    target: Target, number: int, case: Case, folder: Path, tally: Tally, heard: TextIO
) -> None:
    began, before = process_time(), peak()
    try:
        with cut_off():
            well = ends_well(target.feed, case, folder)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of a library is no Exception
        tally.fail(place(error), number, case)
        return
    took, words = process_time() - began, said(heard)
    tally.slowest = max(tally.slowest, took)
    if words:
        tally.fail(f"printed: {words}", number, case)
    elif took > LONGEST:
        tally.fail("it took too long", number, case)
    elif before <= MOST_MEMORY < peak():
        tally.fail("it took too much memory", number, case)
    else:
        tally.taken += well
        tally.refused += not well


def feed_all(
    targets: dict[str, Target], cases: int, until: float, kept: Kept, at: Path, heard: TextIO
) -> None:
    """So many cases of all targets together, some of each in turn, until the time is over."""
    whole = sum(target.share for target in targets.values())
    open_ = dict(targets)
    while open_:
        for name, target in list(open_.items()):
            tally = kept.tally(name)
            first, last = tally.cases, round(cases * target.share / whole)
            if first >= last:
                del open_[name]
                continue
            began, turn = process_time(), round(AT_ONCE * target.share / whole)
            for number in range(first, min(last, first + max(1, turn))):
                feed(target, number, case_of(kept.seed, name, number, target), at, tally, heard)
            tally.seconds += process_time() - began
            kept.write()
            if perf_counter() > until:
                return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--case", type=int)
    parser.add_argument("--kept", type=Path)
    args = parser.parse_args()
    until = perf_counter() + 60 * args.minutes
    kept = Kept(args.kept, args.seed)
    limit_this_process()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        targets = {k: v for k, v in all_targets(folder).items() if args.only in k}
        if args.case is not None:
            target = targets[args.only]
            case = case_of(args.seed, args.only, args.case, target)
            print(f"{case!r}\n{'taken' if ends_well(target.feed, case, folder) else 'refused'}")
            return 0
        with overheard() as heard:
            feed_all(targets, args.cases, until, kept, folder, heard)
    show(kept)
    return int(any(tally.failed for tally in kept.tallies.values()))


def show(kept: Kept) -> None:
    tallies = kept.tallies
    print("| target | cases | taken | refused | failed | slowest case, s | processor s |")
    print("|---|---|---|---|---|---|---|")
    for name, tally in tallies.items():
        print(
            f"| {name} | {tally.cases:,} | {tally.taken:,} | {tally.refused:,} | "
            f"{tally.failed.total():,} | {tally.slowest:.2f} | {tally.seconds:.0f} |"
        )
    total = sum(tally.cases for tally in tallies.values())
    failed = sum(tally.failed.total() for tally in tallies.values())
    print(f"\n{total:,} cases, {failed:,} failed; peak memory {kept.peak / 2**20:.0f} MiB")
    for name, tally in tallies.items():
        for what, count in tally.failed.most_common():
            print(f"\n{count} x {name}: {what}\n  {tally.examples[what]}")


if __name__ == "__main__":
    sys.exit(main())
