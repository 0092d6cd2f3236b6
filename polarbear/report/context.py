"""The context of a report: everything it needs, read from a store once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from polarbear.classical.view_options import Comparison
from polarbear.errors import InferenceError, ReportError
from polarbear.facts.evidence import evidence_of
from polarbear.facts.feature_groups import Grouping
from polarbear.facts.group_answers import GroupAnswers, group_answers, grouping_by
from polarbear.facts.standings import Standings, standings
from polarbear.inference.beliefs import Beliefs, beliefs
from polarbear.inference.strongest_rival import p_best_at_each_time
from polarbear.problems.specs import FAMILY
from polarbear.racing import RoundRecord, State
from polarbear.racing.recommendation import Advice, advise
from polarbear.racing.rules import Rules
from polarbear.rankings.duels import fewest_shared
from polarbear.report.figures.short_names import labels_in
from polarbear.selection.posterior_source import Basis, Contest, contest, find_basis
from polarbear.store import StoreOnDisk

if TYPE_CHECKING:
    from polarbear.classical.view import View

MAX_CURVES = 40  # the most algorithms whose curves a reader can tell apart
Argument = TypeVar("Argument")
Result = TypeVar("Result")


def once(function: Callable[[Argument], Result]) -> Callable[[Argument], Result]:
    """Remember the results of a function for the two contexts that it was called with last.

    A context equals only itself, so a result is never used for another store.
    """
    return lru_cache(maxsize=2)(function)


@dataclass(frozen=True)
class Round:
    """A round of the race: its checkpoint, and the estimates after it."""

    number: int
    record: RoundRecord
    estimates: Beliefs

    @property
    def state(self) -> State:
        return self.record.state


@dataclass(frozen=True, eq=False)
class ReportContext:
    """The content of a store that a report uses.

    ``algorithms`` are all algorithms of the store, in the order of the configuration, which is also
    the order of their colours. ``times`` are those of the estimates, which differ from those of the
    configuration if its grid was changed later. ``race`` has the facts of `polarbear status
    --json`, None without a race; ``basis`` is None without a posterior. ``comparison`` configures
    the classical view, ``at`` is the budget of the figure of one budget,
    ``by`` the feature that groups problems.
    """

    store: StoreOnDisk
    algorithms: tuple[str, ...]
    times: np.ndarray
    axis: str
    log_times: bool
    rules: Rules
    race: Standings | None
    rounds: tuple[Round, ...]
    basis: Basis | None
    contest: Contest | None
    comparison: Comparison = field(default_factory=Comparison)
    at: float | None = None
    by: str | None = None

    @property
    def candidates(self) -> tuple[str, ...]:
        """The algorithms to choose from: the Pareto set, or those not dominated."""
        if self.basis is None or self.contest is None:
            return self.algorithms
        return tuple(self.basis.algorithms[i] for i in self.contest.candidates)

    @cached_property
    def draws(self) -> Basis | None:
        """The posterior at the round that the report describes; None if its draws are not kept.

        A race keeps only the draws of its last round.
        """
        basis = self.basis
        if basis is None or not self.rounds:
            return basis
        last = self.rounds[-1]
        if basis.source == "race":
            is_last = last.record.posterior == basis.key
        else:
            is_last = last.number == self.store.rounds.numbers()[-1]
        return basis if is_last else None

    @property
    def other_model(self) -> str | None:
        """The model of the choices, if another model decided the rounds of the race."""
        if self.draws is None or self.draws.source != "infer" or not self.rounds:
            return None
        return self.draws.posterior.model

    @property
    def remaining(self) -> tuple[str, ...]:
        """The candidates at the round that the report describes."""
        if not self.rounds:
            return self.candidates
        candidates = self.rounds[-1].state.candidates
        return tuple(name for name in self.algorithms if name in candidates)

    @cached_property
    def p_best(self) -> tuple[tuple[str, ...], np.ndarray]:
        """The candidates, and P(best at t)[time, algorithm] among them, by duels."""
        basis = self.draws
        estimates = self.estimates
        if basis is not None:
            names = tuple(name for name in basis.algorithms if name in self.remaining)
            items = [basis.algorithms.index(name) for name in names]
            return names, p_best_at_each_time(basis.posterior, items)
        assert estimates is not None
        names = tuple(name for name in estimates.algorithms if name in self.remaining)
        return names, estimates.best[[estimates.row_of(name) for name in names]].T

    @cached_property
    def groups(self) -> GroupAnswers | None:
        """The answers for the groups of problems; None where none were asked for, or inferred."""
        if self.by is None or self.basis is None:
            return None
        posterior = self.basis.posterior
        evidence = evidence_of(self.store, posterior.algorithms)
        return group_answers(
            self.store,
            evidence,
            self.grouping,
            posterior.options,
            posterior.seed,
            self.remaining if len(self.remaining) > 1 else None,
        )

    @cached_property
    def grouping(self) -> Grouping:
        """The instances in groups by the feature of the report, or by their kind."""
        return grouping_by(self.store, self.by or FAMILY)

    @property
    def advice(self) -> Advice:
        """The spans of time with the likely best candidates, and how much can be said."""
        names, p_best = self.p_best
        duels = None if self.draws is None else self.draws.posterior.duels
        same_values = None
        if duels is not None and self.draws is not None:
            same_values = duels.same_values(self.draws.algorithms, names)
        return advise(names, self.times, p_best, self.fewest_shared_problems, same_values)

    @property
    def fewest_shared_problems(self) -> int | None:
        """The lowest number of problems that two candidates share at any time."""
        basis = self.draws
        names = self.p_best[0]
        if basis is None or basis.posterior.shared is None or len(names) < 2:
            return self.race.instances if self.race is not None else None
        return fewest_shared(basis.posterior.shared, basis.algorithms, names)

    @cached_property
    def estimates(self) -> Beliefs | None:
        """The present estimates; None where nothing has been inferred."""
        if self.rounds:
            return self.rounds[-1].estimates
        return self.basis_estimates

    @cached_property
    def basis_estimates(self) -> Beliefs | None:
        """The estimates of the posterior that choices use, the race's or another."""
        if self.basis is None:
            return None
        return beliefs(self.basis.posterior, self.candidates, self.rules.epsilon)

    @cached_property
    def classical(self) -> View:
        """The classical view of the same runs; an error says why a store has none."""
        # The end of a race shows no classical view, and should not wait for this import.
        from polarbear.classical.common_runs import share_more

        names = self.comparison.algorithms
        may_leave_out = names is None and not self.comparison.include_eliminated
        if may_leave_out and self.race is not None and self.race.eliminated:
            pareto_set = tuple(self.race.pareto_set)
            end = float(self.store.settings.budget.times[-1])
            if len(pareto_set) > 1 and share_more(self.store, end, pareto_set):
                eliminated = tuple(name for name in self.algorithms if name not in pareto_set)
                return replace(self.classical_view(pareto_set), eliminated=eliminated)
        if may_leave_out and self.basis is not None and len(self.algorithms) > MAX_CURVES:
            inferred = self.basis.algorithms
            n_others = len(self.algorithms) - len(inferred)
            if n_others:
                return replace(self.classical_view(inferred), dominated=n_others)
        return self.classical_view(names)

    def classical_view(self, algorithms: tuple[str, ...] | None) -> View:
        """The classical view of some algorithms, on all instances that these have in common."""
        from polarbear.classical.view import view

        return view(self.store, algorithms, self.comparison.options)

    @cached_property
    def labels(self) -> dict[str, str]:
        """The label of each algorithm in every figure and in the page."""
        return labels_in(self.store.settings)

    def colour_index(self, name: str) -> int:
        return self.algorithms.index(name)


