"""A temporary folder for workers, removed with their processes even if the race is killed.

A watchdog process is started with the read end of a pipe whose other end the race holds. When the
pipe closes, the race has ended: the watchdog kills every process with the race's tag and removes
the folder.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from polarbear.errors import PolarBearError
from polarbear.execution import process_tree

MAX_CLEANUP_SECONDS = 30.0  # only a very busy machine needs most of it
_PROGRAM = "from polarbear.execution.cleanup import watch; watch()"


class Scratch:
    """A temporary folder, a tag for all processes that use it, and the watchdog of both."""

    def __init__(self) -> None:
        self.tag = process_tree.new_tag()
        try:
            self._temporary = tempfile.TemporaryDirectory(
                prefix="polarbear-", ignore_cleanup_errors=True
            )
        except OSError as error:
            raise PolarBearError(
                f"cannot make a temporary folder: {error.strerror or error}; free some space, or "
                "let the variable TMPDIR name a folder with some"
            ) from None
        self.folder = Path(self._temporary.name)
        self._watchdog = self._start_watchdog()

    def _start_watchdog(self) -> subprocess.Popen[bytes] | None:
        try:
            return subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, self.tag, str(self.folder)],
                cwd=os.sep,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:  # no room for one more process: workers clean up as far as they can
            return None

    def clear(self) -> None:
        """Remove the folder, and kill all processes with the tag."""
        process_tree.kill_tagged(self.tag)
        self._temporary.cleanup()
        if self._watchdog is not None:
            assert self._watchdog.stdin is not None
            with suppress(OSError):
                self._watchdog.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._watchdog.wait(MAX_CLEANUP_SECONDS)


def watch() -> None:
    """Wait for the end of the race, then clean up; the main function of the watchdog."""
    tag, folder = sys.argv[1:]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 4096):
        pass
    deadline = time.monotonic() + MAX_CLEANUP_SECONDS
    while time.monotonic() < deadline:
        killed = process_tree.kill_tagged(tag)
        shutil.rmtree(folder, ignore_errors=True)
        if not killed and not os.path.lexists(folder):
            return
        time.sleep(0.01)
