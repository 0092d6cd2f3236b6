"""Colours that stay with their algorithm, and that any reader can tell apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from polarbear.report.figures.style import (
    COLOURS,
    INKS,
    READABLE,
    contrast,
    look,
    mix,
    readable,
    writing_on,
)

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
APART = 15.0  # in CIEDE2000; what is above 10 is told apart at a glance


def lab(colour: str, vision: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of a colour as seen."""
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    ratio = XYZ @ np.clip(vision @ linear, 0, 1) / XYZ.sum(axis=1)
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def ciede2000(one: np.ndarray, two: np.ndarray) -> float:
    chroma = (np.hypot(*one[1:]) + np.hypot(*two[1:])) / 2
    stretch = 1.5 - 0.5 * np.sqrt(chroma**7 / (chroma**7 + 25**7))
    a, b = (np.array([c[0], c[1] * stretch, c[2]]) for c in (one, two))
    ca, cb = np.hypot(*a[1:]), np.hypot(*b[1:])
    ha, hb = (np.degrees(np.arctan2(c[2], c[1])) % 360 for c in (a, b))
    turn = (hb - ha + 180) % 360 - 180 if ca * cb else 0.0
    dh = 2 * np.sqrt(ca * cb) * np.sin(np.radians(turn) / 2)
    light, c = (a[0] + b[0]) / 2, (ca + cb) / 2
    h = ha + hb if ca * cb == 0 else (ha + turn / 2) % 360
    t = (
        1
        - 0.17 * np.cos(np.radians(h - 30))
        + 0.24 * np.cos(np.radians(2 * h))
        + 0.32 * np.cos(np.radians(3 * h + 6))
        - 0.20 * np.cos(np.radians(4 * h - 63))
    )
    sl = 1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2)
    sc, sh = 1 + 0.045 * c, 1 + 0.015 * c * t
    rotation = (
        -np.sin(np.radians(60 * np.exp(-(((h - 275) / 25) ** 2))))
        * 2
        * np.sqrt(c**7 / (c**7 + 25**7))
    )
    dl, dc = (b[0] - a[0]) / sl, (cb - ca) / sc
    return float(np.sqrt(dl**2 + dc**2 + (dh / sh) ** 2 + rotation * dc * dh / sh))


@pytest.mark.parametrize(
    ("one", "two", "distance"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, 2.5, 0), (58, 24, 15), 19.4535),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
    ],
)
def test_the_distance_is_that_of_the_published_test_data(one, two, distance):
    """Sharma, Wu and Dalal (2005), rows 1, 17, 20 and 30."""
    assert ciede2000(np.array(one, float), np.array(two, float)) == pytest.approx(
        distance, abs=1e-4
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_eight_colours_are_told_apart_by_every_reader(theme, vision):
    seen = [lab(colour, VISION[vision]) for colour in COLOURS[theme]]
    assert len(seen) == 8
    assert min(ciede2000(one, two) for one, two in combinations(seen, 2)) > APART


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_lines_stand_out_from_the_paper_and_names_can_be_read(theme):
    paper = INKS[theme].paper
    assert all(contrast(colour, paper) > 2 for colour in COLOURS[theme])
    assert all(contrast(look(i, theme).text, paper) >= READABLE for i in range(20))
    assert contrast(INKS[theme].faint, paper) >= READABLE


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_no_two_of_eighteen_look_the_same(theme):
    looks = [look(i, theme) for i in range(18)]
    assert len({(one.colour, one.dash) for one in looks}) == 18


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_what_is_written_on_an_area_can_be_read(theme):
    for i in range(8):
        colour = look(i, theme).colour
        assert contrast(writing_on(colour, theme), colour) >= 3.5


def test_a_colour_that_can_be_read_stays_as_it_is():
    assert readable("#4B3D7D", "light") == "#4B3D7D"
    assert mix("#000000", "#FFFFFF", 0.5) == "#808080"
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
