"""From duels or choice sets to a posterior: checks the evidence, then draws by the model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Event
from typing import TYPE_CHECKING

import numpy as np

from polarbear.errors import InferenceError
from polarbear.inference import checks
from polarbear.inference.empirical.bootstrap import Bootstrap, mean_win_rates
from polarbear.inference.model_options import ModelOptions
from polarbear.inference.posterior_draws import Diagnostics, Posterior
from polarbear.numerics.threads import Threads
from polarbear.rankings.duels import ProblemDuels, duels_of
from polarbear.rankings.ranking import Coverage

if TYPE_CHECKING:
    from polarbear.rankings.choice_sets import ChoiceSets

MAX_NUMBERS = 3 * 2**26  # win probabilities and shares of first places, copies included: 0.75 GiB
MIN_DRAWS = 200


def infer(
    choice_sets: ChoiceSets | None,
    unit_times: np.ndarray,
    options: ModelOptions | None = None,
    seed: int = 0,
    threads: int | None = None,
    names: Sequence[str] | None = None,
    positions: np.ndarray | None = None,
    problems: Sequence[str] | None = None,
    weights: np.ndarray | None = None,
    field: Sequence[int] | None = None,
    times: np.ndarray | None = None,
    cancelled: Event | None = None,
    results: np.ndarray | None = None,
) -> Posterior:
    """Draw theta[draw, time, algorithm] from the posterior.

    ``unit_times`` is the grid on its scale, mapped to the unit interval; ``times`` is the grid
    itself, by which the posterior names its axis of time. Draws depend on the seed,
    never on the number of threads. Check ``usable`` before deciding anything, and read ``notes``
    for what limits the evidence; they use the ``names`` of the algorithms, if given.

    The empirical model uses the ``positions[instance, algorithm, time]`` and no choice sets. A
    temporal model needs them, too, to measure how much the rankings of one instance repeat each
    other over time, unless ``dependence`` is 'independent'. ``problems`` names the problem of each
    instance; instances of one problem count as one. ``weights`` are those that the choice sets were
    counted with. ``field`` are the algorithms that compete for first places (empirical only).
    With several objectives ``results[instance, pair, time]`` are those of duels of fronts, and
    positions only say who is present.
    Sampling ends with `CancelledWork` soon after the event ``cancelled`` is set.

    A Plackett-Luce posterior whose positions are given carries a check of fit.
    """
    options = options or ModelOptions()
    unit_times = np.asarray(unit_times, dtype=float)
    if times is None:
        times = unit_times
    if weights is not None and (weights == 1).all():
        weights = None
    if not options.plackett_luce:
        ranked = checks.check_positions(positions, None, len(unit_times), options.model)
        coverage = Coverage.of(ranked)
        checks.check(coverage)
        algorithms = names or _numbered(coverage)
        notes = checks.notes(coverage, algorithms, problems, weights, sampled_ties=0)
        duels = duels_of(ranked, problems, weights, results)
        return _bootstrapped(duels, algorithms, times, unit_times, options, seed, field, notes)
    from polarbear.inference.plackett_luce.infer_ratings import infer_ratings  # loads SciPy

    if choice_sets is None:
        raise InferenceError(f"the {options.model} model needs choice sets")
    checks.check(choice_sets.coverage)
    algorithms = names or _numbered(choice_sets.coverage)
    notes = checks.notes(
        choice_sets.coverage, algorithms, problems, weights, choice_sets.sampled_ties
    )
    return infer_ratings(
        choice_sets,
        algorithms,
        times,
        unit_times,
        options,
        seed,
        Threads(threads, cancelled),
        positions,
        problems,
        weights,
        notes,
    )


def _numbered(coverage: Coverage) -> list[str]:
    """Names for algorithms that have none."""
    return [f"algorithm {i + 1}" for i in range(len(coverage.met))]


def _bootstrapped(
    duels: ProblemDuels,
    algorithms: Sequence[str],
    times: np.ndarray,
    unit_times: np.ndarray,
    options: ModelOptions,
    seed: int,
    field: Sequence[int] | None,
    notes: tuple[str, ...],
) -> Posterior:
    """The posterior of the empirical model: independent draws of the Bayesian bootstrap."""
    if options.method != "auto":
        raise InferenceError(
            f"the empirical model does not use the method '{options.method}': leave it at 'auto'"
        )
    start = time.perf_counter()
    draws, memory_notes = draws_within_memory(len(algorithms), len(unit_times), options)
    bootstrap = Bootstrap(duels, algorithms, draws, seed, options.concentration)
    record = duels.record()
    wins = bootstrap.wins()
    if duels.results is None:
        theta = bootstrap.firsts(field)
    else:
        theta = mean_win_rates(wins, len(algorithms), field)
    return Posterior(
        wins=wins,
        shared=record.shared.astype(int),
        duels=record,
        theta=theta,
        algorithms=tuple(algorithms),
        times=times,
        chains=options.chains,
        unit_times=unit_times,
        options=options,
        engine="native",
        method="bootstrap",
        seed=seed,
        seconds=time.perf_counter() - start,
        diagnostics=Diagnostics(1.0, float(draws), float(draws), 0, None, None, 1),
        joint=True,
        notes=(*notes, *memory_notes),
    )


def draws_that_fit(n: int, n_times: int, options: ModelOptions) -> int:
    """The number of draws that memory holds, at most the requested one; 0 if it is too small."""
    chains = options.chains
    requested = -(-options.draws // chains) * chains
    most = _most_draws(n, n_times, chains)
    return requested if requested <= most else most * (most >= MIN_DRAWS)


def draws_within_memory(n: int, n_times: int, options: ModelOptions) -> tuple[int, tuple[str, ...]]:
    """The requested number of draws, or the number that memory holds, with a note."""
    draws = draws_that_fit(n, n_times, options)
    requested = -(-options.draws // options.chains) * options.chains
    if not draws:
        raise InferenceError(
            f"win probabilities of all pairs of {n} algorithms at {n_times} times leave memory for "
            f"{_most_draws(n, n_times, options.chains)} draws only; use fewer algorithms "
            "(--algorithms) or fewer times (--grid)"
        )
    if draws == requested:
        return draws, ()
    return draws, (f"{draws} draws instead of {requested}: more would take over 0.75 GiB",)


def _most_draws(n: int, n_times: int, chains: int) -> int:
    """The number of draws that memory holds."""
    return MAX_NUMBERS // (n * (n - 1) * n_times + 2 * n * n_times) // chains * chains
