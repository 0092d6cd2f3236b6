"""The pictures of README and documentation, drawn from the quick start: SVG, on light and on dark.

    python docs/draw.py                 races, with the polarbear of this Python, and draws
    python docs/draw.py STORE           draws from a store of the quick start that is there

They lie in docs/pictures and are kept, so that a README shows them without being built.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
FIGURES = ("ratings", "leaders", "rounds")
THEMES = ("light", "dark")


def draw(store: Path, folder: Path) -> list[Path]:
    """Each figure in each theme, as FIGURE-THEME.svg."""
    made = []
    with tempfile.TemporaryDirectory() as place:
        for theme in THEMES:
            drawn = Path(place, theme)
            only = [part for figure in FIGURES for part in ("--only", figure)]
            options = ("--theme", theme, "--font-size", "9", "-q")
            _polarbear("report", store, "--svg", drawn, *only, *options)
            for figure in FIGURES:
                made.append(folder / f"{figure}-{theme}.svg")
                made[-1].write_bytes((drawn / f"{figure}.svg").read_bytes())
    return made


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        store = Path(sys.argv[1]) if sys.argv[1:] else Path(place, "race")
        if not sys.argv[1:]:
            _polarbear("race", ROOT / "configs" / "quickstart.yaml", "--store", store, "-q")
        PICTURES.mkdir(exist_ok=True)
        for path in draw(store, PICTURES):
            sys.stdout.write(f"drawn: {path.relative_to(ROOT)}\n")


def _polarbear(*arguments: object) -> None:
    command = [sys.executable, "-m", "polarbear", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")


if __name__ == "__main__":
    main()
