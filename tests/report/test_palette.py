"""Colours that stay with their algorithm, and that any reader can tell apart."""

from itertools import combinations

import numpy as np
import pytest

from polarbear.report.figures.style import COLOURS, INKS, look

# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
READABLE = 4.5  # the contrast that WCAG asks of text
APART = 20.0  # in CIE L*a*b*, in which a difference of 2.3 is just noticeable


def linear_rgb(colour: str) -> np.ndarray:
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(first: str, other: str) -> float:
    """The contrast ratio of WCAG: 1 for the same colour, 21 for black on white."""
    dark, light = sorted(linear_rgb(c) @ XYZ[1] for c in (first, other))
    return (light + 0.05) / (dark + 0.05)


def lab(colour: str, vision: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of a colour as seen."""
    ratio = XYZ @ np.clip(vision @ linear_rgb(colour), 0, 1) / XYZ.sum(axis=1)
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_eight_colours_are_told_apart_by_every_reader(theme, vision):
    as_seen = [lab(colour, VISION[vision]) for colour in COLOURS[theme]]
    assert len(as_seen) == 8
    assert min(np.linalg.norm(first - second) for first, second in combinations(as_seen, 2)) > APART


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_lines_stand_out_from_the_paper_and_names_can_be_read(theme):
    paper = INKS[theme].paper
    assert all(contrast(colour, paper) > 2 for colour in COLOURS[theme])
    assert all(contrast(look(i, theme).text, paper) >= READABLE for i in range(20))
    assert contrast(INKS[theme].faint, paper) >= READABLE


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_no_two_of_eighteen_algorithms_share_colour_and_dash(theme):
    looks = [look(i, theme) for i in range(18)]
    assert len({(each_look.colour, each_look.dash) for each_look in looks}) == 18
