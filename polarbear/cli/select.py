"""`polarbear select`: choose an algorithm for a preference over time."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import polarbear
from polarbear.api.selection_options import (
    DEFAULT_DOMINATED_LEVEL,
    DEFAULT_PREFERENCE,
    DEFAULT_QUANTILE_LEVEL,
    DEFAULT_RISK,
    DEFAULT_VALUE,
    Risk,
    ValueKind,
)
from polarbear.cli import completion, output
from polarbear.cli.application import app
from polarbear.cli.output import Screen
from polarbear.cli.parameters import (
    Algorithms,
    AsJson,
    Debug,
    KeptModel,
    Quiet,
    StoreFolder,
    check_preference,
    member_of,
    separated,
)
from polarbear.wording import P_BEST, counted, joined, multiples, percent, short, time, whole

if TYPE_CHECKING:
    from polarbear.api.selecting import (
        Answer,
        CrossValidation,
        JudgedAlgorithm,
        JudgedPortfolio,
        SweepTable,
    )


@app.command()
def select(
    store: StoreFolder,
    preference: Annotated[
        str,
        typer.Option(
            metavar="PREFERENCE",
            callback=check_preference,
            autocompletion=completion.preferences,
            help="The value of times, as in 'at 5000', 'between 3600 and 7200', 'normal 5000 500', "
            "mine:function, or a YAML file. The names are uniform, log-uniform, at, between, "
            "final, worst-case, normal, lognormal, triangular, exponential, budgets, weights, mix "
            "and python.",
        ),
    ] = DEFAULT_PREFERENCE,
    risk: Annotated[
        Risk,
        typer.Option(parser=member_of(Risk), help="The criterion by which algorithms are judged."),
    ] = DEFAULT_RISK,
    gamma: Annotated[
        float, typer.Option(help="The level of the lower quantile.")
    ] = DEFAULT_QUANTILE_LEVEL,
    portfolio: Annotated[
        int | None,
        typer.Option(metavar="K", help="Also choose K algorithms to run in parallel."),
    ] = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="Also show algorithms that do not compete.")
    ] = False,
    algorithms: Algorithms = None,
    alpha: Annotated[
        float,
        typer.Option(help="Without a race: leave out algorithms that are dominated at this level."),
    ] = DEFAULT_DOMINATED_LEVEL,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Show the choice for all budgets of the grid.")
    ] = False,
    png: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw the sweep, or the cross-validation, into this file."
        ),
    ] = None,
    value_of_information: Annotated[
        bool,
        typer.Option("--value-of-information", help="Show the possible gain of exact knowledge."),
    ] = False,
    model: KeptModel = None,
    key: Annotated[str | None, typer.Option(help="Use the posterior with this key.")] = None,
    value: Annotated[
        ValueKind,
        typer.Option(
            parser=member_of(ValueKind),
            help="What the preference aggregates: duels (win rate against the strongest rival), "
            "firsts (share of first places) or theta (rating of a Plackett-Luce model).",
        ),
    ] = DEFAULT_VALUE,
    seed: Annotated[int, typer.Option(min=0, help="Seed of samples that check a function.")] = 0,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=VALUE,...", help="Choose for a new instance with these features."
        ),
    ] = None,
    instance: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Choose for an instance of the store, by its features."),
    ] = None,
    cross_validate: Annotated[
        bool,
        typer.Option(
            "--cross-validate",
            help="Score choices with and without features on held-out problems instead.",
        ),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Choose an algorithm, or a portfolio, for a preference over time.

    Nothing is run: the answer comes from the posterior of the stored runs.
    """
    if cross_validate:
        scores = polarbear.open(store).cross_validate(png=png)
        output.result(scores, as_json, _show_scores)
        output.wrote(png)
        return
    answer = polarbear.open(store).select(
        preference,
        risk,
        gamma=gamma,
        portfolio=portfolio,
        all=show_all,
        algorithms=separated(algorithms),
        alpha=alpha,
        sweep=sweep,
        png=png,
        value_of_information=value_of_information,
        model=model,
        key=key,
        value=value,
        seed=seed,
        features=features,
        instance=instance,
        listener=Screen(),
    )
    output.result(answer, as_json, _show_answer)
    output.wrote(png)


def _show_answer(answer: "Answer") -> None:
    titles = [f"{P_BEST}#", "mean#", f"quantile {short(answer.gamma)}#", "expected regret#"]
    _show_choice(answer)
    _show_ranking(answer, titles)
    output.show(*(disagreement.words for disagreement in answer.disagreements))
    if answer.portfolio is not None:
        _show_portfolios(answer, titles)
    if answer.value_of_information is not None:
        output.show(*answer.value_of_information.words)
    if answer.sweep is not None:
        _show_sweep(answer.sweep)


