"""The empirical model's posterior: independent draws, so there is nothing to converge."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from polarbear.errors import InferenceError
from polarbear.inference.base import Posterior
from polarbear.inference.diagnostics import Diagnostics
from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.inference.empirical.noise import noise_correlation
from polarbear.inference.empirical.smoothing import IMAGINARY_DUELS, smoothed
from polarbear.inference.options import ModelOptions
from polarbear.rankings.duels import duels_of

METHOD = "bootstrap"


def run(
    positions: np.ndarray,
    unit_times: np.ndarray,
    options: ModelOptions,
    seed: int,
    *,
    problems: Sequence[str] | None = None,
    field: Sequence[int] | None = None,
    notes: tuple[str, ...] = (),
    threads: int | None = None,
) -> Posterior:
    """Draws of duels and first places from positions[instance, algorithm, time]."""
    if options.method not in ("auto", METHOD):
        raise InferenceError(
            f"the empirical model has draws of its own and no use for '{options.method}': leave "
            "the method at 'auto'"
        )
    begun = time.perf_counter()
    draws = -(-options.draws // options.chains) * options.chains
    duels = duels_of(positions, problems)
    smooth = options.smoothing == "learned" and len(unit_times) > 1
    imaginary = options.concentration or (IMAGINARY_DUELS if smooth else None)
    bootstrap = Bootstrap(duels, draws, seed, imaginary, threads)
    wins = bootstrap.wins()
    if smooth:
        wins = smoothed(wins, unit_times, noise_correlation(duels), seed, threads)
    return Posterior(
        theta=bootstrap.firsts(field),
        wins=wins,
        chains=options.chains,
        unit_times=unit_times,
        options=options,
        engine="native",
        method=METHOD,
        seed=seed,
        seconds=time.perf_counter() - begun,
        diagnostics=Diagnostics(
            r_hat=1.0,
            ess_bulk=float(draws),
            ess_tail=float(draws),
            divergences=0,
            pareto_k=None,
            acceptance=None,
            attempts=1,
        ),
        joint=True,
        hyper=MappingProxyType({"concentration": bootstrap.concentration}),
        notes=notes,
    )
