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
MOST_NUMBERS = 2**28  # of win probabilities: 1 GiB
FEWEST_DRAWS = 400


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
    draws, notes = _that_fit(options, positions.shape, notes)
    duels = duels_of(positions, problems, weights)
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


def _that_fit(
    options: ModelOptions, shape: tuple[int, ...], notes: tuple[str, ...]
) -> tuple[int, tuple[str, ...]]:
    """As many draws as were asked for, or as memory holds of all pairs at all times."""
    _, n, n_times = shape
    each = n * (n - 1) // 2 * n_times
    most = MOST_NUMBERS // max(each, 1) // options.chains * options.chains
    wanted = -(-options.draws // options.chains) * options.chains
    if wanted <= most:
        return wanted, notes
    if most < FEWEST_DRAWS:
        raise InferenceError(
            f"the empirical model looks at all pairs of {n} algorithms at {n_times} times, of "
            f"which memory holds fewer than {FEWEST_DRAWS} draws; name fewer algorithms or times, "
            "or another model"
        )
    return most, (
        *notes,
        f"{most} draws instead of {wanted}, for all pairs at all times take 1 GiB",
    )
