"""Preferences from words, inline YAML and files; errors are one line."""

from pathlib import Path

import numpy as np
import pytest

from polarbear.errors import ConfigError, SelectionError
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference

GRID = Context(np.array([10.0, 100.0, 1000.0]))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("at 500", "at 500"),
        ("  at 5e2 ", "at 500"),
        ("at t=500", "at 500"),
        ("between 50 and 500", "between 50 and 500"),
        ("between 50 500", "between 50 and 500"),
        ("between from=50 to=500", "between 50 and 500"),
        ("normal 500 100", "normal 500 100"),
        ("normal(500, 100)", "normal 500 100"),
        ("normal(500,100)", "normal 500 100"),
        ("normal sd=100 mean=500", "normal 500 100"),
        ("normal 500 sd=100", "normal 500 100"),
        ("triangular 50 100 900", "triangular 50 100 900"),
        ("{preference: at, t: 500}", "at 500"),
        ("{preference: at 500}", "at 500"),
        ("{preference: between, from: 50, to: 500}", "between 50 and 500"),
        ("mine:worth", "python mine:worth"),
        ("folder/mine.py:worth", "python folder/mine.py:worth"),
        ("at 50 + worst-case", "1 * at 50 + 1 * worst-case"),
        ("0.7*at 50 + 0.3 * normal(500,100)", "0.7 * at 50 + 0.3 * normal 500 100"),
        (
            "{preference: mix, of: [{weight: 2, preference: at, t: 50}, final]}",
            "2 * at 50 + 1 * final",
        ),
    ],
)
def test_words_and_yaml_mean_the_same(text: str, meant: str):
    assert read_preference(text)[0].text == meant


@pytest.mark.parametrize(
    ("axis", "text", "meant"),
    [
        ("seconds", "at 10 minutes", "at 600"),
        ("seconds", "between 1h and 2 hours", "between 3600 and 7200"),
        ("seconds", "at 90 s", "at 90"),
        ("seconds", "at 250ms", "at 0.25"),
        ("seconds", "at 5k", "at 5000"),
        ("seconds", "normal mean=10min sd=1 min", "normal 600 60"),
        ("seconds", "normal(1.5 h, 30 min)", "normal 5400 1800"),
        ("seconds", "{preference: at, t: 2 days}", "at 172800"),
        ("seconds", "0.7 * at 10 min + 0.3 * at 1 h", "0.7 * at 600 + 0.3 * at 3600"),
        ("evaluations", "at 5k", "at 5000"),
        ("evaluations", "at 2.5M evaluations", "at 2500000"),
        ("epochs", "between 1 epoch and 10 epochs", "between 1 and 10"),
    ],
)
def test_times_with_a_unit_are_converted_to_the_axis(axis: str, text: str, meant: str):
    assert read_preference(text, axis)[0].text == meant


@pytest.mark.parametrize(
    ("axis", "text", "words"),
    [
        ("evaluations", "at 10 minutes", "'10 minutes': time is counted in evaluations here"),
        ("seconds", "at 500 evaluations", "'500 evaluations': time is counted in seconds here"),
        ("seconds", "between 1 and 2 parsecs", "expected ms, s, min, h or d"),
        ("epochs", "{preference: at, t: 3 h}", "expected epochs, k or M"),
    ],
)
def test_a_unit_of_another_axis_is_refused(axis: str, text: str, words: str):
    with pytest.raises(ConfigError, match=words):
        read_preference(text, axis)


def test_a_preference_file_is_yaml_and_names_files_in_its_folder(tmp_path: Path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "w.csv").write_text("t,weight\n10,1\n1000,0\n")
    (tmp_path / "deep" / "mine.yaml").write_text("preference: weights\nfile: w.csv\n")
    preference, folder = read_preference("deep/mine.yaml", folder=str(tmp_path))
    weights = preference.on(Context(GRID.times, folder=folder)).weights
    assert weights is not None
    assert weights[0] > weights[2]