def _show_choice(answer: "Answer") -> None:
    """Print the preference, the posterior that the choice comes from, and the choice."""
    posterior = answer.posterior
    source = "the race" if posterior.from_ == "race" else "all runs"
    problems = counted(posterior.instances, "problem")
    draws = counted(posterior.draws, "draw")
    output.show(
        f"preference: {answer.preference_words}",
        f"posterior of {source}: {posterior.model}, {problems}, {draws} (key {posterior.key})",
    )
    if answer.features is not None and answer.problems_weighted is not None:
        given = ", ".join(f"{name}={value}" for name, value in answer.features.items())
        output.show(
            f"by features: {given}",
            f"{problems} count as {answer.problems_weighted:.1f}, by their similarity",
        )
    if answer.left_out:
        output.show(f"left out: {', '.join(answer.left_out)} ({answer.left_out_because})")
    output.show("", answer.statement)
    factor = answer.times_as_long
    if factor is not None and factor.is_faster and not answer.same_values:
        output.show(f"{answer.choice} {factor.words(answer.axis)}")


def _show_ranking(answer: "Answer", titles: list[str]) -> None:
    rows = []
    for row in answer.ranking:
        name = row.algorithm if row.competes else f"({row.algorithm})"
        shared_problems = "" if row.problems is None else whole(row.problems)
        factor = "" if row.times_as_long is None else row.times_as_long.number
        rows.append([name, *_criteria(row), row.rival or "", shared_problems, factor])
    columns = ["algorithm", *titles, "strongest rival", "problems#", "times as long#"]
    output.show_table(columns, rows)
    if any(not row.competes for row in answer.ranking):
        output.show("algorithms in brackets do not compete")


def _show_portfolios(answer: "Answer", titles: list[str]) -> None:
    portfolio = answer.portfolio or ()
    n_examined = answer.portfolios_looked_at or 0
    n_possible = answer.portfolios_possible or 0
    examined = f"all {whole(n_possible)}"
    if n_examined < n_possible:
        examined = f"{whole(n_examined)} examined (of {whole(n_possible)})"
    output.show(
        f"in parallel: {multiples(portfolio)}, the best of {examined} portfolios of "
        f"{len(portfolio)}; their values are {answer.portfolio_values}",
    )
    if answer.portfolio_has_winner is not None:
        output.show(
            "one of them is the best of all candidates on "
            f"{percent(answer.portfolio_has_winner)} of the instances that all ran on; another "
            f"algorithm would add {percent(answer.next_slot_adds or 0.0)}",
        )
    rows = [(multiples(row.portfolio), *_criteria(row)) for row in answer.portfolio_ranking or ()]
    output.show_table(["portfolio", *titles], rows)


def _show_sweep(sweep: "SweepTable") -> None:
    rows = []
    for interval in sweep.intervals:
        rows.append(
            [
                f"{time(interval.from_)} to {time(interval.to)}",
                joined(interval.algorithms, "or"),
                f"{interval.p2bb:.3f}",
                f"{interval.lowest_p2bb:.3f} to {interval.highest_p2bb:.3f}",
                f"{interval.regret:.4f}",
            ]
        )
    titles = [f"{sweep.over}#", "choice", f"{P_BEST}#", "lowest to highest#", "regret up to#"]
    output.show_table(titles, rows)


def _show_scores(scores: "CrossValidation") -> None:
    """Print the scores on held-out problems, and predicted beside observed first places."""
    problems = counted(scores.problems, "problem")
    output.show(
        f"{problems} in {scores.folds} folds; scores are shares of the other algorithms beaten",
        "",
        scores.verdict,
    )
    rows = []
    for score in scores.budgets:
        share = ""
        interval = ""
        if score.gap_closed is not None and score.gap_low is not None:
            share = percent(score.gap_closed)
            interval = f"{percent(score.gap_low)} to {percent(score.gap_high or 0.0)}"
        values = (
            score.single_best,
            score.without_features,
            score.choice,
            score.virtual_best,
        )
        rows.append([time(score.t), *(f"{value:.3f}" for value in values), share, interval])
    titles = ["single best#", "without features#", "choice#", "virtual best#", "gap closed#"]
    output.show_table([f"{scores.axis}#", *titles, "95 % interval#"], rows)
    output.show("predicted and observed shares of first places")
    bins = [
        [
            f"{row.low:.1f} to {row.high:.1f}",
            whole(row.cases),
            f"{row.predicted:.3f}",
            f"{row.observed:.3f}",
            f"{row.error:.3f}",
        ]
        for row in scores.reliability
    ]
    output.show_table(["predicted#", "cases#", "mean#", "observed#", "standard error#"], bins)


def _criteria(row: "JudgedAlgorithm | JudgedPortfolio") -> tuple[str, ...]:
    return (f"{row.p2bb:.3f}", f"{row.mean:.4f}", f"{row.quantile:.4f}", f"{row.regret:.4f}")
