"""What tests share: a configuration folder, and the command line as users call it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

SOLVERS = Path(__file__).parent / "solvers.py"


def solver(function: str, name: str | None = None, **options: Any) -> dict[str, Any]:
    """An entry for one of the badly behaved algorithms in solvers.py."""
    entry = {"name": name or function, "use": "python", "function": f"{SOLVERS}:{function}"}
    return {**entry, "options": options} if options else entry


class Project:
    """A folder with a configuration, and the command line run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "config"

    def configure(self, **changes: Any) -> Path:
        """Write config.yaml: three quick algorithms on small textbook problems, and changes."""
        config: dict[str, Any] = {
            "algorithms": [
                {"name": "random", "use": "random-search"},
                solver("coordinate_descent"),
            ],
            "instances": {"suite": "classic", "count": 3, "dimensions": {"from": 2, "to": 4}},
            "budget": {"grid": {"from": 5, "to": 200, "points": 8}},
            "execution": {"workers": 2},
        }
        config |= changes
        path = self.folder / "config.yaml"
        path.write_text(yaml.safe_dump({k: v for k, v in config.items() if v is not None}))
        return path

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "polarbear", *map(str, arguments)]

    def __call__(self, *arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder, to its end."""
        options = {"capture_output": True, "text": True, "timeout": 120, **options}
        environment = {**os.environ, "COLUMNS": "160"}
        return subprocess.run(
            self.command(*arguments), cwd=self.folder, env=environment, check=False, **options
        )

    def python(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a Python script in the folder, to its end."""
        return subprocess.run(
            [sys.executable, script],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def json(self, *arguments: Any) -> Any:
        """Run a command with --json that must succeed, and read its answer."""
        done = self(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command and leave it running, in a process group of its own."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
