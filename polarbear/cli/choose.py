"""`polarbear infer` and `select`: infer a posterior, and choose an algorithm by it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click import option

import polarbear
from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.cli.command_options import AT_LEAST_0, flag
from polarbear.cli.output import Screen
from polarbear.errors import ConfigError
from polarbear.records import Facts
from polarbear.wording import (
    P_BEST,
    counted,
    multiples,
    percent,
    rounded,
    short,
    time,
    typed,
    whole,
)

if TYPE_CHECKING:
    import numpy as np

    from polarbear.api.posterior import Inferred
    from polarbear.api.selecting import Answer, JudgedAlgorithm, JudgedPortfolio


@common.command
@common.store_folder
@option("--model", help="One of {models}; by default empirical.")
@option("--engine", help="native or stan.")
@option(
    "--method",
    help="auto, mcmc, laplace; native: split-hmc; stan: pathfinder, advi-meanfield, advi-fullrank.",
)
@option("--draws", type=int, help="Posterior draws, all chains together.")
@option("--seed", type=AT_LEAST_0, help="Seed of the draws; if not given, the store's.")
@common.algorithms
@option("--grid", help="Other times: '10,100,1000' or '{from: 10, to: 99, points: 9}'.")
@option("--until", type=float, metavar="T", help="Only the grid's times up to this one.")
@option("--at", help="Show these times, separated by commas; nearest of the grid.")
@flag("--pairs", "Show every pair of algorithms.")
@option("--epsilon", default=0.05, help="Win probabilities this near to even are equivalent.")
@option("--tie-tolerance", default=0.0, type=click.FloatRange(0.0), help="Closer values are tied.")
@common.settings
@common.json
def infer(
    store: Path,
    at: str | None,
    pairs: bool,
    epsilon: float,
    settings: Facts,
    json: bool,
    **options: Any,
) -> None:
    """Infer shares of first places and win probabilities over time.

    The posterior is kept in the store and reused. One on other times than those of the store, by
    --grid or --until, is not kept.
    """
    opened = polarbear.open(store)
    shown = _shown_times(opened.grid(options["grid"], options["until"]), at, everything=json)
    given = {name: value for name, value in options.items() if value is not None}
    with output.announcing_compilation():
        posterior = opened.infer(listener=Screen(), **{**given, **settings})
        found = posterior.facts(shown, pairs, epsilon)
    output.result(found, json, _show_inferred)


def _shown_times(times: np.ndarray, at: str | None, everything: bool) -> list[int]:
    """Indices of the times to show."""
    if at is None:
        return list(range(len(times))) if everything else api.posterior.some_times(times)
    try:
        wanted = [float(word) for word in at.split(",")]
    except ValueError:
        raise ConfigError(f"--at takes times separated by commas, found '{at}'") from None
    for t in wanted:
        if not times[0] <= t <= times[-1]:
            span = f"from {typed(rounded(times[0]))} to {typed(rounded(times[-1]))}"
            raise ConfigError(f"--at {short(t)} is outside the grid, {span}")
    return sorted({int(abs(times - t).argmin()) for t in wanted})


def _show_inferred(found: Inferred) -> None:
    output.show(found.one_line())
    if found.fit is not None and found.fit.words:
        output.show(f"warning: {found.fit.words}")
    (title, *times), rows = found.table()
    times = [f"{t}#" for t in times]
    output.show_table([title, *times], rows)
    if found.pairs is not None:
        by_pair: dict[tuple[str, str], list[str]] = {}
        for row in found.pairs:
            cell = f"{row['p_dominates']:.3f} / {row['p_equivalent']:.3f}"
            by_pair.setdefault((row["a"], row["b"]), [f"{row['a']} > {row['b']}"]).append(cell)
        for over in found.joint or ():
            by_pair[over["a"], over["b"]].append(f"{over['p_dominates']:.3f}")
        last = ["at every time#"] if found.joint else []
        output.show_table(["P(a better than b) / P(equivalent)", *times, *last], by_pair.values())


@common.command
@common.store_folder
@option(
    "--preference",
    default="uniform",
    metavar="PREFERENCE",
    help="The value of times, as in 'at 5000', 'between 3600 and 7200', 'normal 5000 500', "
    "mine:function, or a YAML file; known are {preferences}.",
)
@option("--risk", default="p2bb", help="The criterion: p2bb, mean, quantile or regret.")
@option("--gamma", default=0.05, help="The level of the lower quantile.")
@option("--portfolio", type=int, metavar="K", help="Also choose K algorithms to run in parallel.")
@flag("--all", "Also show algorithms that do not compete.")
@common.algorithms
@option("--alpha", default=0.99, help="Without a race: leave out those dominated at this level.")
@flag("--sweep", "Show the choice for all budgets of the grid.")
@common.path("--png", "FILE", "Draw the sweep into this file.")
@flag("--value-of-information", "Show the possible gain of further rounds.")
@common.model
@option("--key", help="Use the posterior with this key.")
@option(
    "--value",
    default="duels",
    help="What the preference aggregates: duels (win rate against the strongest rival), "
    "firsts (share of first places) or theta (rating of a Plackett-Luce model).",
)
@option("--seed", default=0, type=AT_LEAST_0, help="Seed of samples that check a function.")
@common.json
def select(store: Path, png: Path | None, json: bool, **options: Any) -> None:
    """Choose an algorithm, or a portfolio, for a preference over time.

    Nothing is run: the answer comes from the posterior of the stored runs.
    """
    found = polarbear.open(store).select(png=png, listener=Screen(), **options)
    output.result(found, json, _show_answer)
    output.wrote(png)


def _show_answer(found: Answer) -> None:
    used = found.posterior
    source = "the race" if used.from_ == "race" else "all runs"
    problems, draws = counted(used.instances, "problem"), counted(used.draws, "draw")
    output.show(
        f"preference: {found.preference_words}",
        f"posterior of {source}: {used.model}, {problems}, {draws} (key {used.key})",
    )
    if found.left_out:
        output.show(f"left out: {', '.join(found.left_out)} ({found.left_out_because})")
    output.show("", found.statement)
    titles = [f"{P_BEST}#", "mean#", f"quantile {short(found.gamma)}#", "expected regret#"]
    rows = []
    for row in found.ranking:
        name = row.algorithm if row.competes else f"({row.algorithm})"
        shared = "" if row.problems is None else whole(row.problems)
        rows.append([name, *_numbers(row), row.rival or "", shared])
    output.show_table(["algorithm", *titles, "strongest rival", "problems#"], rows)
    if any(not row.competes for row in found.ranking):
        output.show("algorithms in brackets do not compete")
    output.show(*(disagreement.words for disagreement in found.disagreements))
    if found.portfolio is not None:
        _show_portfolios(found, titles)
    if found.value_of_information is not None:
        output.show(*found.value_of_information.words)
    if found.sweep is not None:
        output.show_table(
            [f"{found.sweep.over}#", "choice", f"{P_BEST}#", "lowest to highest#", "regret up to#"],
            [
                (
                    f"{time(row.from_)} to {time(row.to)}",
                    row.choice,
                    f"{row.p2bb:.3f}",
                    f"{row.lowest_p2bb:.3f} to {row.highest_p2bb:.3f}",
                    f"{row.regret:.4f}",
                )
                for row in found.sweep.intervals
            ],
        )


def _show_portfolios(found: Answer, titles: list[str]) -> None:
    best = found.portfolio or ()
    seen, possible = found.portfolios_looked_at or 0, found.portfolios_possible or 0
    examined = f"all {whole(possible)}"
    if seen < possible:
        examined = f"{whole(seen)} examined (of {whole(possible)})"
    output.show(
        f"in parallel: {multiples(best)}, the best of {examined} portfolios of {len(best)}; "
        f"their values are {found.portfolio_values}",
    )
    if found.portfolio_has_winner is not None:
        output.show(
            "one of them is the best of all candidates on "
            f"{percent(found.portfolio_has_winner)} of the instances that all ran on; another "
            f"algorithm would add {percent(found.next_slot_adds or 0.0)}",
        )
    rows = [(multiples(row.portfolio), *_numbers(row)) for row in found.portfolio_ranking or ()]
    output.show_table(["portfolio", *titles], rows)


def _numbers(row: JudgedAlgorithm | JudgedPortfolio) -> tuple[str, ...]:
    return (f"{row.p2bb:.3f}", f"{row.mean:.4f}", f"{row.quantile:.4f}", f"{row.regret:.4f}")
