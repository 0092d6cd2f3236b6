"""From choice sets to a posterior: checks the evidence, then runs the engine."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from polarbear.inference import checks
from polarbear.inference.base import Posterior
from polarbear.inference.fit import check_fit
from polarbear.inference.options import ModelOptions
from polarbear.rankings import ChoiceSets

if TYPE_CHECKING:
    from polarbear.inference.empirical.engine import Empirical

ENGINES = {
    "native": "polarbear.inference.plackett_luce.engine",
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

    ``unit_times`` is the grid on its scale, mapped to the unit interval. Draws depend on the seed,
    not on the number of threads. Check ``usable`` before deciding anything, and ``notes`` for
    limits of the evidence, which use the ``names`` of algorithms.

    Rankings of one instance at neighbouring times repeat each other. A temporal model estimates
    how much from the ``positions[instance, algorithm, time]`` that the choice sets were counted
    from, unless ``dependence`` is 'independent'. The empirical model needs them as well, since it
    does not use choice sets. ``problems`` names the problem of each instance where several are runs
    of one problem with different seeds: they count as one. ``weights`` are the weights of instances
    that the choice sets were counted with. ``field`` lists the competitors for first places, all
    by default; only the empirical model uses it. ``empirical`` is the empirical model of these
    positions, if it exists already.

    A Plackett-Luce posterior whose positions are given carries a check of fit.
    """
    options = options or ModelOptions()
    times = checks.check(choice_sets, unit_times)
    weights = checks.check_weights(weights, positions)
    data = (*checks.on_seeds(problems), *checks.on_weights(weights))
    if not options.plackett_luce:
        from polarbear.inference.empirical.engine import Empirical  # not needed by other models

        seen = checks.check_positions(positions, choice_sets, options.model)
        model = empirical or Empirical(seen, times, options, problems, weights, threads)
        notes = (*checks.notes(choice_sets, names), *data)
        return model.posterior(seed, field, notes, options.draws)
    checks.check_width(choice_sets, options)
    weight = 1.0
    if options.temporal and options.dependence != "independent" and len(times) > 1:
        from polarbear.inference.plackett_luce.composite_weight import composite_weight  # heavy

        ranked = checks.check_positions(positions, choice_sets, options.model)
        weight = composite_weight(ranked, choice_sets, times, options, problems, weights)
    engine = importlib.import_module(ENGINES[options.engine])
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
