"""`polarbear --version`: which PolarBear this is, to the commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

from polarbear import __version__

PACKAGE = Path(__file__).parents[1]
KEPT = "commit.txt"  # what a build writes into the package


def version_and_commit() -> str:
    """The version, and the commit where it is known."""
    commit = _built_from() or _checked_out()
    return f"polarbear {__version__} (commit {commit})" if commit else f"polarbear {__version__}"


def _built_from() -> str:
    try:
        return (PACKAGE / KEPT).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _checked_out() -> str:
    """What git says of a checkout; ``-dirty`` where files differ from the commit."""
    if not (PACKAGE.parent / ".git").exists():  # installed inside somebody else's repository
        return ""
    command = ["git", "-C", str(PACKAGE.parent), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
