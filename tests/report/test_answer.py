"""The recommendation claims no more than the evidence supports, and covers every budget."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

from polarbear.racing.recommendation import Grade, advise
from polarbear.report.context import ReportContext, gather
from polarbear.report.figures import FIGURES
from polarbear.report.page import page_data
from polarbear.report.story import advised, recommendation, story_of
from polarbear.report.words import pieces, without_marks
from polarbear.store import StoreOnDisk
from polarbear.wording import short

TIMES = np.array([10.0, 20, 40, 80, 160, 320])


@dataclass(frozen=True)
class Grid:
    """The part of a context that words about advice use."""

    times: np.ndarray
    axis: str = "evaluations"


def likely(*p_best_of_first: float) -> np.ndarray:
    """P(best)[time, algorithm] of three; the third has a tenth of what the first leaves."""
    first = np.array(p_best_of_first)
    return np.stack([first, 0.9 * (1 - first), 0.1 * (1 - first)], axis=1)


def said(chances: np.ndarray, times: np.ndarray = TIMES) -> str:
    advice = advise(("NONE", "B", "C"), times, chances)
    return without_marks(advised(advice, Grid(times)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lead", "grade"),
    [(0.95, Grade.RUN), (0.9, Grade.RUN), (0.8, Grade.PROBABLY), (0.6, Grade.EARLY)],
)
def test_words_are_as_strong_as_what_is_known_at_half_of_the_times(lead, grade):
    sure = likely(lead, lead, lead, 0.5, 0.5, 0.5)
    assert advise("ABC", TIMES, sure).grade is grade
    fewer = likely(lead, lead, 0.5, 0.5, 0.5, 0.5)
    is_sure_somewhere = lead >= 0.9
    assert advise("ABC", TIMES, fewer).grade is (
        Grade.PROBABLY if is_sure_somewhere else Grade.EARLY
    )


def test_stretches_leave_out_no_time_of_the_grid():
    rng = np.random.default_rng(7)
    for _ in range(50):
        chances = rng.dirichlet([0.4, 0.4, 0.4], size=len(TIMES))
        spans = advise("ABC", TIMES, chances).spans
        assert sum(span.times for span in spans) == len(TIMES)
        assert [spans[0].start, spans[-1].stop] == [TIMES[0], TIMES[-1]]
        for span, next_span in pairwise(spans):
            last_time = int(np.flatnonzero(span.stop == TIMES)[0])
            assert next_span.start == TIMES[last_time + 1]
            assert {*span.algorithms} != {*next_span.algorithms}


def test_spans_are_those_times_of_the_grid_at_which_an_algorithm_leads():
    assert said(likely(0.99, 0.99, 0.99, 0.01, 0.01, 0.01)) == (
        "NONE up to 40 evaluations and B from 80 on."
    )


def test_a_crossover_is_a_region_in_which_either_may_be_best():
    assert said(likely(0.99, 0.95, 0.5, 0.5, 0.05, 0.01)) == (
        "NONE up to 20 evaluations and B from 160 on; from 40 to 80 NONE or B."
    )
    assert said(likely(0.99, 0.95, 0.95, 0.95, 0.5, 0.5)) == (
        "NONE up to 80 evaluations; from 160 on NONE or B."
    )
    assert said(likely(0.5, 0.95, 0.95, 0.5, 0.99, 0.99)) == (
        "NONE from 20 to 40 evaluations and from 160 on; at 10 NONE or B and at 80 NONE or B."
    )


def test_one_answer_for_all_budgets_or_for_the_only_one():
    assert said(likely(*[0.97] * 6)) == "NONE, whatever the budget."
    assert said(likely(0.97), TIMES[:1]) == "NONE at 10 evaluations."


def test_many_changes_are_named_by_spans_of_the_budget_and_slivers_merged():
    times = np.arange(1.0, 11)
    assert said(likely(0.99, 0.99, 0.01, 0.01, 0.99, 0.99, 0.7, 0.01, 0.01, 0.99), times) == (
        "NONE up to 2 evaluations, from 5 to 7 and at 10 and B from 3 to 4 and from 8 to 9."
    )
    assert said(likely(0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.9, 0.5, 0.5, 0.9), times).count("%") == 0


def test_no_algorithm_is_recommended_where_nothing_is_known(raced, monkeypatch):
    """Too early on few problems or while pairs are open; later no algorithm stands out."""
    flat = np.full((len(raced.times), 3), 1 / 3)
    flat[:, 0] += 0.2667
    monkeypatch.setattr(ReportContext, "p_best", (("A", "B", "C"), flat))
    monkeypatch.setattr(ReportContext, "fewest_shared_problems", 40)
    open_race = replace(raced, race=replace(raced.race, resolved=False))
    words = without_marks(recommendation(open_race)[0])
    assert words == (
        "Too early to say. The likely best so far: A or B, whatever the budget (highest P(best): "
        "0.60)."
    )
    settled = replace(raced, race=replace(raced.race, resolved=True))
    assert without_marks(recommendation(settled)[0]).startswith(
        "No algorithm stands out, though every pair is "
    )
    monkeypatch.setattr(ReportContext, "fewest_shared_problems", 9)
    assert without_marks(recommendation(settled)[0]).startswith("Too early to say, on 9 problems. ")


def test_names_stand_apart_in_decisions_and_reasons_too(raced):
    story = story_of(raced)
    for decision in story.decisions:
        names = pieces(decision.text)[1::2]
        words = "".join(pieces(decision.text)[::2])
        assert names
        assert set(names) <= set(raced.algorithms)
        assert not set(words.split()) & set(raced.algorithms)
    for entry in story.left_out:
        assert pieces(entry.text)[1] in raced.algorithms


def test_who_is_left_alone_is_run_at_the_times_of_the_grid_and_no_others(raced, monkeypatch):
    monkeypatch.setattr(ReportContext, "remaining", ("good",))
    words = without_marks(recommendation(raced)[0])
    assert words == "Run good, whatever the budget: all others are eliminated."
    one_time = replace(raced, times=raced.times[:1])
    first = short(float(raced.times[0]))
    assert without_marks(recommendation(one_time)[0]) == (
        f"Run good at {first} evaluations: all others are eliminated."
    )


def test_another_model_than_the_race_s_is_named_wherever_it_speaks(raced_project):
    context = gather(StoreOnDisk.open(raced_project.store), model="random-walk")
    assert "The recommendation is by the random-walk model" in story_of(context).evidence
    assert "by the random-walk model" in FIGURES["leaders"].caption(context)
    assert "by the random-walk model" not in FIGURES["matrix"].caption(context)
    content = page_data.of(context)
    assert content["moments"][-1]["title"] == "What the random-walk model says"
    assert content["selector"]["command"].endswith(" --model random-walk")
    own = gather(StoreOnDisk.open(raced_project.store))
    assert "model" not in story_of(own).evidence
    assert "--model" not in page_data.of(own)["selector"]["command"]


def test_a_look_back_at_few_problems_says_that_it_was_too_early(kinds):
    words = story_of(kinds["looking back"]).answer[0]
    assert words.startswith("Too early to say, on 8 problems. The likely best so far: ")
