"""Every model in the registry fulfils the contract of the base class."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from polarbear.errors import ConfigError, StanError
from polarbear.inference import ModelOptions
from polarbear.inference.models import MODELS, rating_models
from polarbear.inference.models.base import Model, rating_model
from polarbear.inference.stan import programs
from polarbear.inference.stan.engine import stan_data
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets

GRID = np.linspace(0, 1, 8)
N = 4
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(params=rating_models())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model(name: str) -> Model:
    return rating_model(name)(GRID, N, ModelOptions(model=name))


def test_its_program_receives_all_data_it_declares_and_without_one_stan_is_refused(name, model):
    if MODELS[name].stan_program is None:
        assert name not in programs.programmed_models()
        with pytest.raises(ConfigError, match=f"'{name}' has no Stan program"):
            ModelOptions(model=name, engine="stan")
        with pytest.raises(StanError, match=f"'{name}' has no Stan program"):
            programs.program_file(name)
        return
    assert name in programs.programmed_models()
    text = programs.program_file(name).read_text()
    data_block = re.search(r"^data \{(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    assert data_block
    declared = set(re.findall(r"(\w+);", re.sub(r"//.*", "", data_block[1])))
    included = re.findall(r"#include (\S+)", data_block[1])
    for file in included:
        shared = (programs.sources() / file).read_text()
        declared |= set(re.findall(r"(\w+);", re.sub(r"//.*", "", shared)))
    positions = rank(np.random.default_rng(3).normal(size=(3, N, len(GRID))))
    data = stan_data(model, count_choice_sets(positions))
    assert declared <= set(data)
    json.dumps(data)


def test_the_documentation_lists_it_with_its_treatment_of_time(name: str):
    text = (DOCS / "explanation" / "inference.md").read_text()
    row = re.search(rf"^\| `{name}` \| .+ \| (\w+)[^|]* \|$", text, re.MULTILINE)
    assert row, name
    assert row[1] == ("joint" if MODELS[name].temporal else "independent")
