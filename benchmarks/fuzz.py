"""Feed every reader with nearly valid input, as the tests do, but with other and more cases.

    python benchmarks/fuzz.py [--cases 200000] [--seed 1] [--minutes 60] [--kept FILE]
    python benchmarks/fuzz.py --only TARGET --case NUMBER [--seed 1]

A reader has to accept a case or refuse it with a PolarBearError of a line or two, which a command
prints, to exit with 1. A case fails if it ends in another error, if a library prints something (a
Rust library does so when it panics), if it takes more than ten seconds of processor time, or if it
makes this process grow beyond 1 GiB. A case is interrupted after a minute of processor time or a
quarter of an hour by the clock.

A case depends on the seed, the target and a number. Hypothesis is not used, since its choice of
numbers costs more than the cases. Failures are distinguished by the error and its place in the
code; each is shown with the number of one case, which the second form feeds again, with its
traceback. With --kept, the cases so far are written to a file after every turn, and the same
command continues from there. The script exits with 1 if there was any failure.
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

MAX_CPU_SECONDS = 10.0  # of a case that does not fail
INTERRUPT_CPU_SECONDS = 60.0  # after which a case is interrupted
# A case that waits for something uses no processor time; the limit also holds on a busy machine.
INTERRUPT_WALL_SECONDS = 900.0
MAX_MEMORY_BYTES = 2**30
MAX_ADDRESS_BYTES = 2**33  # so that no case uses up the memory of the machine
CASES_PER_TURN = 1000  # of all targets together, before progress is written


@dataclass
class Tally:
    """The number of cases of one target that were accepted, were refused and failed."""

    taken: int = 0
    refused: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    slowest: float = 0.0
    seconds: float = 0.0  # processor time of all cases

    @property
    def cases(self) -> int:
        return self.taken + self.refused + self.failed.total()

    def fail(self, failure: str, number: int, case: Case) -> None:
        self.failed[failure] += 1
        self.examples.setdefault(failure, f"case {number}: {case!r}"[:600])


class Progress:
    """The tallies so far, in a file if one was named."""

    def __init__(self, file: Path | None, seed: int) -> None:
        self._file = file
        self.seed = seed
        self.peak = 0
        self._tallies: dict[str, Tally] = {}
        if file is not None and file.exists():
            stored = json.loads(file.read_text())
            self.seed = stored["seed"]
            self.peak = stored["peak"]
            for name, fields in stored["tallies"].items():
                self._tallies[name] = Tally(**{**fields, "failed": Counter(fields["failed"])})

    def tally(self, target: str) -> Tally:
        return self._tallies.setdefault(target, Tally())

    @property
    def tallies(self) -> dict[str, Tally]:
        return dict(self._tallies)

    def write(self) -> None:
        self.peak = max(self.peak, peak_memory_bytes())
        if self._file is not None:
            # `asdict` would build the counter from pairs, and count the pairs.
            tallies = {
                name: {**vars(tally), "failed": dict(tally.failed)}
                for name, tally in self._tallies.items()
            }
            content = {"seed": self.seed, "peak": self.peak, "tallies": tallies}
            new_file = self._file.with_name(self._file.name + ".new")
            new_file.write_text(json.dumps(content))
            new_file.replace(self._file)


class Hangs(BaseException):
    """A case has not ended. It is no Exception, so that no handler in PolarBear catches it."""


def limit_this_process() -> None:
    """Interrupt a case that never ends, and limit the memory of this process."""

    def interrupt(*_: object) -> None:
        raise Hangs

    signal.signal(signal.SIGPROF, interrupt)
    signal.signal(signal.SIGALRM, interrupt)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESS_BYTES, resource.RLIM_INFINITY))


@contextmanager
def time_limits() -> Iterator[None]:
    signal.setitimer(signal.ITIMER_PROF, INTERRUPT_CPU_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, INTERRUPT_WALL_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def peak_memory_bytes() -> int:
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def error_location(error: BaseException) -> str:
    """The name of an error, and the innermost line of PolarBear in its traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    own_frames = [frame for frame in frames if "polarbear/" in frame.filename]
    frame = (own_frames or frames)[-1]
    return f"{type(error).__name__} in {Path(frame.filename).name}:{frame.lineno}"


