"""`polarbear select`: who to run, once something is known about the budget."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polarbear.cli import common

if TYPE_CHECKING:
    from polarbear.preferences import Context
    from polarbear.select import Basis, Contest, Portfolios, Selection, Sweep

SHOWN_PORTFOLIOS = 5


def select(
    store: common.StoreFolder,
    preference: Annotated[
        str,
        typer.Option(
            metavar="PREFERENCE",
            help="How time is valued: uniform, log-uniform, 'at 5000', 'between 3600 and 7200', "
            "'normal 5000 500', worst-case, final, ..., mine:function, or a YAML file.",
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
    from polarbear.store import Store

    if png is not None and not sweep:
        raise SelectionError("--png draws a sweep: give --sweep, too")
    wanted, folder = read_preference(preference)
    profile = selecting.check_risk(risk)
    names = [name.strip() for name in algorithms.split(",")] if algorithms else None
    basis = selecting.find_basis(Store.open(store), model, key)
    contest = selecting.contest(basis, names, alpha)
    context = Context(basis.times, basis.axis, folder, seed, basis.posterior.joint)
    made = selecting.select(basis, contest, wanted, context, profile, gamma, everyone)
    facts = _facts(made, contest)
    if portfolio is not None:
        theta = basis.posterior.theta[:, :, list(contest.candidates)]
        found = selecting.best_portfolios(theta, made.valuation, portfolio, profile, gamma)
        facts |= _portfolio_facts(found, [basis.algorithms[i] for i in contest.candidates])
    if information:
        facts["value_of_information"] = _information_facts(made)
    if sweep:
        swept = _swept(made, contest, context)
        facts["sweep"] = _sweep_facts(swept, basis, contest)
        if png is not None:
            _draw(swept, made, contest, png)
    for problem in basis.posterior.diagnostics.problems:
        common.note(f"warning: do not trust this posterior: {problem}")
    if json:
        common.print_json(facts)
    else:
        _show(facts, quiet)
    if png is not None:
        common.note(f"drew {png}", quiet)


def _facts(made: Selection, contest: Contest) -> dict[str, Any]:
    from polarbear.select import words

    basis, criteria, error = made.basis, made.criteria, made.p2bb_error()
    posterior = basis.posterior
    return {
        "choice": made.name(made.choice),
        "criterion": made.risk,
        "preference": made.preference.text,
        "preference_words": made.words,
        "statement": words.statement(made),
        "gamma": made.gamma,
        "ranking": [
            {
                "algorithm": made.name(item),
                "p2bb": float(criteria.p2bb[item]),
                "mean": float(criteria.mean[item]),
                "quantile": float(criteria.quantile[item]),
                "regret": float(criteria.regret[item]),
                "p2bb_error": float(error[item]),
                "competes": made.competes[item],
            }
            for item in made.order
        ],
        "disagreements": [
            {
                "criterion": found.criterion,
                "prefers": made.name(found.prefers),
                "cost": found.cost,
                "words": words.disagreement(made, found),
            }
            for found in made.disagreements()
        ],
        "candidates": [basis.algorithms[i] for i in contest.candidates],
        "left_out": [basis.algorithms[i] for i in contest.left_out],
        "left_out_because": contest.reason if contest.left_out else None,
        "posterior": {
            "key": basis.key,
            "from": basis.source,
            "model": posterior.model,
            "engine": posterior.engine,
            "method": posterior.method,
            "draws": posterior.n_draws,
            "instances": basis.instances,
            "passed": posterior.usable,
        },
        "notes": made.notes(),
    }


def _portfolio_facts(found: Portfolios, names: list[str]) -> dict[str, Any]:
    rows = [
        {
            "portfolio": [names[i] for i in found.slots[row]],
            "p2bb": float(found.criteria.p2bb[row]),
            "mean": float(found.criteria.mean[row]),
            "quantile": float(found.criteria.quantile[row]),
            "regret": float(found.criteria.regret[row]),
        }
        for row in range(min(SHOWN_PORTFOLIOS, len(found.slots)))
    ]
    return {
        "portfolio": rows[0]["portfolio"],
        "portfolio_ranking": rows,
        "portfolios_possible": found.possible,
        "portfolios_looked_at": len(found.slots),
        "portfolio_search": "exhaustive" if found.exhaustive else "greedy, then local search",
    }


def _information_facts(made: Selection) -> dict[str, Any]:
    from polarbear.select import ENOUGH, value_of_information, words

    found = value_of_information(made.values[:, list(made.candidates)], 0)
    return {
        "gain": found.gain,
        "share": found.share,
        "enough": ENOUGH,
        "words": words.information(made, found),
        "rivals": [
            {
                "algorithm": made.name(made.candidates[rival.item]),
                "p2bb": rival.p2bb,
                "gain": rival.gain,
            }
            for rival in found.rivals
        ],
    }


def _swept(made: Selection, contest: Contest, context: Context) -> Sweep:
    from polarbear.select import sweep

    theta = made.basis.posterior.theta[:, :, list(contest.candidates)]
    return sweep(theta, made.preference.variations(context), made.risk, made.gamma)


def _sweep_facts(swept: Sweep, basis: Basis, contest: Contest) -> dict[str, Any]:
    names = [basis.algorithms[i] for i in contest.candidates]
    return {
        "over": swept.variations.name,
        "intervals": [
            {
                "from": one.start,
                "to": one.stop,
                "choice": names[one.choice],
                "p2bb": one.p2bb,
                "lowest_p2bb": one.lowest_p2bb,
                "highest_p2bb": one.highest_p2bb,
                "regret": one.regret,
            }
            for one in swept.intervals()
        ],
        "positions": swept.variations.positions.tolist(),
        "choices": [names[i] for i in swept.choices],
        "p2bb": {name: swept.p2bb[:, i].tolist() for i, name in enumerate(names)},
    }


def _draw(swept: Sweep, made: Selection, contest: Contest, path: Path) -> None:
    from polarbear.select.figure import draw_sweep

    names = [made.basis.algorithms[i] for i in contest.candidates]
    draw_sweep(swept, names, f"choice by {made.risk}, {made.basis.posterior.model} model", path)


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
