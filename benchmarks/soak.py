"""Races that are disturbed all the time: by signals, full disks and killed workers.

    python benchmarks/soak.py [--minutes 60] [--seed 1]

A small race is run once undisturbed, as the reference. Then the same race is run repeatedly into
new stores. Each one is disturbed at random moments, and its command is repeated until it has ended:

    SIGINT, SIGTERM, SIGHUP, SIGKILL   to the race, or to its whole process group
    a killed worker                    SIGKILL to one of its workers, as soon as there is one
    a full disk                        no file may grow beyond a random size

At its end each store must have the rounds of the reference to the byte, and the same runs with the
same trajectories. Where a killed worker has cost a run, which is recorded as failed, the race may
differ; there may be no more such runs than workers were killed. No process and no temporary folder
may be left. Exits with 1 if any of this does not hold.

Kinds of disturbances are drawn without replacement from a deck of ten, of which two kill a worker.
If the race ends before its worker is killed, that card goes back to the deck.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import polars as pl
import psutil
import yaml

from polarbear.errors import PolarBearError
from polarbear.execution.worker_process import WORKER_MODULE
from polarbear.facts.summary import FAILED
from polarbear.store import StoreOnDisk

MARK = "POLARBEAR_SOAK"
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGKILL", "SIGKILL")
EPISODES = (
    *SIGNALS,
    "group SIGKILL",
    "group SIGINT",
    "killed worker",
    "killed worker",
    "full disk",
)
DONE = (0, 3)  # resolved, or at the limit of rounds
REFUSED = 1  # the exit code of an error, such as a full disk
MAX_EPISODES = 8  # of one race, which is undisturbed from then on
MAX_COMMANDS = 1000  # for one race
REFERENCE = "reference"  # the store of the undisturbed race
CONFIG = {
    "seed": 7,
    "algorithms": [
        {"name": "random", "use": "random-search"},
        {"name": "Nelder-Mead", "use": "scipy", "method": "nelder-mead"},
        {"name": "Powell", "use": "scipy", "method": "powell"},
        {"name": "CMA-ES", "use": "cma"},
    ],
    "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 4}},
    "budget": {"grid": {"from": 10, "to": 600, "points": 8}},
    "execution": {"workers": 2},
    "race": {"batch": {"start": 4, "min": 4, "max": 4}, "limits": {"rounds": 4}},
    "inference": {"draws": 400},
}


@dataclass
class Figures:
    """Numbers of races, commands and disturbances, and their results."""

    races: int = 0
    commands: int = 0
    identical: int = 0
    cost_runs: int = 0
    lost_runs: int = 0
    unexplained: int = 0  # runs that were lost although their worker was not killed
    episodes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class Soak:
    """Disturbed races in a folder."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder = folder
        self.rng = rng
        self.figures = Figures()
        self.mark = secrets.token_hex(8)
        self._deck: list[str] = []  # the kinds of the next episodes
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        (folder / "config.yaml").write_text(yaml.safe_dump(CONFIG))
        self.environment = {**os.environ, MARK: self.mark, "TMPDIR": str(self.temporary)}

    def start(
        self, store: str, prepare: Callable[[], None] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start the race; ``prepare`` is called in its process before."""
        self.figures.commands += 1
        with (self.folder / "stderr").open("wb") as stderr:
            return subprocess.Popen(
                [sys.executable, "-m", "polarbear", "race", "config.yaml", "--store", store, "-q"],
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
                preexec_fn=prepare,
            )

    def stderr(self) -> str:
        """The error output of the last command."""
        return (self.folder / "stderr").read_text(errors="replace").strip()

    def run_reference(self) -> float:
        """Run the undisturbed race; the seconds that it takes."""
        began = time.monotonic()
        process = self.start(REFERENCE)
        if process.wait() not in DONE:
            raise SystemExit(f"the undisturbed race failed: {self.stderr()}")
        return time.monotonic() - began

    def disturbed(self, store: str, race_seconds: float, until: float) -> int:
        """Run one disturbed race to its end; the number of its workers that were killed."""
        killed_before = self.figures.episodes["killed worker"]
        for number in range(MAX_COMMANDS):
            is_disturbed = number < MAX_EPISODES and time.monotonic() < until
            kind = self._next_kind() if is_disturbed else "undisturbed"
            code = self._run_command(store, kind, race_seconds)
            if "Traceback" in self.stderr():
                self.figures.wrong.append(f"{store}: {kind}: a traceback: {self.stderr()[-300:]}")
            self._check_nothing_remains(f"{store}: {kind}")
            if code in DONE:
                break
            if kind == "undisturbed":
                self.figures.wrong.append(f"{store}: {kind}: exit code {code}: {self.stderr()}")
                break
        return self.figures.episodes["killed worker"] - killed_before

    def _run_command(self, store: str, kind: str, race_seconds: float) -> int | None:
        """Run the command once with a disturbance of this kind; its exit code."""
        if kind == "undisturbed":
            return self.start(store).wait()
        if kind == "full disk":
            code = self.start(store, self._limit_file_size()).wait()
            if code == REFUSED:
                self.figures.episodes[kind] += 1
            return code
        process = self.start(store)
        try:
            code = process.wait(self.rng.uniform(0.05, 1.0) * race_seconds)
        except subprocess.TimeoutExpired:
            return self._disturb(process, kind)
        if kind == "killed worker":  # the race ended before, so that the card goes back
            self._deck.append(kind)
        return code

    def _next_kind(self) -> str:
        if not self._deck:
            self._deck = self.rng.sample(EPISODES, len(EPISODES))
        return self._deck.pop()

    def _limit_file_size(self) -> Callable[[], None]:
        size = int(2 ** self.rng.uniform(8, 15))

        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

        return limit

    def _disturb(self, process: subprocess.Popen[bytes], kind: str) -> int:
        if kind == "killed worker":
            while process.poll() is None:
                workers = workers_of(process.pid)
                if workers:
                    self.rng.choice(workers).kill()
                    self.figures.episodes[kind] += 1
                    break
                time.sleep(0.02)
            return process.wait()
        self.figures.episodes[kind] += 1
        number = signal.Signals[kind.split()[-1]]
        if kind.startswith("group"):
            os.killpg(process.pid, number)
        else:
            os.kill(process.pid, number)
        return process.wait()

    def _check_nothing_remains(self, label: str) -> None:
        """Check that processes and temporary files of a killed race disappear within a minute."""
        deadline = time.monotonic() + 60
        while self._remains() and time.monotonic() < deadline:
            time.sleep(0.05)
        if self._remains():
            self.figures.wrong.append(f"{label}: left behind: {self._remains()}")

    def _remains(self) -> list[str]:
        """The names of temporary files, and the commands of processes of races."""
        remains = [path.name for path in self.temporary.iterdir()]
        for process in psutil.process_iter():
            try:
                is_zombie = process.status() == psutil.STATUS_ZOMBIE
                if not is_zombie and process.environ().get(MARK) == self.mark:
                    remains.append(f"{process.pid} {' '.join(process.cmdline())[:80]}")
            except (psutil.Error, OSError):
                continue
        return remains

    def compare(self, store: str, killed: int) -> None:
        """Compare a store with the reference, and count the result."""
        try:
            self._compare(store, killed)
        except PolarBearError as error:
            self.figures.races += 1
            self.figures.wrong.append(f"{store}: cannot be read: {error}")

    def _compare(self, store: str, killed: int) -> None:
        is_identical = contents(self.folder / REFERENCE) == contents(self.folder / store)
        runs = StoreOnDisk.open(self.folder / store).all_runs()
        n_lost = len(runs.filter(pl.col("status").is_in(FAILED)))
        self.figures.races += 1
        self.figures.lost_runs += n_lost
        self.figures.unexplained += max(0, n_lost - killed)
        if is_identical:
            self.figures.identical += 1
        elif 0 < n_lost <= killed:
            self.figures.cost_runs += 1
        else:
            self.figures.wrong.append(f"{store}: differs; {n_lost} runs lost, {killed} killed")


def workers_of(race: int) -> list[psutil.Process]:
    """The present workers of a race; none if it is ending."""
    try:
        children = psutil.Process(race).children()
        return [child for child in children if WORKER_MODULE in child.cmdline()]
    except psutil.Error:
        return []


def contents(store: Path) -> tuple[dict[str, bytes], list[tuple[str, str, bytes, bytes]]]:
    """The rounds to the byte, and each run with its trajectory."""
    rounds = {path.name: path.read_bytes() for path in (store / "rounds").glob("round-*.json")}
    runs = sorted(
        (run.algorithm, run.instance, t.tobytes(), y.tobytes())
        for run, t, y in StoreOnDisk.open(store).trajectories()
    )
    return rounds, runs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        soak = Soak(Path(name), random.Random(args.seed))
        race_seconds = soak.run_reference()
        until = began + 60 * args.minutes
        while time.monotonic() < until:
            store = f"race-{soak.figures.races + 1}"
            killed = soak.disturbed(store, race_seconds, until)
            soak.compare(store, killed)
            show(soak.figures, (time.monotonic() - began) / 60, sys.stderr)
            sys.stderr.flush()
    show(soak.figures, (time.monotonic() - began) / 60, sys.stdout)
    return int(bool(soak.figures.wrong))


def show(figures: Figures, minutes: float, to: TextIO) -> None:
    print(f"| minutes | {minutes:.1f} |\n|---|---|", file=to)
    print(f"| races brought to their end | {figures.races} |", file=to)
    print(f"| commands given | {figures.commands} |", file=to)
    for kind, count in sorted(figures.episodes.items()):
        print(f"| {kind} | {count} |", file=to)
    print(f"| identical to the byte | {figures.identical} |", file=to)
    print(f"| differ by runs that a killed worker cost | {figures.cost_runs} |", file=to)
    print(f"| lost runs | {figures.lost_runs} |", file=to)
    print(f"| runs lost beyond those of killed workers | {figures.unexplained} |", file=to)
    print(f"| other failures | {len(figures.wrong)} |", file=to)
    for line in figures.wrong:
        print(f"\n{line}", file=to)


if __name__ == "__main__":
    sys.exit(main())
