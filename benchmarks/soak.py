"""Races that are disturbed all the time: by signals, full disks and killed workers.

    python benchmarks/soak.py [--minutes 60] [--seed 1]

A small race is run once in peace. Then the same race is run again and again into new stores, each
time disturbed at random moments and given the same command until it has ended:

    SIGINT, SIGTERM, SIGHUP, SIGKILL   to the race, or to its whole process group
    a killed worker                    SIGKILL to one of its workers, waited for if there is none
    a full disk                        no file may grow beyond some bytes, drawn at random

At its end each store must hold the rounds of the race in peace to the byte, and the same runs with
the same trajectories. Where a killed worker has cost a run, which is recorded as failed, the race
may differ; there may be no more such runs than workers were killed. No process and no temporary
folder may be left. Exits with 1 if anything of this does not hold.

Episodes are dealt like cards, so that every ten of them have each kind; two of ten kill a worker,
and one that comes too late for that is dealt again.
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
REFUSED = 1  # the exit code of an error, as a full disk is one
MOST_EPISODES = 8  # of one race, which is then left in peace
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
    """What was done, and what came of it."""

    races: int = 0
    commands: int = 0
    identical: int = 0
    cost_runs: int = 0
    lost_runs: int = 0
    unexplained: int = 0  # runs that were lost although this script did not kill their worker
    episodes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class Soak:
    """Races in a folder, and what disturbs them."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder, self.rng, self.figures = folder, rng, Figures()
        self.mark = secrets.token_hex(8)
        self._deck: list[str] = []
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        (folder / "config.yaml").write_text(yaml.safe_dump(CONFIG))
        self.environment = {**os.environ, MARK: self.mark, "TMPDIR": str(self.temporary)}

    def start(
        self, store: str, before: Callable[[], None] | None = None
    ) -> subprocess.Popen[bytes]:
        self.figures.commands += 1
        with (self.folder / "said").open("wb") as said:
            return subprocess.Popen(
                [sys.executable, "-m", "polarbear", "race", "config.yaml", "--store", store, "-q"],
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
                preexec_fn=before,
            )

    def said(self) -> str:
        return (self.folder / "said").read_text(errors="replace").strip()

    def in_peace(self, store: str) -> float:
        began = time.monotonic()
        process = self.start(store)
        if process.wait() not in DONE:
            raise SystemExit(f"the race failed in peace: {self.said()}")
        return time.monotonic() - began

    def disturbed(self, store: str, lasts: float, until: float) -> int:
        """One race to its end; how many workers were killed meanwhile."""
        killed = 0
        for count in range(1000):
            disturb = count < MOST_EPISODES and time.monotonic() < until
            kind = self._dealt() if disturb else "peace"
            process = self.start(store, self._small_files() if kind == "full disk" else None)
            code = self._wait(process, None if kind in ("full disk", "peace") else lasts)
            if code is None:
                before = self.figures.episodes["killed worker"]
                code = self._disturb(process, kind)
                killed += self.figures.episodes["killed worker"] - before
            elif kind == "killed worker":  # the race was over before: it is dealt again
                self._deck.append(kind)
            elif kind == "full disk" and code == REFUSED:
                self.figures.episodes[kind] += 1
            if "Traceback" in self.said():
                self.figures.wrong.append(f"{store}: {kind}: a traceback: {self.said()[-300:]}")
            self._nothing_left(f"{store}: {kind}")
            if code in DONE:
                return killed
            if kind == "peace":
                self.figures.wrong.append(f"{store}: exit code {code} in peace: {self.said()}")
                return killed
        return killed

    def _dealt(self) -> str:
        if not self._deck:
            self._deck = self.rng.sample(EPISODES, len(EPISODES))
        return self._deck.pop()

    def _small_files(self) -> Callable[[], None]:
        size = int(2 ** self.rng.uniform(8, 15))

        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

        return limit

    def _wait(self, process: subprocess.Popen[bytes], lasts: float | None) -> int | None:
        try:
            return process.wait(None if lasts is None else self.rng.uniform(0.05, 1.0) * lasts)
        except subprocess.TimeoutExpired:
            return None

    def _disturb(self, process: subprocess.Popen[bytes], kind: str) -> int | None:
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
        (os.killpg if kind.startswith("group") else os.kill)(process.pid, number)
        return process.wait()

    def _nothing_left(self, where: str) -> None:
        """What a killed race leaves goes within moments, and then there is nothing."""
        deadline = time.monotonic() + 60
        while self._left() and time.monotonic() < deadline:
            time.sleep(0.05)
        if self._left():
            self.figures.wrong.append(f"{where}: left behind: {self._left()}")

    def _left(self) -> list[str]:
        found = [str(path.name) for path in self.temporary.iterdir()]
        for process in psutil.process_iter():
            try:
                zombie = process.status() == psutil.STATUS_ZOMBIE
                if not zombie and process.environ().get(MARK) == self.mark:
                    found.append(f"{process.pid} {' '.join(process.cmdline())[:80]}")
            except (psutil.Error, OSError):
                continue
        return found

    def compare(self, store: str, killed: int) -> None:
        """Hold a store against that of the race in peace."""
        try:
            self._compare(store, killed)
        except PolarBearError as error:
            self.figures.races += 1
            self.figures.wrong.append(f"{store}: cannot be read: {error}")

    def _compare(self, store: str, killed: int) -> None:
        wanted, found = contents(self.folder / "peace"), contents(self.folder / store)
        lost = len(
            StoreOnDisk.open(self.folder / store).all_runs().filter(pl.col("status").is_in(FAILED))
        )
        self.figures.races += 1
        self.figures.lost_runs += lost
        self.figures.unexplained += max(0, lost - killed)
        if wanted == found:
            self.figures.identical += 1
        elif 0 < lost <= killed:
            self.figures.cost_runs += 1
        else:
            self.figures.wrong.append(f"{store}: differs; {lost} runs lost, {killed} killed")


def workers_of(race: int) -> list[psutil.Process]:
    """The workers that a race has at this moment; none if it is ending."""
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
        lasts = soak.in_peace("peace")
        until = began + 60 * args.minutes
        while time.monotonic() < until:
            store = f"race-{soak.figures.races + 1}"
            killed = soak.disturbed(store, lasts, until)
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
    print(f"| runs so lost | {figures.lost_runs} |", file=to)
    print(f"| runs lost beyond those of killed workers | {figures.unexplained} |", file=to)
    print(f"| anything else | {len(figures.wrong)} |", file=to)
    for line in figures.wrong:
        print(f"\n{line}", file=to)


if __name__ == "__main__":
    sys.exit(main())
