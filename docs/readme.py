"""Runs the commands of the README's quick start and writes what they print into the README.

    python docs/readme.py           with the polarbear of this Python

A command's output is the block that follows its own block.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
QUICK_START = "configs/quickstart.yaml"
COMMAND_AND_OUTPUT = re.compile(
    r"^(```\n(?:pip install \. && )?polarbear ([^\n]+)\n```\n\n)```\n.*?^```$",
    re.MULTILINE | re.DOTALL,
)


def with_outputs(text: str) -> str:
    """The README with the outputs of its commands, run one after the other in an empty folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / QUICK_START).parent.mkdir()
        shutil.copy(ROOT / QUICK_START, folder / QUICK_START)
        return COMMAND_AND_OUTPUT.sub(
            lambda match: f"{match[1]}```\n{_output(match[2], folder)}\n```", text
        )


def main() -> None:
    README.write_text(with_outputs(README.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"written: {README.relative_to(ROOT)}\n")


def _output(arguments: str, folder: Path) -> str:
    command = f"{sys.executable} -m polarbear {arguments}"
    done = subprocess.run(
        command, shell=True, cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr}")
    return done.stdout.rstrip()


if __name__ == "__main__":
    main()
