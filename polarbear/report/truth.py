"""The truth of a synthetic race: the ratings that its rankings were drawn from."""

from __future__ import annotations

import numpy as np

from polarbear.inference import ModelOptions
from polarbear.problems.base import Setting
from polarbear.problems.synthetic import Synthetic
from polarbear.report.context import ReportContext, Round
from polarbear.settings.grid import Budget


def truth_of(context: ReportContext) -> dict[str, np.ndarray] | None:
    """Each algorithm's true share of firsts at each time; None where it is unknown."""
    config = context.store.config
    if config["instances"]["suite"] != "synthetic":
        return None
    suite = Synthetic.model_validate(config["instances"])
    budget = Budget.model_validate(config["budget"])
    truth = suite.truth(Setting(config["seed"], budget, algorithms=context.algorithms))
    return dict(zip(context.algorithms, truth.T, strict=True))


def truth_after(context: ReportContext, entry: Round) -> dict[str, np.ndarray] | None:
    """The truth of what a round's posterior is about: first among the candidates and itself.

    A Plackett-Luce posterior is about all algorithms.
    """
    truth = truth_of(context)
    if truth is None or ModelOptions.model_validate(entry.record.inference).plackett_luce:
        return truth
    inside = entry.state.candidates
    field = sum(truth[name] for name in inside)
    return {
        name: values / (field if name in inside else field + values)
        for name, values in truth.items()
    }


def truth_now(context: ReportContext) -> dict[str, np.ndarray] | None:
    """The truth of what is believed now; None where it is unknown, or not at these times."""
    believed = context.believed
    if believed is None or not np.array_equal(believed.times, context.times):
        return None
    return truth_after(context, context.rounds[-1]) if context.rounds else truth_of(context)


def same_grid(context: ReportContext, entry: Round) -> bool:
    """Whether a round went by the times that the store has now."""
    return np.array_equal(entry.believed.times, context.times)
