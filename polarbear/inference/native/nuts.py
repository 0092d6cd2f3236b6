"""NUTS, by nutpie, on a model's log-posterior: slower than split HMC, but asks nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polarbear.errors import MissingExtraError
from polarbear.inference.base import draws_a_chain
from polarbear.inference.loops.likelihood import SetSums
from polarbear.inference.models import Model
from polarbear.inference.native.attempt import Attempt, Draws
from polarbear.inference.native.density import LogPosterior
from polarbear.numerics.threads import available_processors

_POSITION = "position"


def sample_nuts(
    model: Model, sets: SetSums, seed: int, attempt: Attempt, threads: int | None
) -> tuple[Draws, np.ndarray]:
    """Draws and their log-hyperparameters."""
    try:
        import nutpie
        from nutpie.compiled_pyfunc import from_pyfunc
    except ModuleNotFoundError:
        raise MissingExtraError("the native engine's method mcmc", "nutpie", "nuts") from None

    size = LogPosterior(model, sets).size

    def make_density() -> Callable[..., tuple[float, np.ndarray]]:
        density = LogPosterior(model, sets)  # scratch space of its own for each chain
        return lambda vector, **_: density(vector)

    def make_record(*_: Any) -> Callable[..., dict[str, np.ndarray]]:
        return lambda vector, **_: {_POSITION: np.array(vector)}

    compiled = from_pyfunc(
        size, make_density, make_record, [np.dtype(float)], [(size,)], [_POSITION]
    )
    options = model.options
    trace = nutpie.sample(
        compiled,
        draws=draws_a_chain(options.draws, options.chains),
        tune=attempt.tuning,
        chains=options.chains,
        cores=threads or available_processors(),
        seed=seed,
        progress_bar=False,
        save_warmup=False,
        target_accept=attempt.target,
    )
    positions = trace.posterior[_POSITION].to_numpy().reshape(-1, size)
    density = LogPosterior(model, sets)
    draws = Draws(
        np.array([density.theta(position) for position in positions]),
        np.zeros(len(positions), dtype=np.int64),
        divergences=int(trace.sample_stats.diverging.to_numpy().sum()),
        acceptance=float(trace.sample_stats.mean_tree_accept.to_numpy().mean()),
    )
    return draws, positions[:, : density.n_hyper]
