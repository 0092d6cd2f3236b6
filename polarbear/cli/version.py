"""`polarbear --version`: the version and the commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

from polarbear import __version__

PACKAGE = Path(__file__).parents[1]
KEPT = "commit.txt"  # written into the package by a build


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
    """The commit of a checkout; with ``-dirty`` if files differ from it."""
    if not (PACKAGE.parent / ".git").exists():  # installed inside another repository
        return ""
    command = ["git", "-C", str(PACKAGE.parent), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
