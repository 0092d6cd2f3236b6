"""From choice sets to a posterior: checks the evidence, then runs the engine."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from polarbear.inference import checks
from polarbear.inference.model_options import ModelOptions
from polarbear.inference.posterior_draws import Posterior
from polarbear.rankings import ChoiceSets
from polarbear.rankings.duels import duels_of

ENGINES = {
    "native": "polarbear.inference.plackett_luce.engine",
    "stan": "polarbear.inference.stan.engine",
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
) -> Posterior:
    """Draw theta[draw, time, algorithm] from the posterior.

    ``unit_times`` is the grid on its scale, mapped to the unit interval. Draws depend on the seed,
    never on the number of threads. Check ``usable`` before deciding anything, and read ``notes``
    for what limits the evidence; they use the ``names`` of the algorithms, if given.

    The empirical model uses the ``positions[instance, algorithm, time]`` and not the choice sets. A
    temporal model needs them, too, to measure how much the rankings of one instance repeat each
    other over time, unless ``dependence`` is 'independent'. ``problems`` names the problem of each
    instance; instances of one problem count as one. ``weights`` are those that the choice sets were
    counted with. ``field`` are the algorithms that compete for first places (empirical only).

    A Plackett-Luce posterior whose positions are given carries a check of fit.
    """
    options = options or ModelOptions()
    checks.check(choice_sets)
    times = np.asarray(unit_times, dtype=float)
    if weights is not None and (weights == 1).all():
        weights = None
    data = (*checks.on_seeds(problems), *checks.on_weights(weights))
    if not options.plackett_luce:
        from polarbear.inference.empirical.engine import empirical_posterior

        seen = checks.check_positions(positions, choice_sets, options.model)
        notes = (*checks.notes(choice_sets, names), *data)
        called = names or [f"algorithm {i + 1}" for i in range(choice_sets.n_algorithms)]
        duels = duels_of(seen, problems, weights)
        return empirical_posterior(duels, called, times, options, seed, field, notes)
    from polarbear.inference.plackett_luce.composite_weight import composite_weight  # heavy
    from polarbear.inference.plackett_luce.goodness_of_fit import check_fit

    checks.check_width(choice_sets, options)
    weight = 1.0
    if options.temporal and options.dependence != "independent" and len(times) > 1:
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
    fit = shared = None
    if positions is not None:
        seen = np.asarray(positions)
        fit = check_fit(seen, posterior.theta, problems, seed, weights)
        shared = duels_of(seen, problems).shared_problems()
    return replace(posterior, evidence_weight=weight, fit=fit, shared=shared)
