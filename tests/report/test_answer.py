"""The answer says no more than is known, and leaves out no budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

from polarbear.racing.recommendation import Grade, advise
from polarbear.report.answer import advised, answer
from polarbear.report.best_by_time import p_best
from polarbear.report.figures import FIGURES
from polarbear.report.material import gather
from polarbear.report.page import data
from polarbear.report.prose.markdown import as_markdown
from polarbear.report.prose.outline import outline
from polarbear.report.prose.sentence import Name, marked, parsed, plain
from polarbear.report.story import tell
from polarbear.store import Store
from polarbear.wording import percent, short

TIMES = np.array([10.0, 20, 40, 80, 160, 320])


@dataclass(frozen=True)
class Grid:
    """What words need of the material."""

    times: np.ndarray
    axis: str = "evaluations"


def likely(*of_the_first: float) -> np.ndarray:
    """P(best)[time, algorithm] of two, of a third that has a tenth of the rest."""
    first = np.array(of_the_first)
    return np.stack([first, 0.9 * (1 - first), 0.1 * (1 - first)], axis=1)


def said(chances: np.ndarray, times: np.ndarray = TIMES) -> str:
    advice = advise(("NONE", "B", "C"), times, chances)
    return plain(advised(advice, Grid(times)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lead", "grade"),
    [(0.95, Grade.RUN), (0.9, Grade.RUN), (0.8, Grade.PROBABLY), (0.6, Grade.EARLY)],
)
def test_words_are_as_strong_as_what_is_known_at_half_of_the_times(lead, grade):
    sure = likely(lead, lead, lead, 0.5, 0.5, 0.5)
    assert advise("ABC", TIMES, sure).grade is grade
    fewer = likely(lead, lead, 0.5, 0.5, 0.5, 0.5)
    assert advise("ABC", TIMES, fewer).grade is Grade.EARLY


def test_stretches_leave_out_no_time_of_the_grid():
    rng = np.random.default_rng(7)
    for _ in range(50):
        chances = rng.dirichlet([0.4, 0.4, 0.4], size=len(TIMES))
        made = advise("ABC", TIMES, chances).stretches
        assert sum(one.times for one in made) == len(TIMES)
        assert [made[0].start, made[-1].stop] == [TIMES[0], TIMES[-1]]
        for one, other in pairwise(made):
            place = int(np.flatnonzero(one.stop == TIMES)[0])
            assert other.start == TIMES[place + 1]
            assert not (one.is_open and other.is_open)


def test_a_lead_that_passes_at_once_changes_hands_around_a_round_number():
    assert said(likely(0.99, 0.99, 0.99, 0.01, 0.01, 0.01)) == (
        "NONE up to around 60 evaluations and B from around 60 on."
    )


def test_a_crossover_is_a_region_in_which_either_may_be_best():
    assert said(likely(0.99, 0.95, 0.5, 0.5, 0.05, 0.01)) == (
        "NONE up to 20 evaluations and B from 160 on; between 20 and 160 either."
    )
    assert said(likely(0.99, 0.95, 0.95, 0.95, 0.5, 0.5)) == (
        "NONE up to 80 evaluations; after 80 NONE or B."
    )
    assert said(likely(0.5, 0.95, 0.95, 0.5, 0.99, 0.99)) == (
        "NONE from 20 to 40 evaluations and from 160 on; up to 20 NONE or B and between 40 and 160 "
        "NONE or B."
    )


def test_one_answer_for_all_budgets_or_for_the_only_one():
    assert said(likely(*[0.97] * 6)) == "NONE, whatever the budget."
    assert said(likely(0.97), TIMES[:1]) == "NONE at 10 evaluations."


def test_too_many_changes_are_summed_up_and_what_is_open_is_said():
    times = np.arange(1.0, 11)
    assert said(likely(0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.9, 0.5, 0.5, 0.9), times) == (
        "NONE at 50% of the times and B at 30% of the times; at the other 20% it is open."
    )


def test_nobody_is_to_be_run_where_nothing_is_known(raced, monkeypatch):
    """Chances of a third each: too early while pairs are open, and nobody stands out later."""
    flat = np.full((len(raced.times), 3), 1 / 3)
    flat[:, 0] += 0.2667
    monkeypatch.setattr("polarbear.report.answer.p_best", lambda _: (("A", "B", "C"), flat))
    open_race = replace(raced, race=replace(raced.race, resolved=False))
    words = plain(answer(open_race)[0])
    assert words == (
        "Too early to say: the likeliest to be best is A, whatever the budget, with P(best) 0.60 "
        "at most."
    )
    settled = replace(raced, race=replace(raced.race, resolved=True))
    assert plain(answer(settled)[0]).startswith("Nobody stands out, though every pair is settled: ")


def test_names_stand_apart_from_words(raced):
    story = tell(raced)
    names = [part.name for part in story.headline if isinstance(part, Name)]
    assert names
    assert set(names) <= set(raced.algorithms)
    assert f"**{names[0]}**" in as_markdown(outline(raced, story))
    assert story.answer[0] == plain(story.headline)


def test_names_stand_apart_in_decisions_and_reasons_too(raced):
    story = tell(raced)
    for decision in story.decisions:
        names = [part.name for part in decision.said if isinstance(part, Name)]
        assert names
        assert set(names) <= set(raced.algorithms)
        words = "".join(part for part in decision.said if isinstance(part, str))
        assert not set(words.split()) & set(raced.algorithms)
    for entry in story.out:
        assert isinstance(entry.said[0], Name)


def test_a_text_with_marked_names_comes_apart_whatever_is_in_them():
    text = f"{marked('either')} or {marked('a (b), c')}: both."
    assert parsed(text) == (Name("either"), " or ", Name("a (b), c"), ": both.")


def test_who_is_left_alone_is_run_at_the_times_of_the_grid_and_no_others(raced, monkeypatch):
    monkeypatch.setattr("polarbear.report.answer.still_in", lambda _: ("good",))
    assert plain(answer(raced)[0]) == "Run good, whatever the budget: everybody else is out."
    one_time = replace(raced, times=raced.times[:1])
    first = short(float(raced.times[0]))
    assert plain(answer(one_time)[0]) == (
        f"Run good at {first} evaluations: everybody else is out."
    )


def test_another_model_than_the_race_s_is_named_wherever_it_speaks(raced_project):
    material = gather(Store.open(raced_project.store), model="random-walk")
    assert "Whom to run is by the random-walk model" in tell(material).evidence
    assert "by the random-walk model" in FIGURES["leaders"].caption(material)
    assert "by the random-walk model" not in FIGURES["matrix"].caption(material)
    content = data.of(material)
    assert content["moments"][-1]["title"] == "What the random-walk model says"
    assert content["selector"]["command"].endswith(" --model random-walk")
    basis = material.basis
    peaks = p_best(material)[1].argmax(axis=0)
    for name, peak in zip(p_best(material)[0], peaks, strict=True):
        (entry,) = (entry for entry in tell(material).members if entry.algorithm == name)
        share = basis.posterior.theta[:, peak, basis.algorithms.index(name)].mean()
        assert (
            "likeliest" not in entry.reason or f"on {percent(share)} of instances" in entry.reason
        )
    own = gather(Store.open(raced_project.store))
    assert "model" not in tell(own).evidence
    assert "--model" not in data.of(own)["selector"]["command"]


def test_a_look_back_says_that_nobody_knows_how_sure_it_was(kinds):
    words = tell(kinds["looking back"]).answer[0]
    assert words.startswith("The highest share of firsts then was that of ")
    assert words.endswith("how sure that was is not kept.")