@contextmanager
def captured_stderr() -> Iterator[TextIO]:
    """Redirect the standard error of libraries to a file; this script still prints to its own."""
    own_stderr = os.dup(2)
    sys.stderr = os.fdopen(own_stderr, "w", buffering=1)
    with tempfile.TemporaryFile("w+") as output:
        os.dup2(output.fileno(), 2)
        try:
            yield output
        finally:
            os.dup2(own_stderr, 2)


def first_line(output: TextIO) -> str:
    """The first line that was printed since the last call."""
    if not os.fstat(output.fileno()).st_size:
        return ""
    output.seek(0)
    text = output.read().strip()
    output.seek(0)
    output.truncate()
    return text.partition("\n")[0]


def case_of(seed: int, name: str, number: int, target: Target) -> Case:
    return target.make(Random(f"{seed}, {name}, {number}"))


def feed(
    target: Target, number: int, case: Case, folder: Path, tally: Tally, output: TextIO
) -> None:
    """Feed one case to a target, and count its outcome."""
    start = process_time()
    peak_before = peak_memory_bytes()
    try:
        with time_limits():
            is_accepted = ends_well(target.feed, case, folder)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # A panic of a library is no Exception.
        tally.fail(error_location(error), number, case)
        return
    cpu_seconds = process_time() - start
    printed = first_line(output)
    tally.slowest = max(tally.slowest, cpu_seconds)
    if printed:
        tally.fail(f"printed: {printed}", number, case)
    elif cpu_seconds > MAX_CPU_SECONDS:
        tally.fail("it took too long", number, case)
    elif peak_before <= MAX_MEMORY_BYTES < peak_memory_bytes():
        tally.fail("it took too much memory", number, case)
    elif is_accepted:
        tally.taken += 1
    else:
        tally.refused += 1


def feed_all(
    targets: dict[str, Target],
    n_cases: int,
    deadline: float,
    progress: Progress,
    folder: Path,
    output: TextIO,
) -> None:
    """Feed this number of cases to all targets together, in turns, until the time is over."""
    total_share = sum(target.share for target in targets.values())
    unfinished = dict(targets)
    while unfinished:
        for name, target in list(unfinished.items()):
            tally = progress.tally(name)
            first = tally.cases
            end = round(n_cases * target.share / total_share)
            if first >= end:
                del unfinished[name]
                continue
            n_turn = max(1, round(CASES_PER_TURN * target.share / total_share))
            start = process_time()
            for number in range(first, min(end, first + n_turn)):
                case = case_of(progress.seed, name, number, target)
                feed(target, number, case, folder, tally, output)
            tally.seconds += process_time() - start
            progress.write()
            if perf_counter() > deadline:
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
    deadline = perf_counter() + 60 * args.minutes
    progress = Progress(args.kept, args.seed)
    limit_this_process()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        targets = {
            target_name: target
            for target_name, target in all_targets(folder).items()
            if args.only in target_name
        }
        if args.case is not None:
            target = targets[args.only]
            case = case_of(args.seed, args.only, args.case, target)
            print(f"{case!r}\n{'taken' if ends_well(target.feed, case, folder) else 'refused'}")
            return 0
        with captured_stderr() as output:
            feed_all(targets, args.cases, deadline, progress, folder, output)
    show(progress)
    return int(any(tally.failed for tally in progress.tallies.values()))


def show(progress: Progress) -> None:
    tallies = progress.tallies
    print("| target | cases | taken | refused | failed | slowest case, s | processor s |")
    print("|---|---|---|---|---|---|---|")
    for name, tally in tallies.items():
        print(
            f"| {name} | {tally.cases:,} | {tally.taken:,} | {tally.refused:,} | "
            f"{tally.failed.total():,} | {tally.slowest:.2f} | {tally.seconds:.0f} |"
        )
    total = sum(tally.cases for tally in tallies.values())
    failed = sum(tally.failed.total() for tally in tallies.values())
    print(f"\n{total:,} cases, {failed:,} failed; peak memory {progress.peak / 2**20:.0f} MiB")
    for name, tally in tallies.items():
        for failure, count in tally.failed.most_common():
            print(f"\n{count} x {name}: {failure}\n  {tally.examples[failure]}")


if __name__ == "__main__":
    sys.exit(main())
