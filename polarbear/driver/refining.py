"""More draws where a decision hangs on their number: at some times, or of some pairs."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np

from polarbear.driver.evidence import Evidence
from polarbear.driver.judgement import relations_of
from polarbear.inference import ModelOptions, Posterior
from polarbear.inference.diagnostics import error_of
from polarbear.inference.relations import Joint, Pointwise
from polarbear.racing.rules import Rules

if TYPE_CHECKING:
    from polarbear.inference.empirical.engine import Empirical

Tables = tuple[Pointwise, Joint | None]


def refined_times(
    evidence: Evidence,
    options: ModelOptions,
    seed: int,
    rules: Rules,
    hanging: np.ndarray,
    pointwise: Pointwise,
    draws: np.ndarray,
) -> tuple[Pointwise, np.ndarray]:
    """Relations from more draws at the times that hang on it, bool[time], where times are
    independent: as many as ``options`` have.

    ``draws[time]`` is how many the table rests on, and then how many it does.
    """
    from polarbear.inference import infer

    times = np.flatnonzero(hanging)
    posterior = infer(evidence.choice_sets.pick(times), evidence.unit_times[times], options, seed)
    further, _ = relations_of(posterior, rules)
    draws = draws + np.where(hanging, posterior.n_draws, 0)
    share = (posterior.n_draws / draws[times])[:, None, None]
    merged = {}
    for name in _names(pointwise):
        merged[name] = getattr(pointwise, name).copy()
        merged[name][times] *= 1 - share
        merged[name][times] += share * getattr(further, name)
        error = f"{name}_error"
        merged[error] = getattr(pointwise, error).copy()
        merged[error][times] = np.hypot(
            (1 - share) * merged[error][times], share * getattr(further, error)
        )
    return Pointwise(**merged, epsilon=rules.epsilon), draws


def refined_pairs(
    model: Empirical,
    posterior: Posterior,
    seed: int,
    rules: Rules,
    hanging: np.ndarray,
    tables: Tables,
    draws: np.ndarray,
    further: int,
) -> tuple[Tables, np.ndarray]:
    """Relations from so many ``further`` draws of the pairs that hang on it, bool[pair], where
    draws are independent.

    ``draws[pair]`` is how many the tables rest on, and then how many they do.
    """
    pairs = np.flatnonzero(hanging)
    draws = draws + np.where(hanging, further, 0)
    pointwise, joint = deepcopy(tables)
    first, second = np.triu_indices(model.positions.shape[1], 1)
    again = model.more_of_pairs(posterior, pairs.tolist(), further, seed)
    for k, two in zip(pairs, again, strict=True):
        where = ([first[k], second[k]], [second[k], first[k]])
        share = further / draws[k]
        at_each, at_all = relations_of(two, rules)
        _count(at_each, pointwise, _names(pointwise), where, share, draws[k])
        if joint is not None and at_all is not None:
            _count(at_all, joint, ("dominance", "crossing"), where, share, draws[k])
    return (pointwise, joint), draws


def _names(pointwise: Pointwise) -> tuple[str, ...]:
    """Of what is believed at each time."""
    asked = () if pointwise.no_worse is None else ("no_worse",)
    return ("dominance", "equivalence", *asked)


def _count(
    further: Pointwise | Joint,
    found: Pointwise | Joint,
    names: tuple[str, ...],
    where: tuple[list[int], list[int]],
    share: float,
    draws: int,
) -> None:
    """Let what further draws say of two count beside what was found, as a share of all draws."""
    for name in names:
        table, error = getattr(found, name), getattr(found, f"{name}_error")
        new = getattr(further, name)[..., [0, 1], [1, 0]]
        table[..., *where] = (1 - share) * table[..., *where] + share * new
        error[..., *where] = error_of(table[..., *where], draws)