def gather(store: StoreOnDisk, upto: int | None = None, model: str | None = None) -> ReportContext:
    """Read a store; ``upto`` is an earlier round that is shown as the last."""
    store = store.frozen()
    budget = store.settings.budget
    numbers = store.rounds.numbers()
    if upto is not None:
        if upto not in numbers:
            stored = f"rounds 1 to {numbers[-1]}" if numbers else "no round of a race"
            raise ReportError(f"{store.path} has no round {upto}; it has {stored}")
        numbers = numbers[: numbers.index(upto) + 1]
    rounds = tuple(Round(n, store.rounds.read(n), store.rounds.beliefs(n)) for n in numbers)
    rules = rounds[-1].record.settings.rules if rounds else Rules()
    compared = store.posteriors.stored() or store.count_compared_instances()
    try:
        basis = find_basis(store, model) if compared else None
    except InferenceError:  # There is no posterior of a single algorithm.
        basis = None
    times = budget.times if basis is None else basis.times
    return ReportContext(
        store=store,
        algorithms=tuple(store.settings.algorithms),
        times=rounds[-1].estimates.times if rounds else times,
        axis=budget.axis,
        log_times=budget.suits_log_axis,
        rules=rules,
        race=standings(store, upto),
        rounds=rounds,
        basis=basis,
        contest=contest(basis) if basis is not None else None,
    )
