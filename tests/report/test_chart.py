"""Descriptions of charts: what the page receives, and that both renderers know all of it."""

import re
from typing import get_args

import numpy as np
import pytest

from polarbear.report.figures import FIGURES
from polarbear.report.figures.canvas_renderer import DASHES, MARKERS, draw_chart
from polarbear.report.figures.chart import (
    Axis,
    Chart,
    Dash,
    Ink,
    Line,
    Marker,
    Panel,
    Row,
    Series,
    plain,
    row_axis,
)
from polarbear.report.figures.figure_files import on_canvas
from polarbear.report.figures.style import Style
from polarbear.report.page.assets import as_json
from tests.report.scripts import ROOT, SCRIPTS

RENDERER = (ROOT / SCRIPTS / "chart_renderer.js").read_text(encoding="utf-8")


def keys_of(table: str) -> set[str]:
    """The keys of a table in the renderer of the page."""
    match = re.search(rf"const {table} = {{(.*?)}};", RENDERER, re.DOTALL)
    assert match is not None
    return set(re.findall(r"(\w+):", match[1]))


def test_both_renderers_know_every_series_ink_dash_and_marker():
    assert keys_of("DRAWN") == {kind.__name__.lower() for kind in get_args(Series)}
    assert keys_of("INKS") == set(get_args(Ink))
    assert keys_of("DASHES") == set(DASHES) == set(get_args(Dash)) - {""}
    assert keys_of("SYMBOLS") == set(get_args(Marker)) - {""}
    assert set(MARKERS) == set(get_args(Marker)) - {"own"}


def test_the_page_receives_what_is_not_a_default_with_the_digits_of_a_screen():
    line = Line(np.array([1.0, 2.0]), (1 / 3, float("nan")), algorithm="A")
    chart = Chart((Panel(Axis("time", low=0), row_axis([Row(("A",))]), (line,)),), {"A": "label"})
    assert plain(chart) == {
        "panels": [
            {
                "x": {"title": "time", "low": 0},
                "y": {"has_grid": False, "rows": [{"algorithms": ["A"]}]},
                "series": [
                    {"kind": "line", "x": [1.0, 2.0], "y": [0.3333, None], "algorithm": "A"}
                ],
            }
        ]
    }


@pytest.mark.parametrize("kind", ["raced", "failures", "one time"])
def test_every_figure_has_a_chart_that_the_page_can_read(kind, kinds):
    context = kinds[kind]
    for figure in FIGURES.values():
        if figure.missing(context) is None:
            chart = figure.chart(figure.data(context), context)
            assert chart.panels
            assert as_json(plain(chart)).startswith('{"panels":[{')


def test_a_chart_without_panels_has_its_notes():
    style = Style()
    with on_canvas(style) as canvas:
        draw_chart(canvas, Chart((), {}, notes=("no such column",)), style)
        assert canvas._supxlabel.get_text() == "no such column"
