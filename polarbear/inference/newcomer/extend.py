"""Extends a posterior by a newcomer, and leaves what it says of the others as it is.

Where a newcomer lands between two others says something about these two as well, so that in the
joint posterior of all rankings beliefs among the others move while it catches up. Here they do not:
the draws are from the *cut* posterior

    p(others | rankings without the newcomer) * p(newcomer | others, all rankings)

whose first factor is the posterior that is extended.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from scipy.special import expit

from polarbear.errors import InferenceError
from polarbear.inference.base import Posterior
from polarbear.inference.chains import Effort, worst_tenth
from polarbear.inference.diagnostics import Diagnostics, diagnose
from polarbear.inference.models import Model, rating_model
from polarbear.inference.newcomer.chains import EFFORT, HARDER
from polarbear.inference.newcomer.independent import draw_independent
from polarbear.inference.newcomer.placement import Placement, placement_of
from polarbear.inference.newcomer.smooth import Others, draw_smooth
from polarbear.rankings import MAX_MASKED, ChoiceSets
from polarbear.wording import counted

_STREAM = 0x6E6577  # keeps these random numbers apart from those that the others were drawn with
_SMALLEST = 1e-300  # a rating so low that its logarithm still is a number
_HIGHEST = 300.0  # a newcomer further above all others would push their ratings into nothing


def extend(
    posterior: Posterior,
    choice_sets: ChoiceSets,
    position: int,
    seed: int = 0,
    threads: int | None = None,
    names: Sequence[str] | None = None,
) -> Posterior:
    """Add the algorithm at ``position`` of the choice sets to the posterior of all the others.

    The choice sets are those of all rankings, with the newcomer in them. Of the result, draw by
    draw, the others' ratings are what they were but for a common factor, so whatever holds between
    two of them holds as before; so are hyperparameters (kappa is restated for one algorithm more).
    Draws depend on the seed, never on the number of threads.
    """
    begun = time.perf_counter()
    _check(posterior, choice_sets, position)
    place = placement_of(choice_sets, position)
    model = rating_model(posterior.model)(
        posterior.unit_times, posterior.theta.shape[2], posterior.options
    )
    attempt = _temporal if model.temporal else _independent
    # independent draws are exact given the others': where they fail, more effort would not help
    efforts = (EFFORT, HARDER) if model.temporal else (EFFORT,)
    for number, effort in enumerate(efforts, start=1):
        drawn = attempt(posterior, model, place, [seed, _STREAM], effort, threads)
        logit = np.minimum(drawn.logit, _HIGHEST)
        newcomer = expit(logit)
        judged = diagnose(
            newcomer[:, :, None],
            posterior.chains,
            divergences=drawn.divergences,
            acceptance=drawn.acceptance,
            attempts=number,
            threads=threads,
        )
        if judged.passed:
            break
    others = posterior.theta * expit(-logit)[:, :, None]
    return replace(
        posterior,
        theta=np.insert(others, position, newcomer, axis=2),
        seed=seed,
        seconds=posterior.seconds + time.perf_counter() - begun,
        diagnostics=_worse_of(posterior.diagnostics, judged),
        hyper=MappingProxyType(model.hyper_with_another(posterior.hyper)),
        notes=(*posterior.notes, *_notes(place, position, names)),
    )


@dataclass(frozen=True)
class _Drawn:
    """logit(theta_new)[D, T], and how the sampler fared if it can fail."""

    logit: np.ndarray
    acceptance: float | None = None
    divergences: int = 0


def _independent(
    posterior: Posterior,
    model: Model,
    place: Placement,
    seed: list[int],
    effort: Effort,
    threads: int | None,
) -> _Drawn:
    settings, node = _settings(posterior, model)
    concentration = np.array([model.latent(setting).dirichlet for setting in settings])[node]
    return _Drawn(draw_independent(place, posterior.theta, concentration, seed, threads))


def _temporal(
    posterior: Posterior,
    model: Model,
    place: Placement,
    seed: list[int],
    effort: Effort,
    threads: int | None,
) -> _Drawn:
    settings, node = _settings(posterior, model)
    mu = np.log(np.maximum(posterior.theta, _SMALLEST)).swapaxes(0, 1)
    mean = mu.mean(axis=2)
    chain = np.repeat(np.arange(posterior.chains), posterior.n_draws // posterior.chains)
    others = Others(mu - mean[:, :, None], chain, node)
    settled = draw_smooth(place, others, lambda k: model.latent(settings[k]), seed, effort, threads)
    return _Drawn((settled.x + mean).T, worst_tenth(settled.acceptance), settled.divergences)


def _settings(posterior: Posterior, model: Model) -> tuple[np.ndarray, np.ndarray]:
    """The distinct log-hyperparameters [J, H], and which of them each draw has."""
    if not model.hyperparameters:
        return np.zeros((1, 0)), np.zeros(posterior.n_draws, dtype=np.int64)
    columns = [np.log(posterior.hyper[name]) for name in model.hyperparameters]
    settings, node = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return settings, node.ravel()


def _worse_of(one: Diagnostics, two: Diagnostics) -> Diagnostics:
    """The others' part of theta and the newcomer's, judged as one."""
    rates = [d.acceptance for d in (one, two) if d.acceptance is not None]
    return replace(
        one,
        r_hat=max(one.r_hat, two.r_hat),
        ess_bulk=min(one.ess_bulk, two.ess_bulk),
        ess_tail=min(one.ess_tail, two.ess_tail),
        divergences=one.divergences + two.divergences,
        acceptance=min(rates, default=None),
        attempts=max(one.attempts, two.attempts),
    )


def _check(posterior: Posterior, sets: ChoiceSets, position: int) -> None:
    _, n_times, m = posterior.theta.shape
    if sets.n_algorithms != m + 1:
        raise InferenceError(
            f"a posterior of {counted(m, 'algorithm')} is extended by rankings of {m + 1}, but "
            f"these are of {sets.n_algorithms}: rank the same algorithms and one newcomer"
        )
    if sets.n_times != n_times:
        raise InferenceError(
            f"the posterior has {counted(n_times, 'timepoint')}, but the rankings have "
            f"{sets.n_times}: rank on the posterior's own grid"
        )
    if not 0 <= position <= m:
        raise InferenceError(
            f"the newcomer is said to be number {position + 1} of {m + 1} algorithms: give its "
            f"index, from 0 to {m}"
        )
    if sets.steps is not None:
        raise InferenceError(
            f"a newcomer is inferred from which sets of algorithms rankings share, kept in the "
            f"bits of one number: at most {MAX_MASKED} algorithms, found {m + 1}; race by the "
            "model 'empirical'"
        )


def _notes(place: Placement, position: int, names: Sequence[str] | None) -> list[str]:
    """Sentences on how the newcomer was inferred and what limits that."""
    names = names or [f"algorithm {i + 1}" for i in range(len(place.met) + 1)]
    newcomer = names[position]
    found = [
        f"{newcomer} was inferred given the posterior of the others, so that beliefs among these "
        "stayed as they were"
    ]
    gaps = np.flatnonzero(~place.ranked)
    strangers = np.flatnonzero(~np.insert(place.met, position, True))
    if not place.ranked.any():
        found.append(
            f"{newcomer} stands in no ranking with any of the others: its rating is the prior's "
            "word alone"
        )
    elif len(gaps):
        found.append(
            f"{newcomer} is in no ranking at {len(gaps)} of "
            f"{counted(len(place.ranked), 'timepoint')} (first: timepoint {gaps[0] + 1}): its "
            "rating there comes from the prior and, in a temporal model, from neighbouring times"
        )
    if place.ranked.any() and len(strangers):
        apart = ", ".join(names[int(i)] for i in strangers)
        found.append(
            f"{newcomer} never stood in one ranking with {apart}: they are compared through "
            "others only"
        )
    return found
