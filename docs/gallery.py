"""Makes the gallery's studies again: python docs/gallery.py FOLDER [STUDY ...]

Each study is raced in FOLDER/STUDY, and its page is FOLDER/STUDY.html. `python docs/build.py SITE
FOLDER` builds the site with these pages. MA-BBOB and GP-BBOB need the extra `bbob` and some minutes
each; GP-BBOB is timed in seconds and needs an idle machine.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import run_tutorials

ROOT = Path(__file__).resolve().parents[1]
UNSETTLED = 3  # exit code of a race that ends at a limit
# The paper's studies by their configuration, and tutorials with the page that each writes.
CONFIGURATIONS = {
    "synthetic": "synthetic-1",
    "ma-bbob": "mabbob-small",
    "gp-bbob": "gpbbob-small",
}
TUTORIALS = {
    "solver": "tours.html",
    "training-curves": "curves.html",
    "pull-request": "report.html",
}


def make(study: str, folder: Path) -> None:
    """Race a study and write its page."""
    place = folder / study
    place.mkdir(parents=True, exist_ok=True)
    if study in TUTORIALS:
        run_tutorials.run(study, place)
        shutil.copy(place / TUTORIALS[study], folder / f"{study}.html")
        return
    config = ROOT / "configs" / f"{CONFIGURATIONS[study]}.yaml"
    _polarbear("race", config, "--store", place / "store")
    _polarbear("report", place / "store", "--html", folder / f"{study}.html", "--force")


def _polarbear(*arguments: object) -> None:
    command = [sys.executable, "-m", "polarbear", *map(str, arguments)]
    if subprocess.run(command, check=False).returncode not in (0, UNSETTLED):
        raise SystemExit(f"failed: {' '.join(command)}")


def main() -> None:
    folder = Path(sys.argv[1])
    for study in sys.argv[2:] or [*CONFIGURATIONS, *TUTORIALS]:
        make(study, folder)


if __name__ == "__main__":
    main()
