"""The version of PolarBear, and the commit it was built or checked out from."""

import subprocess
from pathlib import Path

from polarbear import __version__

PACKAGE = Path(__file__).parents[1]
COMMIT_FILE = "commit.txt"  # written into the package by a build


def version_and_commit() -> str:
    """The version, and the commit where it is known."""
    built_from = PACKAGE / COMMIT_FILE
    commit = built_from.read_text("utf-8").strip() if built_from.exists() else _checked_out()
    return f"polarbear {__version__} (commit {commit})" if commit else f"polarbear {__version__}"


def _checked_out() -> str:
    """The commit of a checkout; with ``-dirty`` if files differ from it."""
    if not (PACKAGE.parent / ".git").exists():  # installed inside another repository
        return ""
    command = ["git", "-C", str(PACKAGE.parent), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        description = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return description.stdout.strip()
