"""The empirical model's posterior: independent draws, so there is nothing to converge."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from polarbear.errors import InferenceError
from polarbear.inference.base import Posterior
from polarbear.inference.diagnostics import Diagnostics
from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.inference.empirical.knots import FEWEST_DRAWS, knots_for, most_draws
from polarbear.inference.empirical.noise import noise_correlation
from polarbear.inference.empirical.smoothing import IMAGINARY_DUELS, smoothed
from polarbear.inference.interpolated import Interpolated
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
    weights: np.ndarray | None = None,
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
    smooth = options.smoothing == "learned" and len(unit_times) > 1
    knots = knots_for(positions.shape[1], len(unit_times), smooth)
    draws, notes = _that_fit(options, positions.shape, len(knots), notes)
    duels = duels_of(positions, problems, weights)
    at_knots = duels
    if len(knots) < len(unit_times):
        at_knots = replace(duels, positions=np.ascontiguousarray(duels.positions[:, :, knots]))
    imaginary = options.concentration or (IMAGINARY_DUELS if smooth else None)
    bootstrap = Bootstrap(at_knots, draws, seed, imaginary, threads)
    wins = bootstrap.wins()
    if smooth:
        correlation = noise_correlation(at_knots, bootstrap.pairs, threads)
        wins = smoothed(wins, unit_times[knots], correlation, seed, threads)
    return Posterior(
        theta=bootstrap.firsts(field, duels),
        wins=wins if at_knots is duels else Interpolated(wins, knots),
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


def _that_fit(
    options: ModelOptions, shape: tuple[int, ...], knots: int, notes: tuple[str, ...]
) -> tuple[int, tuple[str, ...]]:
    """As many draws as were asked for, or as memory holds of all pairs."""
    _, n, n_times = shape
    if knots < n_times:
        notes = (
            *notes,
            f"of {n_times} times {knots} were looked at for who beats whom, with straight lines "
            "between them",
        )
    most = most_draws(n, n_times, knots) // options.chains * options.chains
    wanted = -(-options.draws // options.chains) * options.chains
    if wanted <= most:
        return wanted, notes
    if most < FEWEST_DRAWS:
        raise InferenceError(
            f"the empirical model looks at all pairs of {n} algorithms at {knots} times, of "
            f"which memory holds fewer than {FEWEST_DRAWS} draws; name fewer algorithms or times, "
            "or another model"
        )
    return most, (
        *notes,
        f"{most} draws instead of {wanted}: more of all pairs would take over 0.75 GiB",
    )
