"""From choice sets to a posterior: checks the evidence, then asks the engine."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from polarbear.errors import InferenceError
from polarbear.inference import checks
from polarbear.inference.base import Posterior
from polarbear.inference.fit import check_fit
from polarbear.inference.options import ModelOptions
from polarbear.rankings import ChoiceSets

if TYPE_CHECKING:
    from polarbear.inference.empirical.engine import Empirical

ENGINES = {
    "native": "polarbear.inference.native.engine",
    "stan": "polarbear.inference.stan",
}


def infer(
    choice_sets: ChoiceSets,
    unit_times: np.ndarray,
    options: ModelOptions | None = None,
    seed: int = 0,
    threads: int | None = None,
    names: Sequence[str] | None = None,
    positions: np.ndarray | None = None,
    problems: Sequence[str] | None = None,
    weights: np.ndarray | None = None,
    field: Sequence[int] | None = None,
    empirical: Empirical | None = None,
) -> Posterior:
    """Draw theta[draw, time, algorithm] from the posterior.

    ``unit_times`` is the grid on its own scale, mapped to the unit interval. Draws depend on the
    seed, never on the number of threads. Look at ``usable`` before deciding anything, and at
    ``notes`` for what limits the evidence; they call the algorithms by ``names``, if given.

    Rankings of one instance at neighbouring times repeat each other. How much, the choice sets
    cannot tell: a temporal model needs the ``positions[instance, algorithm, time]`` that they were
    counted from, unless the options say that ``dependence`` is 'independent'. So does the empirical
    model, which takes nothing from choice sets. ``problems`` names the problem of each instance
    where several are runs of one with different seeds: they count as one. ``weights`` are those of
    the instances that the choice sets were counted with, if they do not all count as one. ``field``
    is who competes for first places, everybody if not given; Plackett-Luce has no need to know.
    ``empirical`` is the empirical model of these positions, where somebody has it at hand.

    A Plackett-Luce posterior whose rankings are given says how well it fits them.
    """
    options = options or ModelOptions()
    times = checks.check(choice_sets, unit_times)
    weights = checks.check_weights(weights, positions)
    data = (*checks.on_seeds(problems), *checks.on_weights(weights))
    if not options.plackett_luce:
        from polarbear.inference.empirical.engine import Empirical

        seen = checks.check_positions(positions, choice_sets, options.model)
        model = empirical or Empirical(seen, times, options, problems, weights, threads)
        notes = (*checks.notes(choice_sets, names), *data)
        return model.posterior(seed, field, notes, options.draws)
    checks.check_width(choice_sets, options)
    ranked = None  # what a temporal model weighs its evidence by
    if options.temporal and options.dependence != "independent" and len(times) > 1:
        ranked = checks.check_positions(positions, choice_sets, options.model)
    place = ENGINES[options.engine]
    if importlib.util.find_spec(place) is None:
        raise InferenceError(f"the engine '{options.engine}' is not part of this installation")
    engine = importlib.import_module(place)
    if options.splits_by_time and options.engine == "native" and positions is not None:
        choice_sets = checks.in_fastest_form(choice_sets, np.asarray(positions), problems, weights)
    weight = 1.0
    if ranked is not None:
        from polarbear.inference.dependence import evidence_weight  # compiles what others need not

        weight = evidence_weight(ranked, choice_sets, times, options, problems, weights)
    posterior: Posterior = engine.run(
        choice_sets.weighted(weight),
        times,
        options,
        seed,
        notes=(*checks.notes(choice_sets, names), *data, *checks.on_repetition(weight)),
        threads=threads,
    )
    fit = None
    if positions is not None:
        fit = check_fit(np.asarray(positions), posterior.theta, problems, seed, weights)
    return replace(posterior, evidence_weight=weight, fit=fit)
