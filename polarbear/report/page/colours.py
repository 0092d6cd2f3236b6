"""The page's colours for algorithms, which are those of every other figure."""

from __future__ import annotations

from polarbear.report.drawing.palette import COLOURS, look
from polarbear.report.material import Material

AGAIN_AFTER = len(COLOURS["light"])  # algorithms; then colours come again, with another dash


def colours(material: Material) -> str:
    """Style rules that give each algorithm its colour, and one to read, on light and on dark."""
    light, dark = (
        " ".join(
            f"--algorithm-{i}: {look(i, theme).colour}; --ink-{i}: {look(i, theme).text};"
            for i in range(len(material.algorithms))
        )
        for theme in ("light", "dark")
    )
    return (
        f":root {{ {light} }}\n"
        "@media screen and (prefers-color-scheme: dark) "
        f'{{ :root:not([data-theme="light"]) {{ {dark} }} }}\n'
        f'@media screen {{ :root[data-theme="dark"] {{ {dark} }} }}'
    )
