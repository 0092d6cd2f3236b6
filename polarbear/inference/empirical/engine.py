"""The empirical model's posterior: independent draws, so there is nothing to converge."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from polarbear.errors import InferenceError
from polarbear.inference.base import Posterior
from polarbear.inference.diagnostics import Diagnostics
from polarbear.inference.empirical.bootstrap import Bootstrap, scores_of_pairs, sums_of_scores
from polarbear.inference.empirical.knots import FEWEST_DRAWS, knots_for, most_draws
from polarbear.inference.empirical.moments import moments_of_curves
from polarbear.inference.empirical.noise import noise_correlation
from polarbear.inference.empirical.smoothing import (
    IMAGINARY_DUELS,
    Curves,
    learned_curves,
    on_the_scale_of_curves,
)
from polarbear.inference.interpolated import Interpolated
from polarbear.inference.options import ModelOptions
from polarbear.rankings.duels import Duels, Scores, duels_of

METHOD = "bootstrap"


@dataclass(frozen=True)
class Empirical:
    """The model of some positions[instance, algorithm, time], to draw from again and again."""

    positions: np.ndarray
    unit_times: np.ndarray
    options: ModelOptions
    problems: Sequence[str] | None = None
    weights: np.ndarray | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.options.method not in ("auto", METHOD):
            raise InferenceError(
                "the empirical model has draws of its own and no use for "
                f"'{self.options.method}': leave the method at 'auto'"
            )

    def posterior(
        self,
        seed: int,
        field: Sequence[int] | None = None,
        notes: tuple[str, ...] = (),
        draws: int | None = None,
    ) -> Posterior:
        """Draws of duels and first places, as many as the options say unless told otherwise."""
        begun = time.perf_counter()
        options = self.options
        if draws is not None:
            options = options.model_copy(update={"draws": draws})
        draws, notes = self._that_fit(options, notes)
        bootstrap = self._bootstrap(draws, seed)
        return Posterior(
            wins=self._wins(bootstrap, seed),
            theta=bootstrap.firsts(field, self._duels),
            chains=options.chains,
            unit_times=self.unit_times,
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

    def among(self, posterior: Posterior, field: Sequence[int]) -> Posterior:
        """The same draws, first places being among another field."""
        drawn = self._at_knots, posterior.n_draws, posterior.seed
        bootstrap = Bootstrap(*drawn, self._imaginary, self.threads)  # scores are not asked for
        return replace(posterior, theta=bootstrap.firsts(field, self._duels))

    def more_of_pairs(
        self, posterior: Posterior, pairs: Sequence[int], draws: int, seed: int
    ) -> Iterator[Posterior]:
        """Of each of some pairs so many draws more than a posterior has, and of no others.

        They are as independent of its draws as those are of each other.
        """
        wins = self._wins(self._bootstrap(draws, seed), seed, pairs)
        for k in range(len(pairs)):
            first = np.asarray(wins[:, :, k : k + 1], dtype=float)
            yield replace(
                posterior,
                theta=np.concatenate([first, 1 - first], axis=2),  # being the better of two
                wins=wins[:, :, k : k + 1] if isinstance(wins, np.ndarray) else wins.of_pair(k),
                seed=seed,
            )

    @cached_property
    def most_draws(self) -> int:
        """As many as memory holds of all pairs."""
        _, n, n_times = self.positions.shape
        return most_draws(n, n_times, len(self._knots)) // self.options.chains * self.options.chains

    def _that_fit(
        self, options: ModelOptions, notes: tuple[str, ...]
    ) -> tuple[int, tuple[str, ...]]:
        """As many draws as were asked for, or as memory holds."""
        _, n, n_times = self.positions.shape
        knots = len(self._knots)
        if knots < n_times:
            notes = (
                *notes,
                f"of {n_times} times {knots} were looked at for who beats whom, with straight "
                "lines between them",
            )
        wanted = -(-options.draws // options.chains) * options.chains
        if wanted <= self.most_draws:
            return wanted, notes
        if self.most_draws < FEWEST_DRAWS:
            raise InferenceError(
                f"the empirical model looks at all pairs of {n} algorithms at {knots} times, of "
                f"which memory holds fewer than {FEWEST_DRAWS} draws; name fewer algorithms or "
                "times, or another model"
            )
        return self.most_draws, (
            *notes,
            f"{self.most_draws} draws instead of {wanted}: more of all pairs would take over "
            "0.75 GiB",
        )

    @cached_property
    def _duels(self) -> Duels:
        return duels_of(self.positions, self.problems, self.weights)

    @property
    def _smooth(self) -> bool:
        return self.options.smoothing == "learned" and len(self.unit_times) > 1

    @cached_property
    def _knots(self) -> np.ndarray:
        """The times at which pairs are looked at."""
        return knots_for(self.positions.shape[1], len(self.unit_times), self._smooth)

    @cached_property
    def _at_knots(self) -> Duels:
        if len(self._knots) == len(self.unit_times):
            return self._duels
        positions = np.ascontiguousarray(self._duels.positions[:, :, self._knots])
        return replace(self._duels, positions=positions)

    @cached_property
    def _scores(self) -> list[Scores]:
        return scores_of_pairs(self._at_knots, self.threads)

    @property
    def _imaginary(self) -> float | None:
        """Imaginary duels, where their number is not learned."""
        return self.options.concentration or (IMAGINARY_DUELS if self._smooth else None)

    def _bootstrap(self, draws: int, seed: int) -> Bootstrap:
        """Draws of a distribution over instances, which says of pairs what it does at knots."""
        return Bootstrap(self._at_knots, draws, seed, self._imaginary, self.threads, self._scores)

    @cached_property
    def _curves(self) -> Curves:
        """How pairs' curves are smoothed."""
        assert self._imaginary is not None
        sums = sums_of_scores(self._at_knots, self._scores, self.threads)
        mean, spread = moments_of_curves(*sums, self._imaginary, self.threads)
        correlation = noise_correlation(self._at_knots, self._scores, self.threads)
        return learned_curves(mean, spread, self.unit_times[self._knots], correlation, self.threads)

    def _wins(
        self, bootstrap: Bootstrap, seed: int, pairs: Sequence[int] | None = None
    ) -> np.ndarray | Interpolated:
        """Draws [draw, time, pair] of who wins, of all pairs or of these."""
        wins = bootstrap.wins(pairs)
        if self._smooth:
            on_the_scale_of_curves(wins, self.threads)
            self._curves.smooth(wins, pairs or range(wins.shape[2]), seed, self.threads)
        if len(self._knots) == len(self.unit_times):
            return wins
        return Interpolated(wins, self._knots)
