"""What a built PolarBear carries beside its sources: plotly.js with its licence, and its commit.

Both are taken at build time, so that neither stands in the repository: plotly.js from its Python
package, of whose 60 MB the report's page needs one file; the commit from git.
"""

from __future__ import annotations

import subprocess
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMMIT = "polarbear/commit.txt"
PAGE = "polarbear/report/page"


class Carried(BuildHookInterface):
    """Adds files to a wheel or a source archive that the checkout does not have."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._scratch = tempfile.TemporaryDirectory()
        if version == "editable":  # a checkout asks git, and draws with the package plotly
            return
        added = build_data["force_include"]
        commit = commit_of(Path(self.root))
        if commit:
            file = Path(self._scratch.name, "commit.txt")
            file.write_text(commit + "\n", encoding="utf-8")
            added[str(file)] = COMMIT
        if self.target_name == "wheel":
            script, licence = plotly()
            added[str(script)] = f"{PAGE}/plotly.min.js"
            added[str(licence)] = f"{PAGE}/plotly.LICENSE.txt"

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


def plotly() -> tuple[Path, Path]:
    """plotly.js as its Python package ships it, and its licence."""
    package = metadata.distribution("plotly")
    files = package.files or []
    script = next(file for file in files if str(file).endswith("package_data/plotly.min.js"))
    licence = next(file for file in files if file.name.startswith("LICENSE"))
    return Path(str(script.locate())), Path(str(licence.locate()))
