"""The native engine: a model and choice sets in, a checked posterior out."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from polarbear.errors import InferenceError, MissingExtraError
from polarbear.inference.chain_diagnostics import (
    Draws,
    EngineResult,
    convergence_of,
    diagnose,
    joined,
)
from polarbear.inference.models.base import Model
from polarbear.inference.plackett_luce.lattice import TooWideError
from polarbear.inference.plackett_luce.likelihood import Likelihood
from polarbear.inference.plackett_luce.nuts import sample_nuts
from polarbear.inference.plackett_luce.split_hmc import Effort, draw_approximation, sample
from polarbear.inference.posterior_draws import Diagnostics
from polarbear.numerics.threads import Threads, in_threads, single_threaded_blas
from polarbear.rankings.choice_sets import ChoiceSets

MAX_TIMES_PER_GROUP = 32
MAX_ENTRIES_PER_GROUP = 2**21  # an entry is a member of a set; this bounds memory
MAX_NUTS_PARAMETERS = 50  # that NUTS may replace split HMC for: it takes minutes, more take hours
FIRST = Effort(10, 0.9, 1, spacing=1.0, min_weight=1e-4, nuts_tuning=1000, nuts_acceptance=0.8)
SECOND = Effort(100, 0.97, 4, spacing=0.8, min_weight=1e-6, nuts_tuning=3000, nuts_acceptance=0.95)
Method = Callable[[Model, Likelihood, Sequence[int], Effort, Threads], Draws]
METHODS: dict[str, Method] = {
    "split-hmc": sample,
    "laplace": draw_approximation,
    "mcmc": sample_nuts,
}


def run(model: Model, sets: ChoiceSets, seed: int, threads: Threads) -> EngineResult:
    """Draw from the posterior; if its diagnostics fail, once more with more effort."""
    method = model.options.method
    if method not in ("auto", *METHODS):
        raise InferenceError(
            f"the native engine has no method '{method}'; it has auto, {', '.join(METHODS)} "
            "(the others are the stan engine's)"
        )
    # With one thread, the rounding of a matrix product does not depend on the number of processors.
    with single_threaded_blas():
        if method == "auto":
            return _auto(model, sets, seed, threads)
        return EngineResult(method, *_checked(method, model, sets, seed, threads))


def _auto(model: Model, sets: ChoiceSets, seed: int, threads: Threads) -> EngineResult:
    """Split HMC, or NUTS where that has no lattice of hyperparameters or does not converge."""
    by_split_hmc = None
    try:
        by_split_hmc = _checked("split-hmc", model, sets, seed, threads)
        _, diagnostics = by_split_hmc
        if diagnostics.converged:
            return EngineResult("split-hmc", *by_split_hmc)
        reason = f"split-hmc did not converge: {diagnostics.problems[0]}"
        hyper = np.zeros(len(model.hyperparameters))
        if model.latent(hyper).n_coefficients * (sets.n_algorithms - 1) > MAX_NUTS_PARAMETERS:
            note = f"{reason}; the method 'mcmc' may, but takes long"
            return EngineResult("split-hmc", *by_split_hmc, (note,))
    except TooWideError as error:
        reason = str(error)
    try:
        by_nuts = _checked("mcmc", model, sets, seed, threads)
    except MissingExtraError as missing:
        if by_split_hmc is None:
            raise InferenceError(f"{reason}; otherwise {missing}") from None
        note = f"{reason}; method 'mcmc' was not tried: {missing}"
        return EngineResult("split-hmc", *by_split_hmc, (note,))
    _, diagnostics = by_nuts
    if by_split_hmc is not None and not diagnostics.converged:
        return EngineResult("split-hmc", *by_split_hmc)
    return EngineResult("mcmc", *by_nuts, (f"method 'mcmc' was used because {reason}",))


def _checked(
    method: str, model: Model, sets: ChoiceSets, seed: int, threads: Threads
) -> tuple[Draws, Diagnostics]:
    """Draws with their diagnostics, each group of independent times on its own."""
    groups = _groups_of_times(model, sets) if method == "split-hmc" else [np.arange(sets.n_times)]
    inside = threads if len(groups) == 1 else replace(threads, count=1)

    def run_group(times: np.ndarray) -> tuple[Draws, np.ndarray, int]:
        group_seed = [seed, int(times[0])]
        return _attempts(method, model.at_times(times), sets.pick(times), group_seed, inside)

    parts, convergence, attempts = zip(*in_threads(run_group, groups, threads), strict=True)
    draws = joined(parts)
    diagnostics = diagnose(
        draws, model.options.chains, max(attempts), convergence=np.concatenate(convergence)
    )
    return draws, diagnostics


def _groups_of_times(model: Model, sets: ChoiceSets) -> list[np.ndarray]:
    """Times that are sampled together: all, unless nothing is shared between them."""
    size = sets.n_times
    if not (model.temporal or model.hyperparameters):
        widest = max(1, int(np.diff(sets.offsets).max()))
        most = MAX_ENTRIES_PER_GROUP // (widest * sets.n_algorithms)
        size = max(1, min(MAX_TIMES_PER_GROUP, most))
    return [
        np.arange(first, min(first + size, sets.n_times)) for first in range(0, sets.n_times, size)
    ]


def _attempts(
    method: str, model: Model, sets: ChoiceSets, seed: Sequence[int], threads: Threads
) -> tuple[Draws, np.ndarray, int]:
    """Draws that pass, or those of the second attempt; an approximation has one attempt.

    Returns also the convergence of all ratings, and the number of attempts.
    """
    likelihood = Likelihood(sets)
    chains = model.options.chains
    efforts = (FIRST,) if method == "laplace" else (FIRST, SECOND)
    for number, effort in enumerate(efforts, start=1):
        try:
            draws = METHODS[method](model, likelihood, [*seed, number], effort, threads)
        except TooWideError:
            if number == 1:
                raise
            break  # the lattice of the second attempt does not fit: the first draws are returned
        convergence = convergence_of(draws.theta.reshape(len(draws.theta), -1), chains, threads)
        if diagnose(draws, chains, convergence=convergence).passed:
            break
    return draws, convergence, number
