"""`polarbear select`: who to run, once something is known about the budget."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polarbear.cli import common

if TYPE_CHECKING:
    from polarbear.select import Selection, Sweep


def select(
    store: common.StoreFolder,
    preference: Annotated[
        str,
        typer.Option(
            metavar="PREFERENCE",
            help="How time is valued, as in 'at 5000', 'between 3600 and 7200', 'normal 5000 500', "
            "mine:function, or a YAML file; known are {preferences}.",
        ),
    ] = "uniform",
    risk: Annotated[
        str, typer.Option(help="How uncertainty is valued: p2bb, mean, quantile or regret.")
    ] = "p2bb",
    gamma: Annotated[float, typer.Option(help="The level of the lower quantile.")] = 0.05,
    portfolio: Annotated[
        int | None, typer.Option(metavar="K", help="Choose K algorithms to run in parallel, too.")
    ] = None,
    everyone: Annotated[
        bool, typer.Option("--all", help="Show those who do not compete, too.")
    ] = False,
    algorithms: Annotated[
        str | None, typer.Option(help="Only these compete, separated by commas.")
    ] = None,
    alpha: Annotated[
        float,
        typer.Option(help="Without a race: leave out who is dominated with this probability."),
    ] = 0.99,
    sweep: Annotated[
        bool,
        typer.Option(
            "--sweep", help="Show the choice as the budget varies, or how well it is known."
        ),
    ] = False,
    png: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the sweep into this file.")
    ] = None,
    information: Annotated[
        bool,
        typer.Option("--value-of-information", help="Show what racing on could still gain."),
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="Use the newest posterior of this model.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="Use this posterior, named as in the store.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Draws the samples on which a function is checked.")
    ] = 0,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Choose an algorithm, or a portfolio, for a preference over time.

    The stored posterior answers at once; nothing is run and nothing is inferred.
    """
    from polarbear import select as selecting
    from polarbear.errors import SelectionError
    from polarbear.preferences import Context, read_preference
    from polarbear.select import facts
    from polarbear.store import Store

    if png is not None and not sweep:
        raise SelectionError("--png draws a sweep: give --sweep, too")
    wanted, folder = read_preference(preference)
    profile = selecting.check_risk(risk)
    names = [name.strip() for name in algorithms.split(",")] if algorithms else None
    opened = Store.open(store)
    basis = selecting.find_basis(opened, model, key)
    contest = selecting.contest(basis, names, alpha)
    context = Context(basis.times, basis.axis, folder, seed, basis.posterior.joint)
    made = selecting.select(basis, contest, wanted, context, profile, gamma, everyone)
    result = facts.of_selection(made, contest)
    rivals = [basis.algorithms[i] for i in contest.candidates]
    if portfolio is not None or sweep:
        theta = basis.posterior.theta[:, :, list(contest.candidates)]
    if portfolio is not None:
        found = selecting.best_portfolios(theta, made.valuation, portfolio, profile, gamma)
        result |= facts.of_portfolios(found, rivals)
    if information:
        result["value_of_information"] = facts.of_information(made)
    if sweep:
        swept = selecting.sweep(theta, wanted.variations(context), profile, gamma)
        result["sweep"] = facts.of_sweep(swept, rivals)
        if png is not None:
            known = list(opened.config["algorithms"])
            _draw(swept, made, rivals, [known.index(name) for name in rivals], png)
    for problem in basis.posterior.diagnostics.problems:
        common.note(f"warning: do not trust this posterior: {problem}")
    if json:
        common.print_json(result)
    else:
        _show(result, quiet)
    if png is not None:
        common.note(f"drew {png}", quiet)


def _draw(swept: Sweep, made: Selection, names: list[str], places: list[int], path: Path) -> None:
    from polarbear.report.figures.sweep import draw_sweep

    title = f"choice by {made.risk}, {made.basis.posterior.model} model"
    draw_sweep(swept, names, places, title, path)


def _show(facts: dict[str, Any], quiet: bool) -> None:
    from rich.markup import escape

    console = common.console()

    def say(line: str) -> None:
        console.print(line, markup=False)

    used = facts["posterior"]
    seen = f", instances: {used['instances']}" if used["instances"] is not None else ""
    kept_by = "the race's posterior" if used["from"] == "race" else "the posterior kept by `infer`"
    say(f"preference: {facts['preference_words']}")
    say(f"from {kept_by}: {used['model']}{seen}; {used['draws']} draws (key {used['key']})")
    if facts["left_out"]:
        say(f"left out: {', '.join(facts['left_out'])} ({facts['left_out_because']})")
    say("")
    say(facts["statement"])
    titles = ("P(best)#", "mean#", f"quantile {facts['gamma']:g}#", "expected regret#")
    made = common.table("algorithm", *titles)
    for row in facts["ranking"]:
        name = row["algorithm"] if row["competes"] else f"({row['algorithm']})"
        made.add_row(escape(name), *_numbers(row))
    console.print(made)
    if any(not row["competes"] for row in facts["ranking"]):
        say("those in brackets do not compete")
    for found in facts["disagreements"]:
        say(found["words"])
    if "portfolio" in facts:
        _show_portfolios(facts, console, titles)
    if "value_of_information" in facts:
        for line in facts["value_of_information"]["words"]:
            say(line)
    if "sweep" in facts:
        _show_sweep(facts["sweep"], console)
    for line in facts["notes"]:
        common.note(f"note: {line}", quiet)


def _show_portfolios(facts: dict[str, Any], console: Any, titles: tuple[str, ...]) -> None:
    from rich.markup import escape

    from polarbear.select import words

    rows, size = facts["portfolio_ranking"], len(facts["portfolio"])
    seen, possible = facts["portfolios_looked_at"], facts["portfolios_possible"]
    of = f"all {possible:,}" if seen == possible else f"{seen:,} looked at (of {possible:,})"
    console.print(
        f"in parallel: {words.counted(facts['portfolio'])}, the best of {of} portfolios of {size}; "
        "their values are sums over the slots",
        markup=False,
    )
    made = common.table("portfolio", *titles)
    for row in rows:
        made.add_row(escape(words.counted(row["portfolio"])), *_numbers(row))
    console.print(made)


def _show_sweep(facts: dict[str, Any], console: Any) -> None:
    from rich.markup import escape

    made = common.table(
        facts["over"] + "#", "choice", "P(best)#", "lowest to highest#", "expected regret up to#"
    )
    for row in facts["intervals"]:
        made.add_row(
            f"{row['from']:.4g} to {row['to']:.4g}",
            escape(row["choice"]),
            f"{row['p2bb']:.3f}",
            f"{row['lowest_p2bb']:.3f} to {row['highest_p2bb']:.3f}",
            f"{row['regret']:.4f}",
        )
    console.print(made)


def _numbers(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{row['p2bb']:.3f}",
        f"{row['mean']:.4f}",
        f"{row['quantile']:.4f}",
        f"{row['regret']:.4f}",
    )
