"""Verdicts on a pair against their plain meaning, for all combinations of codes on short grids."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from polarbear import racing as race
from polarbear.inference.relations import DecisionTables
from polarbear.racing import LETTERS, Elimination, Verdict, VerdictKind, verdict, verdict_on
from polarbear.racing.rules import Rules
from polarbear.racing.verdicts import AT_A_TIME, SIGNS, WORDS
from tests.racing.test_race import tables

LONGEST = 4
COMBINATIONS = [
    "".join(letters)
    for length in range(1, LONGEST + 1)
    for letters in product(LETTERS, repeat=length)
]

# The meaning of each kind, as a condition on the letters of a pair. A letter is what was shown at a
# time: > or < one is better, = equivalent; x, - and . nothing.
MEANING = {
    VerdictKind.OPEN: lambda s: "." in s,
    VerdictKind.CROSSING: lambda s: "." not in s and ">" in s and "<" in s,
    VerdictKind.MOOT: lambda s: "." not in s and "-" in s and not (">" in s and "<" in s),
    VerdictKind.DOMINATES: lambda s: set(s) == {">"},
    VerdictKind.DOMINATED: lambda s: set(s) == {"<"},
    VerdictKind.NEVER_WORSE: lambda s: set(s) == {">", "="},
    VerdictKind.NEVER_BETTER: lambda s: set(s) == {"<", "="},
    VerdictKind.SOMETIMES_BETTER: lambda s: {">", "x"} <= set(s) <= {">", "x", "="},
    VerdictKind.SOMETIMES_WORSE: lambda s: {"<", "x"} <= set(s) <= {"<", "x", "="},
    VerdictKind.EQUIVALENT: lambda s: set(s) == {"="},
    VerdictKind.SOMETIMES_EQUIVALENT: lambda s: set(s) == {"=", "x"},
    VerdictKind.NOTHING_SHOWN: lambda s: set(s) == {"x"},
}
# What a reader takes a phrase to claim.
CLAIMS = {
    "A is better than B at every time": lambda s: set(s) == {">"},
    "B is better than A at every time": lambda s: set(s) == {"<"},
    "at some times and equivalent at the others": lambda s: set(s) in ({">", "="}, {"<", "="}),
    "A is better than B at some times": lambda s: ">" in s,
    "B is better than A at some times": lambda s: "<" in s,
    "(A better at some times": lambda s: ">" in s,
    "(B better at some times": lambda s: "<" in s,
    # All times are settled at once where one is better somewhere and the other as good elsewhere.
    "equivalent or better at others": lambda s: "x" in s,
    "each is better at some times": lambda s: {">", "<"} <= set(s),
    "equivalent at every time": lambda s: set(s) == {"="},
    "equivalent at some times": lambda s: "=" in s,
    "no relation was shown at the others": lambda s: set(s) <= {"=", "x"} and "x" in s,
    "no relation between A and B was shown": lambda s: not set(s) & set("><="),
    "still open": lambda s: "." in s,
    "not compared further: one of them is eliminated": lambda s: "-" in s and "." not in s,
}


def codes(letters: str) -> list[int]:
    return [LETTERS.index(letter) for letter in letters]


def judged(letters: str) -> Verdict:
    return verdict(codes(letters))


def swapped(letters: str) -> str:
    return letters.translate(str.maketrans("><", "<>"))


def test_every_combination_of_codes_has_the_one_kind_that_it_means():
    assert set(MEANING) == set(VerdictKind)
    for letters in COMBINATIONS:
        meant = [kind for kind, holds in MEANING.items() if holds(letters)]
        found = judged(letters)
        assert [found.kind] == meant, letters
        for letter, places in ((">", found.above), ("<", found.below), ("=", found.alike)):
            assert list(places) == [i for i, here in enumerate(letters) if here == letter], letters


def test_words_claim_nothing_that_was_not_shown():
    claimed = set()
    for letters in COMBINATIONS:
        words = judged(letters).words("A", "B")
        made = [phrase for phrase in CLAIMS if phrase in words]
        assert made, words
        for phrase in made:
            assert CLAIMS[phrase](letters), (letters, words)
        claimed |= set(made)
    assert claimed == set(CLAIMS)


def test_a_verdict_from_the_other_side_says_the_same():
    for letters in COMBINATIONS:
        there, here = judged(letters), judged(swapped(letters))
        assert here == there.mirrored(), letters
        if here.kind != there.kind:
            assert here.words("B", "A") == there.words("A", "B")


def test_every_kind_and_every_code_has_words_and_signs_differ():
    assert set(SIGNS) == set(WORDS) == set(VerdictKind)
    assert len(set(SIGNS.values())) == len(VerdictKind)
    assert len(set(AT_A_TIME)) == len(LETTERS)
    assert judged("=").words("{b}", "{0}") == "{b} and {0} are equivalent at every time"


def test_an_eliminator_dominates_whatever_single_times_were_settled_as():
    state = race.start("AB", (1.0, 2.0, 3.0), Rules())
    settled = np.array([codes(">x=")], dtype=np.int8)
    gone = Elimination("B", "A", 3, 24, 0.995)
    state = race.State(state.algorithms, state.times, 8, settled, eliminated=(gone,))
    assert verdict_on(state, "A", "B") == Verdict(VerdictKind.DOMINATES, above=(0, 1, 2))
    assert verdict_on(state, "B", "A") == Verdict(VerdictKind.DOMINATED, below=(0, 1, 2))


# (P(A better), P(equivalent)) at one time: A above, B above, equivalent, A above within what counts
# as equivalent, and undecided.
BELIEFS = {
    "above": (0.995, 0.0),
    "below": (0.005, 0.0),
    "alike": (0.6, 0.995),
    "slightly above": (0.995, 0.995),
    "undecided": (0.6, 0.3),
}


def believed(names: tuple[str, ...]) -> DecisionTables:
    above, alike = zip(*(BELIEFS[name] for name in names), strict=True)
    return tables({("A", "B"): above}, {("A", "B"): alike})


@pytest.mark.parametrize("resolution", ["crossing", "strict"])
@pytest.mark.parametrize(("times", "rounds"), [(1, 3), (2, 2), (3, 1)])
def test_a_verdict_contains_only_what_a_round_has_shown(resolution, times, rounds):
    """Every sequence of beliefs about one pair, for each rule: what a verdict says was shown at a
    time was certain in some round, and only crossing resolution leaves a time without."""
    rules = Rules(resolution=resolution)
    seen = set()
    for sequence in product(product(BELIEFS, repeat=times), repeat=rounds):
        state = race.start("AB", range(1, times + 1), rules)
        for names in sequence:
            state, _ = race.step(state, rules, 8, believed(names))
        found = verdict_on(state, "A", "B")
        seen.add(found.kind)
        for places, shows in (
            (found.above, {"above", "slightly above"}),
            (found.below, {"below"}),
            (found.alike, {"alike"}),
        ):
            for t in places:
                assert shows & {names[t] for names in sequence}, sequence
        if state.open_pairs:
            assert found.kind is VerdictKind.OPEN
        elif len(state.candidates) == 1:
            assert found.kind in (VerdictKind.DOMINATES, VerdictKind.DOMINATED)
        else:  # both are in, so neither was better at every time
            shown = len(found.above) + len(found.below) + len(found.alike)
            assert found.kind not in (
                VerdictKind.OPEN,
                VerdictKind.MOOT,
                VerdictKind.DOMINATES,
                VerdictKind.DOMINATED,
            )
            assert shown == times or resolution == "crossing"
    unshown = {
        VerdictKind.SOMETIMES_BETTER,
        VerdictKind.SOMETIMES_WORSE,
        VerdictKind.SOMETIMES_EQUIVALENT,
    }
    assert VerdictKind.NOTHING_SHOWN not in seen
    if resolution == "strict":
        assert not seen & unshown
    elif times == 3:
        assert VerdictKind.SOMETIMES_BETTER in seen


def test_the_docs_say_what_every_verdict_means():
    text = (Path(__file__).parents[2] / "docs" / "explanation" / "racing.md").read_text()
    section = text.partition("## How algorithms and pairs stand")[2].partition("\n## ")[0]
    for kind in VerdictKind:
        assert f"`{kind}`" in section
