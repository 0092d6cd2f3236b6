"""Settings of figures."""

import pytest
from matplotlib.figure import Figure

from polarbear.errors import ConfigError
from polarbear.report.figures.sheet import Sheet
from polarbear.report.figures.style import Style
from polarbear.settings.options import Source, validate


@pytest.mark.parametrize(
    ("width", "inches"),
    [("single", 3.5), ("double", 7.16), (5, 5.0), ("5in", 5.0), ("12.7 cm", 5.0), ("127mm", 5.0)],
)
def test_a_width_is_a_column_or_a_length(width, inches):
    assert Style(width=width).width == pytest.approx(inches)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"width": "wide"}, "expected single, double, or a width such as 3.5 or 8.5cm"),
        ({"width": "1..2"}, "expected single, double"),
        ({"width": True}, "expected single, double"),
        ({"width": 0.5}, "a figure is 2 to 40 inches wide, found 0.5"),
        ({"theme": "blue"}, "theme"),
        ({"font_size": 1}, "font_size"),
        ({"fontsize": 9}, "unknown key 'fontsize'; did you mean 'font_size'?"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, words):
    with pytest.raises(ConfigError, match=words.replace("?", r"\?")):
        validate(Style, options, Source("figures"))


def test_names_take_no_more_than_their_share_of_the_width():
    name = "x" * 200

    def on_sheet(width: float) -> str:
        return Sheet(Figure(), Style(width=width), {name: name}).names([name])[name]

    narrow = on_sheet(2.5)
    wide = on_sheet(20)
    assert 6 <= len(narrow) < len(wide) < 200
