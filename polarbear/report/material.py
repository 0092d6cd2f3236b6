"""Everything a report is made of, read from a store once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from polarbear import attainment
from polarbear import racing as race
from polarbear.attainment import Comparison, View
from polarbear.driver.standings import standings
from polarbear.errors import ReportError
from polarbear.inference import Posterior, relations
from polarbear.racing import State
from polarbear.racing.rules import Rules
from polarbear.select import Basis, Contest, contest, find_basis
from polarbear.settings.grid import Budget, Spaced
from polarbear.store import Store


@dataclass(frozen=True)
class RoundRatings:
    """Ratings and relations at one moment: after a round, or in a posterior kept by `infer`.

    ``mean``, ``low`` and ``high`` are ratings[algorithm, time] with the central 95 % interval;
    ``above[time, a, b]`` is P(a is better than b), ``alike[time, a, b]`` that they are equivalent;
    ``always_above[a, b]`` and ``crossing[a, b]`` speak of all times at once and are None where the
    model does not know that. Relations are NaN where the posterior was not to be trusted.
    """

    algorithms: tuple[str, ...]
    times: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    above: np.ndarray
    alike: np.ndarray
    always_above: np.ndarray | None
    crossing: np.ndarray | None

    def index(self, name: str) -> int:
        return self.algorithms.index(name)

    def dominance(self) -> np.ndarray:
        """P(a is better than b at every time)[a, b]; where times are known each for itself, the
        lowest probability over time, which is what the race goes by."""
        return self.above.min(axis=0) if self.always_above is None else self.always_above


@dataclass(frozen=True)
class Round:
    """A round of the race: its checkpoint, and what was believed after it."""

    number: int
    record: dict[str, Any]
    state: State
    believed: RoundRatings


@dataclass(frozen=True)
class Material:
    """A store as a report sees it.

    ``algorithms`` are all that the store knows, in the order of the configuration, which is also
    the order of their colours. ``race`` holds the facts of `polarbear status --json`; it is None
    where no race was run, and ``basis`` is None where there is no posterior. ``comparison`` says
    what the classical view is asked.
    """

    store: Store
    algorithms: tuple[str, ...]
    times: np.ndarray
    axis: str
    log_times: bool
    rules: Rules
    race: dict[str, Any] | None
    rounds: tuple[Round, ...]
    basis: Basis | None
    contest: Contest | None
    comparison: Comparison = field(default_factory=Comparison)

    @property
    def candidates(self) -> tuple[str, ...]:
        """Those a reader may choose from: the Pareto set, or who is not surely dominated."""
        if self.basis is None or self.contest is None:
            return self.algorithms
        return tuple(self.basis.algorithms[i] for i in self.contest.candidates)

    @cached_property
    def believed(self) -> RoundRatings | None:
        """What is believed now; None where nothing has been inferred."""
        if self.rounds:
            return self.rounds[-1].believed
        if self.basis is None:
            return None
        return of_posterior(self.basis.posterior, self.basis, self.rules.epsilon)

    @cached_property
    def classical(self) -> View:
        """The classical view of the same runs; an error says why a store has none."""
        return attainment.view(self.store, self.comparison.algorithms, self.comparison.options)

    def classical_pair(self, a: str, b: str) -> View:
        """The classical view of two algorithms, on all instances that these two have in common."""
        return attainment.view(self.store, (a, b), self.comparison.options)

    def colour_index(self, name: str) -> int:
        return self.algorithms.index(name)


def gather(store: Store, upto: int | None = None, model: str | None = None) -> Material:
    """Read a store; ``upto`` looks back at an earlier round as if it were the last."""
    budget = Budget.model_validate(store.config["budget"])
    numbers = store.round_numbers()
    if upto is not None:
        if upto not in numbers:
            held = f"rounds 1 to {numbers[-1]}" if numbers else "no round of a race"
            raise ReportError(f"{store.path} has no round {upto}; it has {held}")
        numbers = numbers[: numbers.index(upto) + 1]
    rounds = tuple(_round(store, number) for number in numbers)
    rules = Rules.model_validate(rounds[-1].record["rules"] if rounds else {})
    basis = find_basis(store, model) if store.posterior_keys() else None
    return Material(
        store=store,
        algorithms=tuple(store.config["algorithms"]),
        times=budget.times,
        axis=budget.axis,
        log_times=isinstance(budget.grid, Spaced) and budget.grid.spacing == "log",
        rules=rules,
        race=standings(store, upto),
        rounds=rounds,
        basis=basis,
        contest=contest(basis) if basis is not None else None,
    )


def _round(store: Store, number: int) -> Round:
    record = store.round(number)
    state = race.from_plain(record["state"])
    return Round(number, record, state, _of_tables(*store.beliefs(number), np.array(state.times)))


def _of_tables(ratings: pa.Table, pairs: pa.Table, times: np.ndarray) -> RoundRatings:
    """What the tables of a round say."""
    size = len(times)
    names = tuple(ratings["algorithm"].to_pylist()[::size])
    n = len(names)
    mean, low, high = (ratings[c].to_numpy().reshape(n, size) for c in ("mean", "low", "high"))
    above, alike = (np.full((size, n, n), np.nan) for _ in range(2))
    always_above = crossing = None
    a, b = np.triu_indices(n, 1)
    whole = pairs["t"].is_null().to_numpy()
    at = {c: pairs[c].to_numpy()[~whole] for c in ("p_above", "p_below", "p_alike")}
    if len(at["p_above"]):
        above[:, a, b] = at["p_above"].reshape(-1, size).T
        above[:, b, a] = at["p_below"].reshape(-1, size).T
        alike[:, a, b] = alike[:, b, a] = at["p_alike"].reshape(-1, size).T
    if whole.any():
        always_above, crossing = np.full((n, n), np.nan), np.full((n, n), np.nan)
        always_above[a, b] = pairs["p_above"].to_numpy()[whole]
        always_above[b, a] = pairs["p_below"].to_numpy()[whole]
        crossing[a, b] = crossing[b, a] = pairs["p_alike"].to_numpy()[whole]
    return RoundRatings(names, times, mean, low, high, above, alike, always_above, crossing)


def of_posterior(posterior: Posterior, basis: Basis, epsilon: float) -> RoundRatings:
    """What a posterior says that no race went by."""
    low, high = posterior.interval()
    at = relations.pointwise(posterior, epsilon)
    over = relations.joint(posterior) if posterior.joint else None
    above, alike = at.dominance.copy(), at.equivalence.copy()
    itself = np.arange(len(basis.algorithms))
    above[:, itself, itself] = alike[:, itself, itself] = np.nan
    return RoundRatings(
        basis.algorithms,
        basis.times,
        posterior.mean().T,
        low.T,
        high.T,
        above,
        alike,
        None if over is None else over.dominance,
        None if over is None else over.crossing,
    )
