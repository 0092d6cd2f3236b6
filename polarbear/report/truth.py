"""The truth of a synthetic race: the ratings that its rankings were drawn from."""

from __future__ import annotations

import numpy as np

from polarbear.inference import ModelOptions
from polarbear.problems.base import Setting
from polarbear.problems.synthetic import Synthetic
from polarbear.report.material import Material, Round
from polarbear.settings.grid import Budget


def truth_of(material: Material) -> dict[str, np.ndarray] | None:
    """Each algorithm's true share of firsts at each time; None where nobody knows it."""
    config = material.store.config
    if config["instances"]["suite"] != "synthetic":
        return None
    suite = Synthetic.model_validate(config["instances"])
    budget = Budget.model_validate(config["budget"])
    truth = suite.truth(Setting(config["seed"], budget, algorithms=material.algorithms))
    return dict(zip(material.algorithms, truth.T, strict=True))


def truth_after(material: Material, entry: Round) -> dict[str, np.ndarray] | None:
    """The truth of what a round's posterior is about: first among those still in, and itself.

    A Plackett-Luce posterior is about everybody.
    """
    truth = truth_of(material)
    if truth is None or ModelOptions.model_validate(entry.record.inference).plackett_luce:
        return truth
    inside = entry.state.candidates
    field = sum(truth[name] for name in inside)
    return {
        name: values / (field if name in inside else field + values)
        for name, values in truth.items()
    }


def truth_now(material: Material) -> dict[str, np.ndarray] | None:
    """The truth of what is believed now; None where nobody knows it, or not at these times."""
    believed = material.believed
    if believed is None or not np.array_equal(believed.times, material.times):
        return None
    return truth_after(material, material.rounds[-1]) if material.rounds else truth_of(material)


def same_grid(material: Material, entry: Round) -> bool:
    """Whether a round went by the times that the store has now."""
    return np.array_equal(entry.believed.times, material.times)
