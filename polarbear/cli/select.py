"""`polarbear select`: choose an algorithm for a preference over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import common
from polarbear.cli.screen import Screen
from polarbear.cli.tables import Table
from polarbear.wording import P_BEST, counted, multiples, percent, short, whole

if TYPE_CHECKING:
    from polarbear.api.selecting import Answer, JudgedAlgorithm, JudgedPortfolio, SweepTable


def select(
    store: common.StoreFolder,
    preference: Annotated[
        str,
        typer.Option(
            metavar="PREFERENCE",
            help="The value of times, as in 'at 5000', 'between 3600 and 7200', 'normal 5000 500', "
            "mine:function, or a YAML file; known are {preferences}.",
        ),
    ] = "uniform",
    risk: Annotated[
        str, typer.Option(help="The criterion under uncertainty: p2bb, mean, quantile or regret.")
    ] = "p2bb",
    gamma: Annotated[float, typer.Option(help="The level of the lower quantile.")] = 0.05,
    portfolio: Annotated[
        int | None, typer.Option(metavar="K", help="Also choose K algorithms to run in parallel.")
    ] = None,
    everyone: Annotated[
        bool, typer.Option("--all", help="Also show algorithms that do not compete.")
    ] = False,
    algorithms: common.Algorithms = None,
    alpha: Annotated[
        float,
        typer.Option(help="Without a race: leave out algorithms dominated with this probability."),
    ] = 0.99,
    sweep: Annotated[
        bool,
        typer.Option("--sweep", help="Show the choice for all budgets, or for other parameters."),
    ] = False,
    png: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the sweep into this file.")
    ] = None,
    information: Annotated[
        bool,
        typer.Option("--value-of-information", help="Show the possible gain of further rounds."),
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="Use the newest posterior of this model.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="Use the posterior with this key.")] = None,
    value: Annotated[
        str,
        typer.Option(
            help="What the preference aggregates: duels (win rate against the strongest rival), "
            "firsts (share of first places) or theta (rating of a Plackett-Luce model)."
        ),
    ] = "duels",
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the samples that check a preference function.")
    ] = 0,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Choose an algorithm, or a portfolio, for a preference over time.

    Nothing is run: the answer comes from the posterior of the stored runs.
    """
    import polarbear

    told = polarbear.open(store).select(
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
        listener=Screen(quiet),
    )
    if json:
        common.print_json(told)
    else:
        _show(told, quiet)
    if png is not None:
        common.note(f"drew {png}", quiet)


def _show(told: Answer, quiet: bool) -> None:
    say = common.show
    used = told.posterior
    source = "the race" if used.from_ == "race" else "all runs"
    say(f"preference: {told.preference_words}")
    problems = counted(used.instances, "problem")
    drawn = counted(used.draws, "draw")
    say(f"posterior of {source}: {used.model}, {problems}, {drawn} (key {used.key})")
    if told.left_out:
        say(f"left out: {', '.join(told.left_out)} ({told.left_out_because})")
    say("")
    say(told.statement)
    titles = (f"{P_BEST}#", "mean#", f"quantile {short(told.gamma)}#", "expected regret#")
    made = Table("algorithm", *titles, "strongest rival", "problems#")
    for row in told.ranking:
        name = row.algorithm if row.competes else f"({row.algorithm})"
        shared = "" if row.problems is None else whole(row.problems)
        made.add_row(name, *_numbers(row), row.rival or "", shared)
    common.show(made)
    if any(not row.competes for row in told.ranking):
        say("algorithms in brackets do not compete")
    for found in told.disagreements:
        say(found.words)
    if told.portfolio is not None:
        _show_portfolios(told, titles)
    if told.value_of_information is not None:
        for line in told.value_of_information.words:
            say(line)
    if told.sweep is not None:
        _show_sweep(told.sweep)
    for line in told.notes:
        common.note(f"note: {line}", quiet)


def _show_portfolios(told: Answer, titles: tuple[str, ...]) -> None:
    best, rows = told.portfolio or (), told.portfolio_ranking or ()
    seen, possible = told.portfolios_looked_at or 0, told.portfolios_possible or 0
    of = f"all {whole(possible)}"
    if seen < possible:
        of = f"{whole(seen)} examined (of {whole(possible)})"
    common.show(
        f"in parallel: {multiples(best)}, the best of {of} portfolios of {len(best)}; "
        f"their values are {told.portfolio_values}",
    )
    if told.portfolio_has_winner is not None:
        more = told.next_slot_adds or 0.0
        common.show(
            f"one of them is the best of all candidates on {percent(told.portfolio_has_winner)} of "
            f"the instances that all ran on; another algorithm would add {percent(more)}",
        )
    made = Table("portfolio", *titles)
    for row in rows:
        made.add_row(multiples(row.portfolio), *_numbers(row))
    common.show(made)


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
    common.show(made)


def _numbers(row: JudgedAlgorithm | JudgedPortfolio) -> tuple[str, ...]:
    return (f"{row.p2bb:.3f}", f"{row.mean:.4f}", f"{row.quantile:.4f}", f"{row.regret:.4f}")
