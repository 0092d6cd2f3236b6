"""The native engine: a model and choice sets in, a judged posterior out."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import MappingProxyType

import numpy as np

from polarbear.errors import InferenceError, MissingExtraError
from polarbear.inference.base import Posterior
from polarbear.inference.diagnostics import Diagnostics, convergence_of, diagnose, pareto_k
from polarbear.inference.models import Model, rating_model
from polarbear.inference.native.attempt import FIRST, HARDER, Attempt, Draws
from polarbear.inference.native.independent import sampling as independent
from polarbear.inference.native.independent.concentration import sample_with_concentration
from polarbear.inference.native.independent.sampling import SampledTimes
from polarbear.inference.native.nested import TooWideError, explore
from polarbear.inference.native.set_sums import set_sums
from polarbear.inference.native.temporal import sampling as temporal
from polarbear.inference.options import ModelOptions
from polarbear.rankings import ChoiceSets

METHODS = ("auto", "split-hmc", "laplace", "mcmc")

# what a method gives: draws, the log-hyperparameters [draw, H] they belong to, and how many draws
# show that the posterior goes on where the hyperparameters' lattice ends
_Result = tuple[Draws, np.ndarray, float]


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
    method = "split-hmc" if options.method == "auto" else options.method
    try:
        draws, hyper, diagnostics = _judged(method, model, sets, seed, threads)
    except TooWideError as error:
        if options.method != "auto":
            raise
        notes = (*notes, f"method 'mcmc' was used because {error}")
        method = "mcmc"
        try:
            draws, hyper, diagnostics = _judged(method, model, sets, seed, threads)
        except MissingExtraError as missing:
            raise InferenceError(f"{error}; otherwise {missing}") from None
    named = {name: np.exp(hyper[:, k]) for k, name in enumerate(model.hyperparameters)}
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


def _judged(
    method: str, model: Model, sets: ChoiceSets, seed: int, threads: int | None
) -> tuple[Draws, np.ndarray, Diagnostics]:
    """Draws that pass, or those of the second attempt; an approximation has but one."""
    if method == "split-hmc" and not (model.temporal or model.hyperparameters):
        return _judged_by_time(model, sets, seed, threads)
    attempts = (FIRST,) if method == "laplace" else (FIRST, HARDER)
    for number, attempt in enumerate(attempts, start=1):
        try:
            draws, hyper, missed = _METHODS[method](model, sets, seed, attempt, threads)
        except TooWideError:
            if number == 1:
                raise
            break  # a finer, wider lattice does not fit: what the first attempt gave stands
        diagnostics = diagnose(
            draws.theta,
            model.options.chains,
            divergences=draws.divergences,
            pareto_k=_worst_pareto_k(draws, model),
            acceptance=None if method == "laplace" else draws.acceptance,
            missed=missed,
            attempts=number,
            threads=threads,
        )
        if diagnostics.passed:
            break
    return draws, hyper, diagnostics


def _judged_by_time(
    model: Model, sets: ChoiceSets, seed: int, threads: int | None
) -> tuple[Draws, np.ndarray, Diagnostics]:
    """Where times have nothing in common, a second attempt is at those that failed the first."""
    laid_out, chains = set_sums(sets), model.options.chains
    lattice = explore(model, laid_out, threads=threads)
    sampled = SampledTimes(laid_out, lattice, model.options.draws, chains, seed, threads)
    convergence = np.empty((*laid_out.wins.shape, 3))

    def judged(drawn: np.ndarray, attempts: int) -> tuple[Draws, Diagnostics]:
        draws = sampled.draws
        theta = draws.theta if len(drawn) == len(convergence) else draws.theta[:, drawn]
        found = convergence_of(theta.reshape(len(theta), -1), chains, threads)
        convergence[drawn] = found.reshape(*theta.shape[1:], 3)
        return draws, diagnose(
            draws.theta,
            chains,
            divergences=draws.divergences,
            acceptance=draws.acceptance,
            attempts=attempts,
            convergence=convergence.reshape(-1, 3),
        )

    draws, diagnostics = judged(sampled.draw(FIRST.effort), 1)
    if not diagnostics.passed:
        doubtful = diagnostics.doubts(convergence.reshape(-1, 3)).reshape(laid_out.wins.shape)
        again = np.flatnonzero(doubtful.any(axis=1))
        draws, diagnostics = judged(sampled.draw_again(again, HARDER.effort), 2)
    return draws, lattice.log_hyper[draws.visited], diagnostics


def _split_hmc(
    model: Model, sets: ChoiceSets, seed: int, attempt: Attempt, threads: int | None
) -> _Result:
    laid_out, options = set_sums(sets), model.options
    lattice = explore(model, laid_out, attempt.spacing, attempt.pruned, threads)
    effort = attempt.effort
    if model.hyperparameters and not model.temporal:
        return *sample_with_concentration(model, laid_out, lattice, seed, effort, threads), 0.0
    draws = temporal.sample(laid_out, lattice, options.draws, options.chains, seed, effort, threads)
    return draws, lattice.log_hyper[draws.visited], lattice.missed(draws.visited)


def _laplace(
    model: Model, sets: ChoiceSets, seed: int, attempt: Attempt, threads: int | None
) -> _Result:
    laid_out, options = set_sums(sets), model.options
    lattice = explore(model, laid_out, attempt.spacing, attempt.pruned, threads)
    room = temporal if model.temporal else independent
    draws = room.draw_approximation(laid_out, lattice, options.draws, options.chains, seed, threads)
    return draws, lattice.log_hyper[draws.visited], lattice.missed(draws.visited)


def _mcmc(
    model: Model, sets: ChoiceSets, seed: int, attempt: Attempt, threads: int | None
) -> _Result:
    from polarbear.inference.native.nuts import sample_nuts  # heavy, and rarely needed

    return (*sample_nuts(model, set_sums(sets), seed, attempt, threads), 0.0)


_METHODS: dict[str, Callable[[Model, ChoiceSets, int, Attempt, int | None], _Result]] = {
    "split-hmc": _split_hmc,
    "laplace": _laplace,
    "mcmc": _mcmc,
}


def _worst_pareto_k(draws: Draws, model: Model) -> float | None:
    """Of each independent run of times for itself: only those weights ever meet."""
    if draws.log_weights is None:
        return None
    if model.hyperparameters or model.temporal:
        return pareto_k(draws.log_weights.sum(axis=1))
    return max(pareto_k(column) for column in draws.log_weights.T)
