"""Advice divides the budget into spans with one recommendation each."""

from collections.abc import Iterable

import numpy as np
import pytest

from polarbear.racing.recommendation import Grade, Span, advise, leaders

TIMES = np.geomspace(10, 1000, 20)
NAMES = ("A", "B", "C")


def p_best(*spans: tuple[int, tuple[float, float, float]]) -> np.ndarray:
    """P(best)[time, algorithm] from spans: the number of times and their probabilities."""
    return np.concatenate([np.tile(chances, (n_times, 1)) for n_times, chances in spans])


def names_and_lengths(spans: Iterable[Span]) -> list[tuple[str, int]]:
    return [("".join(span.algorithms), span.times) for span in spans]


def test_spans_cover_the_grid_and_name_one_algorithm_or_several():
    likely = p_best((5, (0.4, 0.5, 0.1)), (10, (0.95, 0.05, 0)), (5, (0, 0.1, 0.9)))
    advice = advise(NAMES, TIMES, likely)
    assert names_and_lengths(advice.spans) == [("BA", 5), ("A", 10), ("C", 5)]
    assert advice.spans[0].is_open
    assert advice.grade is Grade.RUN


def test_a_short_span_takes_the_label_of_a_neighbour_that_is_nearly_as_likely():
    likely = p_best((8, (0.8, 0.2, 0)), (1, (0.45, 0.5, 0.05)), (11, (0.8, 0.2, 0)))
    assert names_and_lengths(leaders(NAMES, TIMES, likely)) == [("A", 20)]


@pytest.mark.parametrize("chances", [(0.02, 0.97, 0.01), (0.1, 0.1, 0.8)])
def test_a_short_span_stays_if_it_is_sure_or_no_neighbour_is_nearly_as_likely(chances):
    likely = p_best((8, (0.8, 0.2, 0)), (1, chances), (11, (0.8, 0.2, 0)))
    middle = "ABC"[int(np.argmax(chances))]
    assert names_and_lengths(leaders(NAMES, TIMES, likely)) == [("A", 8), (middle, 1), ("A", 11)]


def test_two_short_spans_at_the_end_do_not_become_those_of_an_unlikely_neighbour():
    likely = p_best((18, (0.9, 0.1, 0)), (1, (0.3, 0.6, 0.1)), (1, (0.27, 0.7, 0.03)))
    assert names_and_lengths(leaders(NAMES, TIMES, likely)) == [("A", 18), ("B", 2)]


def test_it_is_too_early_below_ten_problems_or_where_no_algorithm_stands_out():
    clear = p_best((20, (0.95, 0.05, 0)))
    assert advise(NAMES, TIMES, clear, problems=9).grade is Grade.EARLY
    assert advise(NAMES, TIMES, clear, problems=10).grade is Grade.RUN
    assert advise(NAMES, TIMES, p_best((20, (0.4, 0.3, 0.3)))).grade is Grade.EARLY
    unlikely = p_best((18, (0.4, 0.3, 0.3)), (2, (0.8, 0.1, 0.1)))
    assert advise(NAMES, TIMES, unlikely).grade is Grade.EARLY


def test_an_algorithm_that_is_surely_the_best_at_some_times_only_is_recommended_there():
    """At the other times no algorithm stands out, and all are named."""
    advice = advise(NAMES, TIMES, p_best((18, (0.4, 0.3, 0.3)), (2, (0.95, 0.03, 0.02))))
    assert advice.grade is Grade.PROBABLY
    assert advice.spans[-1].algorithms == ("A",)
    assert advise(NAMES, TIMES, p_best((20, (0.7, 0.2, 0.1)))).grade is Grade.PROBABLY


def test_a_span_begins_and_ends_in_words_at_its_own_times():
    p_best = np.array([[0.9, 0.1]] * 3 + [[0.1, 0.9]] * 3 + [[0.9, 0.1]] * 3)
    spans = advise(["A", "B"], np.array([0.5, 1, 2, 5, 10, 20, 50, 100, 200]), p_best).spans
    assert [span.budgets("evaluations") for span in spans] == [
        "up to 2 evaluations", "from 5 to 20 evaluations", "from 50 evaluations on",
    ]  # fmt: skip
    assert [span.budgets() for span in spans] == ["up to 2", "from 5 to 20", "from 50 on"]
    at_ends = p_best[[0, 3, 4, 6]]
    spans = advise(["A", "B"], np.array([1, 2, 5, 10]), at_ends).spans
    assert [span.budgets() for span in spans] == ["at 1", "from 2 to 5", "at 10"]
    (only,) = advise(["A", "B"], np.array([1, 2]), p_best[:2]).spans
    assert only.budgets("s") == "at all times"


