"""Chooses an algorithm for a preference over time, from the posterior of a store."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from polarbear.api.listening import Listener
from polarbear.api.store_handle import Store
from polarbear.config.configuration import Config
from polarbear.errors import SelectionError
from polarbear.facts.evidence import evidence_of
from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.selection import choice, posterior_source
from polarbear.selection.choice import Answer, JudgedAlgorithm, JudgedPortfolio
from polarbear.selection.criteria import check_risk, check_value
from polarbear.selection.expected_regret import RegretStop
from polarbear.selection.portfolio_cover import PortfolioCover
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference
from polarbear.selection.sweeps import SweepTable
from polarbear.selection.sweeps import sweep as swept_choices
from polarbear.store import StoreOnDisk

__all__ = ["Answer", "JudgedAlgorithm", "JudgedPortfolio", "SweepTable", "select"]


def select(
    store: Store,
    preference: str = "uniform",
    risk: str = "p2bb",
    *,
    gamma: float = 0.05,
    portfolio: int | None = None,
    all: bool = False,
    algorithms: Sequence[str] | None = None,
    alpha: float = 0.99,
    sweep: bool = False,
    png: str | Path | None = None,
    value_of_information: bool = False,
    model: str | None = None,
    key: str | None = None,
    value: str = "duels",
    seed: int = 0,
    listener: Listener | None = None,
) -> Answer:
    """Choose an algorithm, or a portfolio, for a ``preference`` over time.

    Nothing is run. ``risk`` is "p2bb", "mean", "quantile" (at the level ``gamma``) or "regret".
    ``portfolio`` is the number of algorithms to run in parallel. ``algorithms`` restricts the
    candidates: by default those of the race or, without one, all that are not dominated with
    probability ``alpha``; ``all`` also shows the others. ``sweep`` adds the choice for each budget,
    drawn into the file ``png``, and ``value_of_information`` the possible gain of further rounds.
    ``model`` or ``key`` select a posterior; ``seed`` is that of the samples that check a preference
    function; ``listener`` receives warnings. ``value`` is the value that the preference aggregates:
    "duels", the win rate against the strongest rival; "firsts", the share of first places; or
    "theta", the rating of a Plackett-Luce model.

    >>> store.select("at 1000").choice
    'powell'
    """
    if png is not None and not sweep:
        raise SelectionError("--png draws a sweep: add --sweep")
    profile = check_risk(risk)
    basis = posterior_source.find_basis(store._disk, model, key)
    wanted, folder = read_preference(preference, basis.axis)
    contest = posterior_source.contest(basis, algorithms, alpha)
    context = basis.context(folder, seed)
    kind = check_value(value, basis.posterior)
    made = choice.select(basis, contest, wanted, context, profile, gamma, all, kind)
    result = made.answer()
    if portfolio is not None:
        result = _cover(store._disk, made).add_best(result, portfolio)
    if value_of_information:
        result = replace(result, value_of_information=made.information())
    if sweep:
        judged = basis.posterior, contest.candidates, result.candidates
        swept = swept_choices(*judged, context, profile, gamma, kind)
        result = replace(result, sweep=swept)
        if png is not None:
            from polarbear.report.figures.on_demand import draw_sweep

            title = f"choice by {profile}, {basis.posterior.model} model"
            draw_sweep(swept, store._disk.settings, title, Path(png))
    for problem in basis.posterior.diagnostics.problems:
        (listener or Listener()).doubts(problem)
    return result


def regret_purpose(config: Config, preference: str, threshold: float) -> RegretStop:
    """The purpose of a race for one preference: an expected regret below a threshold."""
    wanted, folder = read_preference(preference, config.budget.axis)
    budget, joint = config.budget, config.inference.joint
    context = Context(budget.times, budget.axis, folder, config.seed, joint)
    return RegretStop(wanted, context, threshold)


def _cover(disk: StoreOnDisk, made: choice.Selection) -> PortfolioCover:
    """First places on each problem, by the runs in the store."""
    evidence, posterior = evidence_of(disk, made.basis.algorithms), made.basis.posterior
    names, concentration = evidence.grid.algorithms, posterior.options.concentration
    settings = names, posterior.n_draws, posterior.seed, concentration
    candidates = [names.index(made.name(item)) for item in range(made.competing)]
    return PortfolioCover(Bootstrap(evidence.duels, *settings), candidates, made.valuation)
