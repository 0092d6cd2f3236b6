"""`polarbear select`: choose an algorithm for a preference over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from typer import Option

import polarbear
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.cli.output import Table
from polarbear.cli.screen import Screen
from polarbear.wording import P_BEST, counted, multiples, percent, short, whole

if TYPE_CHECKING:
    from polarbear.api.selecting import Answer, JudgedAlgorithm, JudgedPortfolio, SweepTable


def select(
    store: common.StoreFolder,
    preference: str = Option(
        "uniform",
        metavar="PREFERENCE",
        help="The value of times, as in 'at 5000', 'between 3600 and 7200', 'normal 5000 500', "
        "mine:function, or a YAML file; known are {preferences}.",
    ),
    risk: str = Option(
        "p2bb", help="The criterion under uncertainty: p2bb, mean, quantile or regret."
    ),
    gamma: float = Option(0.05, help="The level of the lower quantile."),
    portfolio: int | None = Option(
        None, metavar="K", help="Also choose K algorithms to run in parallel."
    ),
    everyone: bool = Option(False, "--all", help="Also show algorithms that do not compete."),
    algorithms: common.Algorithms = None,
    alpha: float = Option(
        0.99, help="Without a race: leave out algorithms dominated with this probability."
    ),
    sweep: bool = Option(
        False, "--sweep", help="Show the choice for all budgets, or for other parameters."
    ),
    png: Path | None = Option(None, metavar="FILE", help="Draw the sweep into this file."),
    information: bool = Option(
        False, "--value-of-information", help="Show the possible gain of further rounds."
    ),
    model: common.Model = None,
    key: str | None = Option(None, help="Use the posterior with this key."),
    value: str = Option(
        "duels",
        help="What the preference aggregates: duels (win rate against the strongest rival), "
        "firsts (share of first places) or theta (rating of a Plackett-Luce model).",
    ),
    seed: int = Option(0, min=0, help="Seed of the samples that check a preference function."),
    json: common.Json = False,
) -> None:
    """Choose an algorithm, or a portfolio, for a preference over time.

    Nothing is run: the answer comes from the posterior of the stored runs.
    """
    found = polarbear.open(store).select(
        preference,
        risk,
        gamma=gamma,
        portfolio=portfolio,
        everyone=everyone,
        algorithms=common.names(algorithms),
        alpha=alpha,
        sweep=sweep,
        png=png,
        information=information,
        model=model,
        key=key,
        value=value,
        seed=seed,
        listener=Screen(),
    )
    output.result(found, json, _show)
    output.wrote(png)


def _show(found: Answer) -> None:
    used = found.posterior
    source = "the race" if used.from_ == "race" else "all runs"
    output.show(f"preference: {found.preference_words}")
    problems = counted(used.instances, "problem")
    drawn = counted(used.draws, "draw")
    output.show(f"posterior of {source}: {used.model}, {problems}, {drawn} (key {used.key})")
    if found.left_out:
        output.show(f"left out: {', '.join(found.left_out)} ({found.left_out_because})")
    output.show("")
    output.show(found.statement)
    titles = (f"{P_BEST}#", "mean#", f"quantile {short(found.gamma)}#", "expected regret#")
    made = Table("algorithm", *titles, "strongest rival", "problems#")
    for row in found.ranking:
        name = row.algorithm if row.competes else f"({row.algorithm})"
        shared = "" if row.problems is None else whole(row.problems)
        made.add_row(name, *_numbers(row), row.rival or "", shared)
    output.show(made)
    if any(not row.competes for row in found.ranking):
        output.show("algorithms in brackets do not compete")
    output.show_lines(disagreement.words for disagreement in found.disagreements)
    if found.portfolio is not None:
        _show_portfolios(found, titles)
    if found.value_of_information is not None:
        output.show_lines(found.value_of_information.words)
    if found.sweep is not None:
        _show_sweep(found.sweep)
    output.notes(found.notes)


def _show_portfolios(found: Answer, titles: tuple[str, ...]) -> None:
    best, rows = found.portfolio or (), found.portfolio_ranking or ()
    seen, possible = found.portfolios_looked_at or 0, found.portfolios_possible or 0
    of = f"all {whole(possible)}"
    if seen < possible:
        of = f"{whole(seen)} examined (of {whole(possible)})"
    output.show(
        f"in parallel: {multiples(best)}, the best of {of} portfolios of {len(best)}; "
        f"their values are {found.portfolio_values}",
    )
    if found.portfolio_has_winner is not None:
        more = found.next_slot_adds or 0.0
        output.show(
            "one of them is the best of all candidates on "
            f"{percent(found.portfolio_has_winner)} of the instances that all ran on; another "
            f"algorithm would add {percent(more)}",
        )
    made = Table("portfolio", *titles)
    for row in rows:
        made.add_row(multiples(row.portfolio), *_numbers(row))
    output.show(made)


def _show_sweep(swept: SweepTable) -> None:
    made = Table(
        swept.over + "#", "choice", f"{P_BEST}#", "lowest to highest#", "expected regret up to#"
    )
    for row in swept.intervals:
        made.add_row(
            f"{row.from_:.4g} to {row.to:.4g}",
            row.choice,
            f"{row.p2bb:.3f}",
            f"{row.lowest_p2bb:.3f} to {row.highest_p2bb:.3f}",
            f"{row.regret:.4f}",
        )
    output.show(made)


def _numbers(row: JudgedAlgorithm | JudgedPortfolio) -> tuple[str, ...]:
    return (f"{row.p2bb:.3f}", f"{row.mean:.4f}", f"{row.quantile:.4f}", f"{row.regret:.4f}")
