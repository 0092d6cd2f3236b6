"""The words for a group of a rule."""

import numpy as np
import pytest

from polarbear.inference.feature_models.duel_tree import Condition, Leaf
from polarbear.report.feature_rule import condition_words

SPHERE = ("function", "sphere", 0.5)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ([("dimension", None, 20.0, True)], "dimension above 20"),
        ([("size", None, 12000.0, False)], "size up to 12,000"),
        (
            [("size", None, 9.0, False), ("size", None, 5.0, True), ("size", None, 7.0, False)],
            "size above 5 up to 7",
        ),
        (
            [(*SPHERE, True), ("dimension", None, 0.25, False)],
            "function = sphere and dimension up to 0.25",
        ),
        ([(*SPHERE, False)], "function other than sphere"),
    ],
)
def test_the_conditions_of_a_group_in_words(
    path: list[tuple[str, str | None, float, bool]], words: str
):
    conditions = tuple(Condition(*condition) for condition in path)
    assert condition_words(Leaf(conditions, np.arange(3))) == words


def test_a_rule_that_does_not_split_has_no_conditions():
    assert condition_words(Leaf((), np.arange(3))) == ""
