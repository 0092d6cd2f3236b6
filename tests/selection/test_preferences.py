"""Every preference in the registry keeps the promises of the base."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polarbear.errors import SelectionError
from polarbear.selection.basic_preferences import ordered_pairs
from polarbear.selection.preference import PREFERENCES, Context, Preference
from polarbear.selection.preference_parsing import parse_preference, read_preference
from polarbear.settings.options import Source

GRIDS = {
    "log": np.geomspace(20.0, 3000.0, 30),
    "linear": np.linspace(20.0, 3000.0, 11),
    "uneven": np.array([20.0, 21.0, 400.0, 410.0, 2900.0, 3000.0]),
    "two times": np.array([20.0, 3000.0]),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "at": {"t": 333.0},
    "between": {"from": 50.0, "to": 1500.0},
    "normal": {"mean": 500.0, "sd": 120.0},
    "lognormal": {"median": 500.0, "sigma": 0.7},
    "triangular": {"from": 10.0, "mode": 600.0, "to": 2000.0},
    "exponential": {"mean": 700.0},
    "budgets": {"file": "past.txt"},
    "weights": {"file": "weights.csv"},
    "mix": {"of": [{"weight": 0.7, "preference": "at 90"}, {"preference": "worst-case"}]},
    "python": {"function": "mine.py:mean_log"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("preferences")
    (path / "past.txt").write_text("30\n300\n300\n2999\n")
    (path / "weights.csv").write_text("t,weight\n100,1\n700,0\n2000,3\n")
    (path / "mine.py").write_text(
        "import numpy as np\ndef mean_log(theta):\n    return np.log(theta).mean(axis=-1)\n"
    )
    return path


@pytest.fixture(params=list(PREFERENCES))
def preference(request: pytest.FixtureRequest) -> Preference:
    """Each preference with options that fit the grids, by default those of its example."""
    name = str(request.param)
    if name not in OPTIONS:
        preference, _ = read_preference(PREFERENCES[name].example)
        return preference
    return parse_preference({"preference": name, **OPTIONS[name]}, Source("test"))


@pytest.fixture(params=list(GRIDS))
def context(request: pytest.FixtureRequest, folder: Path) -> Context:
    return Context(GRIDS[request.param], "evaluations", str(folder))


def test_higher_at_all_times_is_worth_more(preference: Preference, context: Context):
    valuation = preference.on(context)
    lower_curves, higher_curves = ordered_pairs(len(context.times), seed=5)
    lower_values = valuation.values(lower_curves[:, :, None])
    higher_values = valuation.values(higher_curves[:, :, None])
    assert (higher_values > lower_values).all()


def test_items_are_valued_each_for_itself_and_its_words_are_one_line(preference, context):
    theta = np.random.default_rng(1).dirichlet(np.ones(3), size=(20, len(context.times)))
    valuation = preference.on(context)
    together = valuation.values(theta)
    assert together.shape == (20, 3)
    for draw, item in np.ndindex(20, 3):
        alone = valuation.values(theta[draw : draw + 1, :, item : item + 1])
        assert together[draw, item] == pytest.approx(alone.item(), rel=1e-12)
    if preference.preference in {"worst-case", "mix", "python"}:
        assert valuation.weights is None
    else:  # a mean over time
        assert np.all(valuation.weights >= 0)
        assert valuation.weights.sum() == pytest.approx(1.0, abs=1e-12)
    words = preference.words(context)
    assert words.strip()
    assert "\n" not in words


def test_its_text_reads_back_as_itself(preference: Preference):
    parsed, _ = read_preference(preference.text)
    assert parsed.text == preference.text
    assert parsed == preference


def test_one_time_is_a_grid_too(preference: Preference, folder: Path):
    context = Context(np.array([300.0]), "evaluations", str(folder))
    theta = np.array([[[0.2, 0.8]]])
    if preference.preference in {"at", "between", "weights", "mix"}:  # they name other times
        with pytest.raises(SelectionError, match="outside the grid, which goes from 300 to 300"):
            preference.on(context).values(theta)
    else:
        values = preference.on(context).values(theta)
        assert values[0, 0] < values[0, 1]