def test_a_span_ends_where_the_group_of_the_likely_best_changes():
    likely = p_best((10, (0.5, 0.5, 0)), (10, (0.5, 0, 0.5)))
    assert names_and_lengths(advise(NAMES, TIMES, likely).spans) == [("AB", 10), ("AC", 10)]
    same_group = p_best((10, (0.6, 0.4, 0)), (10, (0.4, 0.6, 0)))
    assert names_and_lengths(advise(NAMES, TIMES, same_group).spans) == [("AB", 20)]


def test_a_short_span_joins_a_group_that_is_nearly_as_likely_and_no_other():
    a_or_b = (0.5, 0.5, 0.0)
    nearly = p_best((10, a_or_b), (1, (0.3, 0.3, 0.4)), (9, a_or_b))
    assert names_and_lengths(advise(NAMES, TIMES, nearly).spans) == [("AB", 20)]
    unlikely = p_best((10, a_or_b), (1, (0.1, 0.1, 0.8)), (9, a_or_b))
    assert names_and_lengths(advise(NAMES, TIMES, unlikely).spans) == [
        ("AB", 10), ("C", 1), ("AB", 9),
    ]  # fmt: skip


def test_a_group_is_short_below_a_tenth_of_the_grid_and_a_single_algorithm_below_a_twentieth():
    times = np.geomspace(1, 100, 40)
    group = p_best((20, (0.5, 0.5, 0)), (3, (0.4, 0.2, 0.4)), (17, (0.5, 0.5, 0)))
    assert names_and_lengths(advise(NAMES, times, group).spans) == [("AB", 40)]
    single = p_best((20, (0.9, 0.1, 0)), (3, (0.3, 0.7, 0)), (17, (0.9, 0.1, 0)))
    assert len(advise(NAMES, times, single).spans) == 3


def same_from(first: int, count: int = 12) -> np.ndarray:
    """A and B had the same values on all problems from a time of the grid on."""
    same = np.zeros((len(TIMES), 3, 3), dtype=int)
    same[first:, [0, 1], [1, 0]] = count
    return same


def test_algorithms_that_always_had_equal_values_are_recommended_together():
    halves = p_best((20, (0.45, 0.45, 0.1)))
    assert advise(NAMES, TIMES, halves, problems=12).grade is Grade.EARLY
    advice = advise(NAMES, TIMES, halves, problems=12, same_values=same_from(0))
    assert advice.grade is Grade.RUN
    (span,) = advice.spans
    assert span.algorithms == ("A", "B")
    assert span.same_on == 12
    assert not span.is_open
    assert span.p_best == pytest.approx((0.9, 0.9))
    assert advise(NAMES, TIMES, halves, problems=9, same_values=same_from(0)).grade is Grade.EARLY


def test_a_span_begins_where_two_algorithms_reach_a_floor_together():
    likely = p_best((10, (0.9, 0.1, 0.0)), (10, (0.5, 0.5, 0.0)))
    before, after = advise(NAMES, TIMES, likely, same_values=same_from(10)).spans
    assert (before.algorithms, before.same_on) == (("A",), 0)
    assert (after.algorithms, after.same_on) == (("A", "B"), 12)
    halves = p_best((20, (0.5, 0.5, 0.0)))
    before, after = advise(NAMES, TIMES, halves, same_values=same_from(10)).spans
    assert (before.is_open, after.is_open) == (True, False)


def test_no_span_names_an_algorithm_that_is_never_likely_there():
    likely = p_best((7, (0.6, 0.4, 0)), (7, (0, 0.6, 0.4)), (6, (0.6, 0, 0.4)))
    for span in advise(NAMES, TIMES, likely).spans:
        is_inside = (span.start <= TIMES) & (span.stop >= TIMES)
        for name in span.algorithms:
            assert likely[is_inside, NAMES.index(name)].max() >= 0.4
