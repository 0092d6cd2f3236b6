"""Runs the tutorials as a reader does: writes their files and runs their commands, in order.

    python docs/run_tutorials.py           all that need no extra, with the polarbear on the PATH
    python docs/run_tutorials.py solver    some of them

Needs only Python and an installed PolarBear, so that a wheel can be tested by it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

TUTORIALS = Path(__file__).parent / "tutorials"
SHELL = "sh"
NEED_EXTRAS = {"features", "mip-solvers"}
# Files that each tutorial must leave, and a text that its commands must print.
WRITTEN = {
    "combinatorial": ["knapsacks.html"],
    "data": ["mine.html"],
    "features": ["knapsacks.html", "scores.png"],
    "figures": ["figures/ratings.pdf", "figures/matrix.svg", "data/ratings.csv", "study.json"],
    "mip-solvers": ["mips.html"],
    "pull-request": ["comment.md", "gate.svg", "gate.xml", "report.html"],
    "python-optimiser": ["report.html"],
    "solver": ["tours.html"],
    "training-curves": ["curves.html"],
}
PRINTED = {
    "combinatorial": "the budget is 1000 evaluations",
    "data": "the budget is 100 evaluations",
    "features": "by features: capacity=0.2, items=60",
    "figures": "polarbear 0.",
    "mip-solvers": "the budget is 1 second",
    "pull-request": "branch is worse than main",
    "python-optimiser": "the budget is 200 evaluations",
    "solver": "reverse a part",
    "training-curves": "from 5 to 20 epochs",
}


def blocks(page: str) -> list[tuple[str, str, str]]:
    """The blocks of a page: language, file name, content."""
    return re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def run(name: str, folder: Path) -> str:
    """Do what a page says in an empty folder; returns what its commands printed."""
    printed = []
    for language, file, text in blocks((TUTORIALS / f"{name}.md").read_text(encoding="utf-8")):
        if file:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8")
        elif language == SHELL:
            done = subprocess.run(
                [SHELL, "-e"], input=text, cwd=folder, capture_output=True, text=True, check=False
            )
            printed.append(done.stdout)
            if done.returncode:
                raise RuntimeError(f"{name}: exit code {done.returncode}\n{text}{done.stderr}")
    missing = [file for file in WRITTEN[name] if not (folder / file).is_file()]
    if missing:
        raise RuntimeError(f"{name}: {', '.join(missing)} should be there")
    text = "".join(printed)
    if PRINTED[name] not in text:
        raise RuntimeError(f"{name}: '{PRINTED[name]}' was not printed in\n{text}")
    return text


def main() -> None:
    for name in sys.argv[1:] or sorted(WRITTEN.keys() - NEED_EXTRAS):
        with tempfile.TemporaryDirectory() as folder:
            run(name, Path(folder))
        sys.stdout.write(f"{name}: done\n")


if __name__ == "__main__":
    main()
