"""Without nutpie, which is an extra: defaults do not miss it, what needs it says so."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from polarbear.errors import InferenceError, MissingExtraError
from polarbear.inference import ModelOptions, infer
from polarbear.inference.plackett_luce import lattice
from tests.inference.test_infer import GRID, random_sets


@pytest.fixture(autouse=True)
def _without_nutpie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nutpie", None)


def options(**given: object) -> ModelOptions:
    return ModelOptions(dependence="independent", draws=1000, **given)


@pytest.mark.parametrize("model", ["dirichlet", "hierarchical", "gp"])
def test_the_default_method_does_not_need_it(model: str):
    assert np.isfinite(infer(random_sets(), GRID, options(model=model), seed=1).theta).all()


def test_its_method_names_the_package_to_install():
    with pytest.raises(MissingExtraError, match=r"mcmc needs the package 'nutpie'.*\.\[nuts\]"):
        infer(random_sets(), GRID, options(model="dirichlet", method="mcmc"), seed=1)


def test_the_fallback_names_narrower_priors_and_the_package(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lattice, "MAX_NODES", 1)
    with pytest.raises(InferenceError, match=r"narrower priors would help\); .*'nutpie'.*nuts"):
        infer(random_sets(), GRID, options(model="gp"), seed=1)
