"""Races for preferences: they make only the runs that the choice needs, and `select` agrees."""

import shutil
from pathlib import Path

import pytest

from polarbear.config.configuration import Config
from polarbear.driver.loop import SETTLED
from polarbear.errors import RaceError
from polarbear.facts.standings import standings
from polarbear.racing import ChoiceQuestion
from polarbear.selection.choice import Selection, select
from polarbear.selection.posterior_source import contest, find_basis
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference
from polarbear.selection.preference_purpose import PreferencePurpose
from polarbear.store import StoreOnDisk
from tests.driver.test_loop import checkpoints, configured, run
from tests.store.editing import remove_rounds

NAMES = ("good", "bad", "early", "late")
RULES = {"batch": {"start": 8, "min": 8, "max": 8}, "limits": {"instances": 400}}
CONFIG = configured(NAMES, rules=RULES, inference={"draws": 400})


def purpose_of(text: str, threshold: float = 0.02, config: Config = CONFIG) -> PreferencePurpose:
    budget = config.budget
    context = Context(budget.times, budget.axis, joint=config.inference.joint)
    return PreferencePurpose(read_preference(text)[0], context, threshold)


def selected(store: StoreOnDisk, text: str) -> Selection:
    basis = find_basis(store)
    return select(basis, contest(basis), read_preference(text)[0], basis.context())


def questions(store: StoreOnDisk) -> tuple[ChoiceQuestion, ...]:
    last_round = store.rounds.last()
    assert last_round is not None
    return last_round.state.choices


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("at 20", 20),
        ("between 20 and 40", 40),
        ("uniform", 60),
        ("worst-case", 60),
        ("normal 30 2", 40),
        ("0.5 * at 10 + 0.5 * at 30", 30),
    ],
)
def test_it_runs_what_the_preference_needs_and_select_recommends_the_same(tmp_path, text, last):
    purpose = purpose_of(text)
    ended, store, notes = run(CONFIG, tmp_path / "s", purposes=[purpose])
    assert not ended.at_limit
    (question,) = questions(store)
    assert question.is_answered
    assert question.choice in ended.because
    assert {budget for _, _, budget in notes.runs} == {last}
    problems_of = {name: [i for n, i, _ in notes.runs if n == name] for name in NAMES}
    out = {entry.algorithm for entry in question.out}
    facts = standings(store)
    assert facts is not None
    eliminated = {entry.algorithm for entry in facts.eliminated}
    considered = set(NAMES) - out - eliminated
    longest = max(map(len, problems_of.values()))
    assert all(len(problems_of[name]) == longest for name in considered)
    assert out.isdisjoint(eliminated)
    assert set(facts.pareto_set) == set(NAMES) - eliminated  # being out is no elimination
    chosen = selected(store, text)
    assert chosen.name(chosen.choice) == question.choice
    assert chosen.too_early() is None
    regret = chosen.criteria.regret[chosen.choice]
    assert regret == pytest.approx(question.expected_regret, abs=1e-6)
    assert regret < 0.02 or chosen.as_good_as == question.as_good_as != ()


def test_an_algorithm_that_is_out_makes_no_further_runs(tmp_path: Path):
    _, store, notes = run(CONFIG, tmp_path / "s", purposes=[purpose_of("at 40", 0.005)])
    (question,) = questions(store)
    entries = {entry.algorithm: entry for entry in question.out}
    assert "bad" in entries
    last_round_of = {
        name: max(record.state.round for record in notes.rounds if name in record.ran_to)
        for name in NAMES
    }
    for name, entry in entries.items():
        assert last_round_of[name] == entry.round < last_round_of[question.choice]
        assert entry.probability >= 0.95
        assert entry.wealth >= 20


