"""Clears up after a race that was killed the hard way. Run as a program of its own.

It is started beside the workers with the read end of a pipe whose other end the race holds. When
that closes, the race has ended, one way or the other: everything that carries the race's mark is
killed, and its scratch folder removed. Without imports of ours, to be there within milliseconds.

Uses nothing: python janitor.py MARK VARIABLE FOLDER
"""

# pathlib takes longer to import than all of this takes to run:
# ruff: noqa: PTH112, PTH123, PTH208
from __future__ import annotations

import os
import shutil
import signal
import sys
import time

PATIENCE = 30.0  # seconds, most of which only a very busy machine needs


def marked(mark: str, variable: str) -> list[int]:
    """Processes whose environment carries the mark, where the system shows it as Linux does."""
    found = []
    wanted = f"{variable}=".encode()
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                variables = file.read().split(b"\0")
        except OSError:
            continue
        for one in variables:
            if one.startswith(wanted) and mark.encode() in one[len(wanted) :].split(b":"):
                found.append(int(name))
    return found


def below(ancestors: list[int]) -> list[int]:
    """Everything that these have started, as far as it has kept a parent."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            parents.setdefault(parent, []).append(int(name))
    found, waiting = [], list(ancestors)
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def clear(mark: str, variable: str, folder: str) -> None:
    """End what is left of the race, and remove its folder."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        left = marked(mark, variable)
        # First those below: they would be lost from sight with the one that adopted them.
        for pid in (*below(left), *left):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        shutil.rmtree(folder, ignore_errors=True)
        if not left and not os.path.lexists(folder):
            return
        time.sleep(0.01)


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 4096):
        pass
    clear(*sys.argv[1:4])


if __name__ == "__main__":
    main()
