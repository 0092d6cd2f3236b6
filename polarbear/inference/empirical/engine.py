"""The posterior of the empirical model: independent draws of the Bayesian bootstrap."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from polarbear.errors import InferenceError
from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.inference.model_options import ModelOptions
from polarbear.inference.posterior_draws import Diagnostics, Posterior
from polarbear.rankings.duels import Duels

METHOD = "bootstrap"
MAX_NUMBERS = 3 * 2**26  # win probabilities and shares of first places, copies included: 0.75 GiB
MIN_DRAWS = 200


def empirical_posterior(
    duels: Duels,
    algorithms: Sequence[str],
    unit_times: np.ndarray,
    options: ModelOptions,
    seed: int,
    field: Sequence[int] | None = None,
    notes: tuple[str, ...] = (),
) -> Posterior:
    """Draws of win probabilities and of shares of first places among the ``field``."""
    if options.method not in ("auto", METHOD):
        raise InferenceError(
            f"the empirical model does not use the method '{options.method}': leave it at 'auto'"
        )
    begun = time.perf_counter()
    draws, limited = draws_within_memory(len(algorithms), len(unit_times), options)
    bootstrap = Bootstrap(duels, algorithms, draws, seed, options.concentration)
    return Posterior(
        wins=bootstrap.wins(),
        shared=duels.shared_problems(),
        theta=bootstrap.firsts(field),
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
        hyper=MappingProxyType({}),
        notes=(*notes, *limited),
    )


def draws_within_memory(n: int, n_times: int, options: ModelOptions) -> tuple[int, tuple[str, ...]]:
    """The number of draws asked for, or the number that memory holds with a note."""
    chains = options.chains
    wanted = -(-options.draws // chains) * chains
    most = MAX_NUMBERS // (n * (n - 1) * n_times + 2 * n * n_times) // chains * chains
    if wanted <= most:
        return wanted, ()
    if most < MIN_DRAWS:
        raise InferenceError(
            f"win probabilities of all pairs of {n} algorithms at {n_times} times leave memory for "
            f"{most} draws only; use fewer algorithms (--algorithms) or fewer times (--grid)"
        )
    return most, (f"{most} draws instead of {wanted}: more would take over 0.75 GiB",)