def test_an_error_in_a_file_names_its_line(tmp_path: Path):
    file = tmp_path / "p.yaml"
    file.write_text("preference: mix\nof:\n  - weight: 1\n    preference: normal\n    mea: 3\n")
    with pytest.raises(ConfigError, match=r"line 5.*did you mean 'mean'"):
        read_preference(str(file))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "unknown preference ''; known: at, between"),
        ("unifrom", "did you mean 'uniform'?"),
        ("at", "the key 't' is missing"),
        ("at 5 6", "expected 'at T', found more words: 'at 5 6'"),
        ("at noon", "valid number"),
        ("at nan", "finite number"),
        ("at 5,000", "without a comma"),
        ("uniform 3", "expected 'uniform', found more words"),
        ("normal 500", "the key 'sd' is missing"),
        ("normal 500 0", "greater than 0"),
        ("normal mean=500 s=3", "did you mean 'sd'?"),
        ("triangular 9 5 1", "in this order, found 9, 5, 1"),
        ("mix", "'0.7 * at 5000 + 0.3 * worst-case'"),
        ("most * at 5 + final", "valid number, unable to parse string as a number, found 'most'"),
        ("-1 * at 50 + 1 * final", "a weight is at least zero, found -1"),
        ("0 * at 50 + 0 * final", "at least one part with a weight above zero"),
        ("{preference: mix}", "a mix is written as '0.7 * at 5000"),
        ("{preference: mix, of: []}", "expected a list of preferences"),
        ("{preference: att, t: 3}", "did you mean 'at'?"),
        ("{t: 3}", "a mapping with the key 'preference', found a mapping"),
        ("{preference: [at]}", "expected words or a mapping"),
        ("{preference: at", "not valid YAML"),
        ("none.yaml", "cannot read none.yaml"),
        ("at 'x", "No closing quotation"),
        ("lognormal 5 56", "less than or equal to 20"),
        ("x" * 5000, " ... "),
    ],
)
def test_an_invalid_preference_is_refused_in_a_line(text: str, words: str):
    with pytest.raises(ConfigError) as refused:
        read_preference(text)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("at 5", "at: 5 is outside the grid, which goes from 10 to 1000 evaluations"),
        ("at 2000", "2000 is outside the grid"),
        ("between 50 and 2000", "between: 2000 is outside the grid, which goes from 10 to 1000"),
        ("between 500 and 50", "from the shorter to the longer"),
        ("budgets none.txt", "cannot read"),
        ("budgets far.txt", "none of its 2 budgets is on the grid, which goes from 10 to 1000"),
        ("budgets empty.txt", "has no rows"),
        ("budgets words.txt", "line 2: expected a budget, found 'x'"),
        ("budgets binary.txt", "not a text file"),
        ("weights negative.csv", "at least zero and one above, found -1 at t = 100"),
        ("weights zero.csv", "at least zero and one above, found 0"),
        ("weights outside.csv", "5000 is outside the grid, which goes from 10 to 1000"),
        ("weights twice.csv", "t = 100 occurs twice"),
        ("weights narrow.csv", "line 2: expected t and weight, found '100'"),
        ("weights infinite.csv", "line 2: expected t and weight"),
    ],
)
def test_a_preference_outside_the_grid_is_refused_in_a_line(tmp_path: Path, text: str, words: str):
    files = {
        "far.txt": "1\n5000\n",
        "empty.txt": "budget\n",
        "words.txt": "20\nx\n",
        "negative.csv": "t,weight\n10,1\n100,-1\n",
        "zero.csv": "t,weight\n10,0\n100,0\n",
        "outside.csv": "t,weight\n10,1\n5000,1\n",
        "twice.csv": "t,weight\n100,1\n100,2\n",
        "narrow.csv": "t,weight\n100\n",
        "infinite.csv": "t,weight\n100,inf\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    preference, _ = read_preference(text)
    with pytest.raises(SelectionError) as refused:
        preference.on(Context(GRID.times, folder=str(tmp_path)))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("at 1", "the budget is 1 evaluation"),
        ("at 5000", "the budget is 5000 evaluations"),
        ("exponential 1", "on average after 1 evaluation (exponential)"),
    ],
)
def test_a_budget_of_one_is_singular(text: str, words: str):
    assert words in read_preference(text)[0].words(Context(np.array([0.5, 1.0, 5000.0])))
