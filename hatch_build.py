"""What a built PolarBear carries beside its sources: the commit it was built from."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMMIT = "polarbear/commit.txt"


class Carried(BuildHookInterface):
    """Adds files to a wheel or a source archive that the checkout does not have."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._scratch = tempfile.TemporaryDirectory()
        if version == "editable":  # a checkout asks git
            return
        added = build_data["force_include"]
        commit = commit_of(Path(self.root))
        if commit:
            file = Path(self._scratch.name, "commit.txt")
            file.write_text(commit + "\n", encoding="utf-8")
            added[str(file)] = COMMIT

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._scratch.cleanup()


def commit_of(root: Path) -> str:
    """The commit that is built, marked if files differ from it; empty where git knows nothing."""
    if not (root / ".git").exists():  # a folder inside somebody else's repository
        return ""
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
