"""`polarbear infer`: a posterior of shares of first places and win probabilities over time."""

from typing import TYPE_CHECKING, Annotated, cast

import typer

import polarbear
from polarbear.api.choices import decision_levels
from polarbear.cli import output
from polarbear.cli.application import app
from polarbear.cli.output import Screen
from polarbear.cli.parameters import (
    Algorithms,
    AsJson,
    Debug,
    Feature,
    Model,
    Quiet,
    Sampler,
    SamplingMethod,
    Settings,
    StoreFolder,
    separated,
    settings_of,
)
from polarbear.errors import ConfigError
from polarbear.records import Facts
from polarbear.wording import P_DOMINATED_BY, incomparable_words, rounded, short, typed

if TYPE_CHECKING:
    import numpy as np

    from polarbear.api.keyword_options import ModelKeywords
    from polarbear.api.posterior import GroupAnswers, Inferred


@app.command()
def infer(
    store: StoreFolder,
    model: Model = None,
    engine: Sampler = None,
    method: SamplingMethod = None,
    draws: Annotated[
        int | None, typer.Option(help="The number of posterior draws, all chains together.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the draws; if not given, the store's.")
    ] = None,
    algorithms: Algorithms = None,
    grid: Annotated[
        str | None,
        typer.Option(help="Other times: '10,100,1000' or '{from: 10, to: 99, points: 9}'."),
    ] = None,
    until: Annotated[
        float | None, typer.Option(metavar="T", help="Only the grid's times up to this one.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="T,T",
            help="Show the times of the grid that are nearest to these, separated by commas.",
        ),
    ] = None,
    by: Feature = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Show every pair of algorithms.")] = False,
    epsilon: Annotated[
        float, typer.Option(help="Win probabilities this near to even are equivalent.")
    ] = decision_levels.DEFAULT_EPSILON,
    tie_tolerance: Annotated[
        float, typer.Option(min=0, help="Values that differ by at most this are tied.")
    ] = 0.0,
    settings: Settings = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Infer shares of first places and win probabilities over time.

    The posterior is kept in the store and reused. One on other times than those of the store, by
    --grid or --until, is not kept.
    """
    opened = polarbear.open(store)
    shown_times = _shown_times(opened.grid(grid, until), at, everything=as_json)
    if by is not None:
        with output.announcing_compilation():
            answers = opened.infer_by(
                by,
                model,
                algorithms=separated(algorithms),
                seed=seed,
                tie_tolerance=tie_tolerance,
                grid=grid,
                until=until,
                listener=Screen(),
                **_model_options(engine, method, draws, settings_of(settings)),
            )
        if as_json:
            output.print_json(answers.to_dict(shown_times, pairs, epsilon))
        else:
            _show_groups(answers, answers.inferred(shown_times, pairs, epsilon))
        return
    with output.announcing_compilation():
        posterior = opened.infer(
            model,
            algorithms=separated(algorithms),
            seed=seed,
            tie_tolerance=tie_tolerance,
            grid=grid,
            until=until,
            listener=Screen(),
            **_model_options(engine, method, draws, settings_of(settings)),
        )
        inferred = posterior.facts(shown_times, pairs, epsilon)
    output.result(inferred, as_json, _show_inferred)


def _model_options(
    engine: str | None, method: str | None, draws: int | None, settings: Facts
) -> "ModelKeywords":
    """The options of a model that were given; the others have the model's defaults."""
    options = {"engine": engine, "method": method, "draws": draws}
    options_given = {name: value for name, value in options.items() if value is not None}
    return cast("ModelKeywords", {**options_given, **settings})


def _shown_times(times: "np.ndarray", at: str | None, everything: bool) -> list[int]:
    """Indices of the times to show."""
    if at is None and everything:
        return list(range(len(times)))
    if at is None:
        from polarbear.api.posterior import some_times

        return some_times(times)
    try:
        requested_times = [float(word) for word in at.split(",")]
    except ValueError:
        raise ConfigError(f"--at takes times separated by commas, found '{at}'") from None
    for t in requested_times:
        if not times[0] <= t <= times[-1]:
            span = f"from {typed(rounded(times[0]))} to {typed(rounded(times[-1]))}"
            raise ConfigError(f"--at {short(t)} is outside the grid, {span}")
    return sorted({int(abs(times - t).argmin()) for t in requested_times})


def _show_groups(answers: "GroupAnswers", inferred: "dict[str, Inferred]") -> None:
    """Print the likely best of each group, then the shares of firsts in each."""
    output.show(answers.one_line())
    titles, rows = answers.table()
    output.show_table(titles, rows)
    for group in answers.groups:
        output.show("", f"{answers.by} {group.label}, problems: {group.counted_problems}")
        _show_shares(inferred[group.label])


def _show_inferred(inferred: "Inferred") -> None:
    output.show(inferred.one_line())
    _show_shares(inferred)


def _show_shares(inferred: "Inferred") -> None:
    """Print the shares of firsts, and every pair if they are there."""
    if inferred.fit is not None and inferred.fit.words:
        output.show(f"warning: {inferred.fit.words}")
    (title, *times), rows = inferred.table()
    time_titles = [f"{t}#" for t in times]
    output.show_table([title, *time_titles], rows)
    if inferred.incomparable is not None:
        output.show(incomparable_words(inferred.incomparable))
    if inferred.pairs is not None:
        _show_pairs(inferred, time_titles)


def _show_pairs(inferred: "Inferred", time_titles: list[str]) -> None:
    """Print a row for each pair of algorithms, and a column for each time."""
    rows: dict[tuple[str, str], list[str]] = {}
    for facts in inferred.pairs or ():
        pair = (facts["a"], facts["b"])
        cells = rows.setdefault(pair, [f"{facts['a']} > {facts['b']}"])
        cells.append(f"{facts['p_dominates']:.3f} / {facts['p_equivalent']:.3f}")
    for facts in inferred.dominated or ():
        rows[facts["a"], facts["b"]].append(f"{facts['p_dominated']:.3f}")
    titles = [
        "P(a better than b) / P(equivalent)",
        *time_titles,
        f"{P_DOMINATED_BY.format(a='a', b='b')}#",
    ]
    output.show_table(titles, rows.values())
