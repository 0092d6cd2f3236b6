"""Typed keywords of the Python interface are the options of the group that checks them."""

import pytest

from polarbear.api.keyword_options import ComparisonKeywords, FigureKeywords, ModelKeywords
from polarbear.classical.view_options import ViewOptions
from polarbear.inference.model_options import ModelOptions
from polarbear.report.figures.style import Style
from polarbear.settings.options import key_names


@pytest.mark.parametrize(
    ("keywords", "group", "only_in_one"),
    [
        (ModelKeywords, ModelOptions, {"model"}),
        (ComparisonKeywords, ViewOptions, set()),
        (FigureKeywords, Style, {"png", "pdf", "svg", "csv"}),
    ],
)
def test_keywords_are_the_options_of_their_group(keywords, group, only_in_one):
    assert set(keywords.__annotations__) ^ set(key_names(group)) == only_in_one
