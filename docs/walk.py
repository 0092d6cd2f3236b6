"""Walks of the documentation, done as a reader does them: files written, commands run, in order.

    python docs/walk.py           all of them, with the polarbear that the PATH has
    python docs/walk.py solver    some of them

Needs nothing but Python and an installed PolarBear, so that a wheel can be tried by it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

WALKS = Path(__file__).parent / "walks"
SHELL = "sh"
# What each walk leaves behind, and what its commands say, if they do what they are there for.
LEFT = {
    "data": ["mine.html"],
    "figures": ["figures/ratings.pdf", "figures/matrix.svg", "data/ratings.csv", "study.json"],
    "pull-request": ["comment.md", "gate.svg", "gate.xml", "report.html"],
    "python-optimiser": ["report.html"],
    "solver": ["tours/polarbear.json"],
}
SAID = {
    "data": "the budget is 100 evaluations",
    "figures": "polarbear 0.",
    "pull-request": "branch is worse than main",
    "python-optimiser": "the budget is 200 evaluations",
    "solver": "reverse a part",
}


def blocks(page: str) -> list[tuple[str, str, str]]:
    """Each block of a page: its language, its name, and what is in it."""
    return re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def walk(name: str, folder: Path) -> str:
    """Do all that a page says in an empty folder; what its commands printed, or an error."""
    said = []
    for language, file, text in blocks((WALKS / f"{name}.md").read_text(encoding="utf-8")):
        if file:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8")
        elif language == SHELL:
            done = subprocess.run(
                [SHELL, "-e"], input=text, cwd=folder, capture_output=True, text=True, check=False
            )
            said.append(done.stdout)
            if done.returncode:
                raise RuntimeError(f"{name}: exit code {done.returncode}\n{text}{done.stderr}")
    missing = [file for file in LEFT[name] if not (folder / file).is_file()]
    if missing:
        raise RuntimeError(f"{name}: {', '.join(missing)} should be there")
    if SAID[name] not in "".join(said):
        raise RuntimeError(f"{name}: '{SAID[name]}' was not said in\n{''.join(said)}")
    return "".join(said)


def main() -> None:
    for name in sys.argv[1:] or sorted(LEFT):
        with tempfile.TemporaryDirectory() as folder:
            walk(name, Path(folder))
        sys.stdout.write(f"{name}: walked\n")


if __name__ == "__main__":
    main()
