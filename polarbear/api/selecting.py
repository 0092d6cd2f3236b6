"""A choice for a preference over time, from the posterior that a store holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear import select as selecting
from polarbear.api.listening import Listener
from polarbear.api.showing import Shown, dressed, html_table
from polarbear.errors import SelectionError
from polarbear.preferences import Context, read_preference
from polarbear.select import facts
from polarbear.select.facts import Answer
from polarbear.select.values import check_value
from polarbear.store import Store as StoreOnDisk
from polarbear.wording import P_BEST, short

if TYPE_CHECKING:
    from polarbear.select.portfolio_cover import PortfolioCover


@dataclass(frozen=True, repr=False)
class Selected(Shown, Answer):
    """The choice and everything beside it; the fields are the keys of `select --json`."""

    def _in_a_line(self) -> str:
        return self.statement

    def _repr_html_(self) -> str:
        columns = [
            "algorithm",
            P_BEST,
            "mean",
            f"quantile {short(self.gamma)}",
            "expected regret",
        ]
        rows = [
            [
                row.algorithm if row.competes else f"({row.algorithm})",
                f"{row.p2bb:.3f}",
                *(f"{value:.4f}" for value in (row.mean, row.quantile, row.regret)),
            ]
            for row in self.ranking
        ]
        lines = [self.preference_words, *(f"note: {note}" for note in self.notes)]
        return html_table(self.statement, columns, rows, lines)


def select(
    disk: StoreOnDisk,
    preference: str,
    risk: str,
    *,
    gamma: float,
    portfolio: int | None,
    everyone: bool,
    algorithms: Sequence[str] | None,
    alpha: float,
    sweep: bool,
    png: Path | None,
    information: bool,
    model: str | None,
    key: str | None,
    value: str,
    seed: int,
    listener: Listener,
) -> Selected:
    """Choose among the algorithms that compete, by a preference and a risk profile."""
    if png is not None and not sweep:
        raise SelectionError("--png draws a sweep: give --sweep, too")
    wanted, folder = read_preference(preference)
    profile = selecting.check_risk(risk)
    basis = selecting.find_basis(disk, model, key)
    contest = selecting.contest(basis, algorithms, alpha)
    context = Context(basis.times, basis.axis, folder, seed, basis.posterior.joint)
    kind = check_value(value, basis.posterior)
    made = selecting.select(basis, contest, wanted, context, profile, gamma, everyone, kind)
    told = facts.answer(made, contest)
    if portfolio is not None:
        cover = _cover(disk, made, contest)
        found = cover.best(portfolio, profile, gamma)
        told = facts.with_portfolios(told, found, cover)
    if information:
        told = facts.with_information(told, made)
    if sweep:
        varied = wanted.variations(context)
        swept = selecting.sweep(basis.posterior, contest.candidates, varied, profile, gamma, kind)
        told = facts.with_sweep(told, swept)
        if png is not None:
            from polarbear.report.drawing.lettering import labels_in
            from polarbear.report.figures.sweep import draw_sweep

            title = f"choice by {profile}, {basis.posterior.model} model"
            draw_sweep(swept, told.candidates, labels_in(disk.config), title, png)
    for problem in basis.posterior.diagnostics.problems:
        listener.doubts(problem)
    return dressed(Selected, told)


def _cover(
    disk: StoreOnDisk, made: selecting.Selection, contest: selecting.Contest
) -> PortfolioCover:
    """First places on each problem, by the runs in the store."""
    from polarbear.driver.evidence import evidence_of  # all that only portfolios need
    from polarbear.inference.empirical.bootstrap import Bootstrap
    from polarbear.rankings.duels import duels_of
    from polarbear.select.portfolio_cover import PortfolioCover

    names, posterior = made.basis.algorithms, made.basis.posterior
    evidence = evidence_of(disk, names)
    order = [evidence.grid.algorithms.index(name) for name in names]
    duels = duels_of(evidence.positions[:, order], evidence.problem_names, evidence.weights)
    options = posterior.options
    bootstrap = Bootstrap(duels, names, posterior.n_draws, posterior.seed, options.concentration)
    return PortfolioCover(bootstrap, contest.candidates, made.valuation)
