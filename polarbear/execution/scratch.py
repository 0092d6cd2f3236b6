"""A folder for what workers write meanwhile, which is gone when they are, however they end."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from polarbear.errors import PolarBearError
from polarbear.execution import families, janitor

JANITOR_LEAVES = 30.0  # seconds it may take; it has little to do where everything went well


class Scratch:
    """A temporary folder, a mark for all that works in it, and a janitor who clears up both.

    The janitor is a small process of its own, so that nothing is left where this one is killed.
    """

    def __init__(self) -> None:
        self.mark = families.new_mark()
        try:
            self._made = tempfile.TemporaryDirectory(
                prefix="polarbear-", ignore_cleanup_errors=True
            )
        except OSError as error:
            raise PolarBearError(
                f"cannot make a temporary folder: {error.strerror or error}; free some space, or "
                "let the variable TMPDIR name a folder with some"
            ) from None
        self.folder = Path(self._made.name)
        self._janitor = self._employed()

    def _employed(self) -> subprocess.Popen[bytes] | None:
        program = [sys.executable, "-I", "-S", str(janitor.__file__)]
        try:
            return subprocess.Popen(
                [*program, self.mark, families.MARK, str(self.folder)],
                cwd=os.sep,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:  # no room for one more process: workers clear up as far as they can
            return None

    def clear(self) -> None:
        """Remove the folder, and end whatever still carries the mark."""
        families.end_marked(self.mark)
        self._made.cleanup()
        if self._janitor is not None:
            assert self._janitor.stdin is not None
            with suppress(OSError):
                self._janitor.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._janitor.wait(JANITOR_LEAVES)
