"""The native engine: a model and choice sets in, a checked posterior out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from polarbear.errors import InferenceError, MissingExtraError
from polarbear.inference.chain_diagnostics import convergence_of, diagnose, pareto_k
from polarbear.inference.model_options import ModelOptions
from polarbear.inference.models.base import Model, rating_model
from polarbear.inference.plackett_luce.lattice import TooWideError, explore
from polarbear.inference.plackett_luce.likelihood import Likelihood
from polarbear.inference.plackett_luce.nuts import sample_nuts
from polarbear.inference.plackett_luce.split_hmc import (
    Draws,
    Effort,
    draw_approximation,
    sample,
)
from polarbear.inference.posterior_draws import Diagnostics, Posterior
from polarbear.numerics.threads import in_threads, single_threaded_blas
from polarbear.rankings import ChoiceSets

METHODS = ("auto", "split-hmc", "laplace", "mcmc")
MAX_TIMES_PER_GROUP = 32
MAX_ENTRIES_PER_GROUP = 2**21  # of sets and their members, which bounds memory
MAX_NUTS_PARAMETERS = 50  # that NUTS may replace split HMC for: it takes minutes, more take hours

Seed = Sequence[int]


@dataclass(frozen=True)
class Attempt:
    """How much work an attempt may take: a second one takes more.

    ``spacing`` of hyperparameter nodes is in standard deviations, ``min_weight`` relative to the
    heaviest node; ``tuning`` and ``target`` are NUTS's tuning transitions and acceptance.
    """

    effort: Effort
    spacing: float
    min_weight: float
    tuning: int
    target: float


FIRST = Attempt(Effort(10, 0.9, 1), spacing=1.0, min_weight=1e-4, tuning=1000, target=0.8)
SECOND = Attempt(Effort(100, 0.97, 4), spacing=0.8, min_weight=1e-6, tuning=3000, target=0.95)


def run(
    sets: ChoiceSets,
    times: np.ndarray,
    options: ModelOptions,
    seed: int,
    notes: tuple[str, ...] = (),
    threads: int | None = None,
) -> Posterior:
    """Draw from the posterior; if its diagnostics fail, once more with more effort."""
    if options.method not in METHODS:
        raise InferenceError(
            f"the native engine has no method '{options.method}'; it has {', '.join(METHODS)} "
            "(the others are the stan engine's)"
        )
    begun = time.perf_counter()
    model = rating_model(options.model)(times, sets.n_algorithms, options)
    # with one thread, the rounding of a matrix product does not depend on the number of processors
    with single_threaded_blas():
        if options.method == "auto":
            method, draws, diagnostics, fallback = _auto(model, sets, seed, threads)
            notes = (*notes, *fallback)
        else:
            method = options.method
            draws, diagnostics = _checked(method, model, sets, seed, threads)
    named = {name: np.exp(draws.log_hyper[:, k]) for k, name in enumerate(model.hyperparameters)}
    return Posterior(
        theta=draws.theta,
        chains=options.chains,
        unit_times=times,
        options=options,
        engine="native",
        method=method,
        seed=seed,
        seconds=time.perf_counter() - begun,
        diagnostics=diagnostics,
        joint=model.temporal,
        hyper=MappingProxyType(named),
        notes=notes,
    )


def _auto(
    model: Model, sets: ChoiceSets, seed: int, threads: int | None
) -> tuple[str, Draws, Diagnostics, tuple[str, ...]]:
    """Split HMC, or NUTS where that has no lattice of hyperparameters or does not converge.

    Returns the method that was used, its draws and diagnostics, and notes.
    """
    first = None
    try:
        first = _checked("split-hmc", model, sets, seed, threads)
        if first[1].converged:
            return "split-hmc", *first, ()
        reason = f"split-hmc did not converge: {first[1].problems[0]}"
        hyper = np.zeros(len(model.hyperparameters))
        if model.latent(hyper).n_coefficients * (sets.n_algorithms - 1) > MAX_NUTS_PARAMETERS:
            return "split-hmc", *first, (f"{reason}; the method 'mcmc' may, but takes long",)
    except TooWideError as error:
        reason = str(error)
    try:
        second = _checked("mcmc", model, sets, seed, threads)
    except MissingExtraError as missing:
        if first is None:
            raise InferenceError(f"{reason}; otherwise {missing}") from None
        return "split-hmc", *first, (f"{reason}; method 'mcmc' was not tried: {missing}",)
    if first is not None and not second[1].converged:
        return "split-hmc", *first, ()
    return "mcmc", *second, (f"method 'mcmc' was used because {reason}",)


def _checked(
    method: str, model: Model, sets: ChoiceSets, seed: int, threads: int | None
) -> tuple[Draws, Diagnostics]:
    """Draws with their diagnostics, each group of independent times on its own."""
    groups = _groups_of_times(model, sets) if method == "split-hmc" else [np.arange(sets.n_times)]
    inside = threads if len(groups) == 1 else 1

    def run_group(times: np.ndarray) -> tuple[Draws, np.ndarray, Diagnostics]:
        given = [seed, int(times[0])]
        return _attempts(method, model.at_times(times), sets.pick(times), given, inside)

    parts, convergence, diagnostics = zip(*in_threads(run_group, groups, threads), strict=True)
    if len(parts) == 1:
        return parts[0], diagnostics[0]
    draws = Draws(np.concatenate([part.theta for part in parts], axis=1), parts[0].log_hyper)
    return draws, diagnose(
        draws.theta,
        model.options.chains,
        divergences=sum(part.divergences for part in parts),
        acceptance=min(part.acceptance for part in parts),
        attempts=max(one.attempts for one in diagnostics),
        convergence=np.concatenate(convergence),
    )


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
    method: str, model: Model, sets: ChoiceSets, seed: Seed, threads: int | None
) -> tuple[Draws, np.ndarray, Diagnostics]:
    """Draws that pass, or those of the second attempt; an approximation has one attempt."""
    likelihood, chains = Likelihood(sets), model.options.chains
    attempts = (FIRST,) if method == "laplace" else (FIRST, SECOND)
    for number, attempt in enumerate(attempts, start=1):
        try:
            draws = _METHODS[method](model, likelihood, [*seed, number], attempt, threads)
        except TooWideError:
            if number == 1:
                raise
            break  # a finer, wider lattice does not fit: the first attempt's draws stand
        convergence = convergence_of(draws.theta.reshape(len(draws.theta), -1), chains, threads)
        diagnostics = diagnose(
            draws.theta,
            chains,
            divergences=draws.divergences,
            pareto_k=_worst_pareto_k(draws, model),
            acceptance=draws.acceptance,
            missed=draws.missed,
            attempts=number,
            convergence=convergence,
        )
        if diagnostics.passed:
            break
    return draws, convergence, diagnostics


def _split_hmc(
    model: Model, likelihood: Likelihood, seed: Seed, attempt: Attempt, threads: int | None
) -> Draws:
    lattice = explore(model, likelihood, attempt.spacing, attempt.min_weight, threads)
    return sample(model, likelihood, lattice, seed, attempt.effort, threads)


def _laplace(
    model: Model, likelihood: Likelihood, seed: Seed, attempt: Attempt, threads: int | None
) -> Draws:
    lattice = explore(model, likelihood, attempt.spacing, attempt.min_weight, threads)
    return draw_approximation(model, likelihood, lattice, seed)


def _mcmc(
    model: Model, likelihood: Likelihood, seed: Seed, attempt: Attempt, threads: int | None
) -> Draws:
    return sample_nuts(model, likelihood, seed[0], attempt.tuning, attempt.target, threads)


_METHODS: dict[str, Callable[[Model, Likelihood, Seed, Attempt, int | None], Draws]] = {
    "split-hmc": _split_hmc,
    "laplace": _laplace,
    "mcmc": _mcmc,
}


def _worst_pareto_k(draws: Draws, model: Model) -> float | None:
    """Over times where these are independent: weights of different times are never combined."""
    if draws.log_weights is None:
        return None
    if model.hyperparameters or model.temporal:
        return pareto_k(draws.log_weights.sum(axis=1))
    return max(pareto_k(column) for column in draws.log_weights.T)
