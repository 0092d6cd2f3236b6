"""The posterior of a Plackett-Luce model, by the native engine or by Stan."""

import importlib
import time
from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from polarbear.inference import checks
from polarbear.inference.chain_diagnostics import EngineResult
from polarbear.inference.model_options import ModelOptions
from polarbear.inference.models.base import rating_model
from polarbear.inference.plackett_luce.composite_weight import composite_weight
from polarbear.inference.plackett_luce.goodness_of_fit import check_fit
from polarbear.inference.posterior_draws import Posterior
from polarbear.numerics.threads import Threads
from polarbear.rankings.choice_sets import ChoiceSets
from polarbear.rankings.duels import duels_of

ENGINES = {
    "native": "polarbear.inference.plackett_luce.engine",
    "stan": "polarbear.inference.stan.engine",
}


def infer_ratings(
    choice_sets: ChoiceSets,
    algorithms: Sequence[str],
    times: np.ndarray,
    unit_times: np.ndarray,
    options: ModelOptions,
    seed: int,
    threads: Threads,
    positions: np.ndarray | None,
    problems: Sequence[str] | None,
    weights: np.ndarray | None,
    notes: tuple[str, ...],
) -> Posterior:
    """Draw ratings; the arguments are those of `inference.infer`, and ``notes`` on the evidence."""
    weight = 1.0
    if options.temporal and options.dependence != "independent" and len(unit_times) > 1:
        ranked = checks.check_positions(
            positions, choice_sets.n_algorithms, len(unit_times), options.model
        )
        weight = composite_weight(ranked, choice_sets, unit_times, options, problems, weights)
    engine = importlib.import_module(ENGINES[options.engine])
    start = time.perf_counter()
    model = rating_model(options.model)(unit_times, choice_sets.n_algorithms, options)
    inferred: EngineResult = engine.run(model, choice_sets.weighted(weight), seed, threads)
    seconds = time.perf_counter() - start
    fit = None
    shared = None
    if positions is not None:
        positions = np.asarray(positions)
        fit = check_fit(positions, inferred.draws.theta, problems, seed, weights)
        shared = duels_of(positions, problems).shared_problems()
    hyper = dict(zip(model.hyperparameters, inferred.draws.hyper.T, strict=True))
    return Posterior(
        theta=inferred.draws.theta,
        algorithms=tuple(algorithms),
        times=times,
        chains=options.chains,
        unit_times=unit_times,
        options=options,
        engine=options.engine,
        method=inferred.method,
        seed=seed,
        seconds=seconds,
        diagnostics=inferred.diagnostics,
        joint=options.temporal,
        hyper=MappingProxyType(hyper),
        notes=(*notes, *checks.on_repetition(weight), *inferred.notes),
        evidence_weight=weight,
        indexed_fit=fit,
        shared=shared,
    )
