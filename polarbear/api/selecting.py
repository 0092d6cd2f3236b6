"""Chooses an algorithm for a preference over time, from the posterior of a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear.api.listening import Listener
from polarbear.errors import SelectionError, StoreLockedError, StoreReadOnlyError
from polarbear.facts.evidence import Evidence, evidence_of
from polarbear.facts.next_command import (
    IMPORTED,
    command_for_choice,
    race_command,
    run_command,
)
from polarbear.facts.standings import standings
from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.inference.feature_models.forest import Forest
from polarbear.selection import choice, posterior_source
from polarbear.selection.choice import Answer, JudgedAlgorithm, JudgedPortfolio
from polarbear.selection.criteria import check_risk, check_value
from polarbear.selection.cross_validation import CrossValidation, cross_validated
from polarbear.selection.feature_choice import (
    FeatureBasis,
    GivenFeatures,
    basis_by_features,
    given_features,
)
from polarbear.selection.front_portfolios import FrontPortfolios
from polarbear.selection.portfolio_cover import PortfolioCover
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference
from polarbear.selection.preference_purpose import PreferencePurpose
from polarbear.selection.sweeps import SweepTable
from polarbear.selection.sweeps import sweep as swept_choices
from polarbear.store import StoreOnDisk

if TYPE_CHECKING:
    from polarbear.config.configuration import Config  # loads all adapters

__all__ = [
    "Answer",
    "CrossValidation",
    "JudgedAlgorithm",
    "JudgedPortfolio",
    "SweepTable",
    "cross_validate",
    "select",
]

WITH_FEATURES = (
    "a choice by features has its own posterior of the empirical model: leave out --model and --key"
)


def select(
    disk: StoreOnDisk,
    preference: str,
    risk: str,
    *,
    gamma: float,
    portfolio: int | None,
    show_all: bool,
    algorithms: Sequence[str] | None,
    alpha: float,
    sweep: bool,
    png: str | Path | None,
    value_of_information: bool,
    model: str | None,
    key: str | None,
    value: str,
    seed: int,
    features: GivenFeatures | str | None,
    instance: str | None,
    listener: Listener | None,
) -> Answer:
    """Choose an algorithm, or a portfolio, for a preference: `Store.select` has the arguments."""
    if png is not None and not sweep:
        raise SelectionError("--png draws a sweep: add --sweep")
    profile = check_risk(risk)
    of_instance = None
    if features is not None or instance is not None:
        if model is not None or key is not None:
            raise SelectionError(WITH_FEATURES)
        of_instance = _by_features(disk, features, instance, listener or Listener())
        basis = of_instance.basis
    else:
        basis = posterior_source.find_basis(disk, model, key)
    parsed_preference, folder = read_preference(preference, basis.axis)
    contest = posterior_source.contest(basis, algorithms, alpha)
    context = basis.context(folder, seed)
    kind = check_value(value, basis.posterior)
    selection = choice.select(
        basis, contest, parsed_preference, context, profile, gamma, show_all, kind
    )
    answer = selection.answer()
    if of_instance is None:
        answer = selection.with_times_as_long(answer, disk)
    else:
        answer = replace(
            answer,
            features=dict(of_instance.instance_features),
            problems_weighted=of_instance.effective,
            feature_cost=of_instance.cost,
        )
    if portfolio is not None:
        evidence = evidence_of(disk, selection.basis.algorithms)
        if of_instance is not None:
            evidence = evidence.weighted(of_instance.weights)
        answer = _cover(disk, evidence, selection).add_best(answer, portfolio)
    if value_of_information:
        answer = replace(answer, value_of_information=selection.information())
    if sweep:
        choices = swept_choices(
            basis.posterior, contest.candidates, answer.candidates, context, profile, gamma, kind
        )
        answer = replace(answer, sweep=choices)
        if png is not None:
            from polarbear.report.figures.on_demand import draw_sweep  # imports Matplotlib

            title = f"choice by {profile}, {basis.posterior.model} model"
            draw_sweep(choices, disk.settings, title, Path(png))
    is_imported = disk.settings.instances.suite == IMPORTED
    if selection.too_early() is not None and not is_imported:
        command = _command_for(disk, answer)
        answer = replace(answer, notes=(*answer.notes, f"next: {command}"))
    for problem in basis.posterior.diagnostics.problems:
        (listener or Listener()).doubts(problem)
    return answer


def purpose_of(config: Config, preference: str, threshold: float) -> PreferencePurpose:
    """The purpose of a race for a preference: an expected regret below a threshold."""
    budget = config.budget
    parsed_preference, folder = read_preference(preference, budget.axis)
    context = Context(budget.times, budget.axis, folder, config.seed, config.inference.joint)
    return PreferencePurpose(parsed_preference, context, threshold)


def _command_for(disk: StoreOnDisk, answer: Answer) -> str:
    """The command that makes the runs for which it is too early to recommend the choice."""
    facts = standings(disk, with_times_as_long=False)
    if facts is None:
        return run_command(disk.path, answer.posterior.instances)
    race = race_command(disk.path)
    return command_for_choice(facts, disk.settings.limits, race, answer.preference)


def _by_features(
    disk: StoreOnDisk,
    features: GivenFeatures | str | None,
    instance: str | None,
    listener: Listener,
) -> FeatureBasis:
    """The posterior for an instance; the forest is kept in the store."""
    if features is not None and instance is not None:
        raise SelectionError("--features and --instance both say which instance: leave one out")
    given = given_features(features) if isinstance(features, str) else features

    def keep(key: str, forest: Forest) -> None:
        try:
            with disk.writing():
                disk.forests.add(key, forest)
        except (StoreLockedError, StoreReadOnlyError) as error:
            listener.warn(f"the forest was not kept: {error}")

    return basis_by_features(disk, given, instance, keep)


def cross_validate(disk: StoreOnDisk, png: str | Path | None) -> CrossValidation:
    """The scores of choices on held-out problems: `Store.cross_validate` has the arguments."""
    scores = cross_validated(disk)
    if png is not None:
        from polarbear.report.figures.cross_validation import draw_scores  # imports Matplotlib

        draw_scores(scores, disk.settings, Path(png))
    return scores


def _cover(disk: StoreOnDisk, evidence: Evidence, selection: choice.Selection) -> PortfolioCover:
    """First places on each problem, or unions of fronts, by the runs in the store."""
    posterior = selection.basis.posterior
    names = evidence.grid.algorithms
    candidates = [names.index(selection.name(item)) for item in range(selection.competing)]
    if evidence.results is not None:
        return FrontPortfolios(
            evidence, disk.settings.duels, posterior, candidates, selection.valuation
        )
    bootstrap = Bootstrap(
        evidence.duels, names, posterior.draws, posterior.seed, posterior.options.concentration
    )
    return PortfolioCover(bootstrap, candidates, selection.valuation)