def test_several_preferences_share_runs_and_each_is_answered(tmp_path: Path):
    texts = ["at 10", "at 60"]
    ended, store, notes = run(CONFIG, tmp_path / "s", purposes=[purpose_of(t) for t in texts])
    assert [question.preference for question in questions(store)] == texts
    assert [question.choice for question in questions(store)] == ["early", "late"]
    for text, choice in zip(texts, ["early", "late"], strict=True):
        assert f"{choice} for '{text}'" in ended.because
    assert len({(name, instance) for name, instance, _ in notes.runs}) == len(notes.runs)
    # The same race again has nothing to run, and one for the first preference alone neither.
    again, _, nothing = run(CONFIG, tmp_path / "s", purposes=[purpose_of(t) for t in texts])
    assert (again, nothing.runs) == (ended, [])
    one, store, nothing = run(CONFIG, tmp_path / "s", purposes=[purpose_of("at 10")])
    assert (one.at_limit, nothing.runs) == (False, [])


def test_it_continues_for_another_preference_and_for_the_set(tmp_path: Path):
    run(CONFIG, tmp_path / "s", purposes=[purpose_of("at 10")])
    _, store, notes = run(CONFIG, tmp_path / "s", purposes=[purpose_of("at 60")])
    assert questions(store)[0].choice == "late"
    assert {budget for _, _, budget in notes.runs} == {60}
    ended, store, _ = run(CONFIG, tmp_path / "s")
    assert ended.because.startswith(SETTLED)
    facts = standings(store)
    assert facts is not None
    assert facts.resolved
    assert not facts.is_for_preferences
    assert selected(store, "at 60").too_early() is None


def test_rounds_that_are_lost_come_out_the_same_to_the_byte(tmp_path: Path):
    purposes = [purpose_of("at 20", 0.005), purpose_of("at 60", 0.005)]
    _, store, _ = run(CONFIG, tmp_path / "s", purposes=purposes)
    expected = checkpoints(store)
    assert len(expected) > 3
    remove_rounds(Path(shutil.copytree(store.path, tmp_path / "copy")))
    _, resumed, notes = run(CONFIG, tmp_path / "copy", purposes=purposes)
    assert checkpoints(resumed) == expected
    assert notes.runs == []


def test_a_limit_holds_and_the_race_is_the_same_in_one_go_or_two(tmp_path: Path):
    purposes = [purpose_of("uniform", 1e-6)]
    short = configured(NAMES, rules={**RULES, "limits": {"rounds": 2}}, inference={"draws": 400})
    longer = configured(NAMES, rules={**RULES, "limits": {"rounds": 4}}, inference={"draws": 400})
    ended, store, _ = run(short, tmp_path / "two", purposes=purposes)
    assert ended.at_limit
    run(longer, tmp_path / "two", purposes=purposes)
    _, store_of_one_go, _ = run(longer, tmp_path / "one", purposes=purposes)
    assert checkpoints(store) == checkpoints(store_of_one_go)


def test_a_newcomer_is_considered_for_the_preference(tmp_path: Path):
    without_early = configured(("good", "bad", "late"), rules=RULES, inference={"draws": 400})
    run(without_early, tmp_path / "s", purposes=[purpose_of("at 10")])
    _, store, notes = run(CONFIG, tmp_path / "s", purposes=[purpose_of("at 10")])
    (question,) = questions(store)
    assert question.choice == "early"
    assert question.is_answered
    assert {name for name, _, _ in notes.runs} >= {"early"}
    assert {budget for _, _, budget in notes.runs} == {10}


def test_clones_end_as_good_as_each_other_and_select_says_so(tmp_path: Path):
    config = configured(
        ("A", "B", "bad"),
        {"A": 1.0, "B": 1.0, "bad": 0.2},
        {"epsilon": 0.15, "alpha": 0.9},
        inference={"draws": 400},
    )
    purpose = purpose_of("at 20", 1e-6, config)
    ended, store, _ = run(config, tmp_path / "s", purposes=[purpose])
    (question,) = questions(store)
    (other,) = {"A", "B"} - {question.choice}
    assert question.as_good_as == (other,)
    assert f"{question.choice} is as good as {other}" in ended.because
    chosen = selected(store, "at 20")
    assert chosen.too_early() is None
    assert chosen.as_good_as == (other,)
    assert f"as good as {other}" in chosen.statement()


def test_it_cannot_race_one_algorithm(tmp_path: Path):
    with pytest.raises(RaceError, match="at least two"):
        run(configured(("good",), rules=RULES), tmp_path / "s", purposes=[purpose_of("at 20")])
