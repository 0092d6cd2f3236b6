"""`polarbear infer`: infer the posterior of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import common
from polarbear.cli.screen import Screen
from polarbear.cli.tables import Table
from polarbear.errors import ConfigError
from polarbear.wording import SHARE_OF_FIRSTS, counted, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from polarbear.api.posterior import Inferred, PairAt, PairOver


def infer(
    store: common.StoreFolder,
    model: Annotated[
        str | None,
        typer.Option(help="One of {models}; by default empirical."),
    ] = None,
    engine: Annotated[str | None, typer.Option(help="native or stan.")] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="auto, mcmc or laplace; with native also split-hmc, with stan also pathfinder, "
            "advi-meanfield and advi-fullrank."
        ),
    ] = None,
    draws: Annotated[int | None, typer.Option(help="Posterior draws, all chains together.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the draws; if not given, the store's.")
    ] = None,
    algorithms: common.Algorithms = None,
    grid: Annotated[
        str | None,
        typer.Option(
            metavar="TIMES",
            help="Other times than the store's: '10,100,1000' or '{from: 10, to: 99, points: 9}'.",
        ),
    ] = None,
    until: Annotated[
        float | None, typer.Option(metavar="T", help="Only the grid's times up to this one.")
    ] = None,
    at: Annotated[
        str | None, typer.Option(help="Show these times, separated by commas; nearest of the grid.")
    ] = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Show every pair of algorithms.")] = False,
    epsilon: Annotated[
        float, typer.Option(help="Win probabilities this near to even count as equivalent.")
    ] = 0.05,
    tie_tolerance: Annotated[
        float, typer.Option(min=0.0, help="Values that differ by no more than this are tied.")
    ] = 0.0,
    set_: common.Settings = None,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Infer shares of first places and win probabilities over time.

    The posterior is kept in the store and reused. One on other times than those of the store, by
    --grid or --until, is not kept.
    """
    import polarbear

    opened = polarbear.open(store)
    flags = {"model": model, "engine": engine, "method": method, "draws": draws}
    given = {name: value for name, value in flags.items() if value is not None}
    options = common.settings(set_, given)
    names = common.names(algorithms)
    times = opened.grid(grid, until)
    shown = _shown_times(times, at, everything=json)
    with common.announcing_compilation(quiet):
        posterior = opened.infer(
            algorithms=names,
            seed=seed,
            tie_tolerance=tie_tolerance,
            grid=grid,
            until=until,
            listener=Screen(quiet),
            **options,
        )
        told = posterior.facts(shown, pairs, epsilon)
    if json:
        common.print_json(told)
    else:
        _show(told)


def _shown_times(times: np.ndarray, at: str | None, everything: bool) -> list[int]:
    """Indices of the times to show."""
    import numpy as np

    from polarbear.api.posterior import some_times

    if at is None:
        return list(range(len(times))) if everything else some_times(times)
    try:
        wanted = [float(word) for word in at.split(",")]
    except ValueError:
        raise ConfigError(f"--at takes times separated by commas, found '{at}'") from None
    for t in wanted:
        if not times[0] <= t <= times[-1]:
            span = f"from {short(times[0])} to {short(times[-1])}"
            raise ConfigError(f"--at {short(t)} is outside the grid, {span}")
    return sorted({int(np.argmin(np.abs(times - t))) for t in wanted})


def _show(told: Inferred) -> None:
    judged = told.diagnostics
    source = "from the store" if told.from_store else f"in {told.seconds:.1f} s"
    common.show(
        f"{told.model}, instances: {told.instances}; {counted(told.draws, 'draw')} by "
        f"{told.method} ({told.engine}), {source}; "
        f"R-hat {judged.r_hat:.3f}, tail ESS {judged.ess_tail:.0f}",
    )
    if told.fit is not None and told.fit.words:
        common.show(f"warning: {told.fit.words}")
    for line in told.notes:
        common.show(f"note: {line}")
    times = sorted({row.t for row in told.ratings})
    made = Table(f"{SHARE_OF_FIRSTS} at t =", *(f"{short(t)}#" for t in times))
    by_name: dict[str, list[str]] = {}
    for row in told.ratings:
        cell = f"{row.mean:.2f} [{row.low:.2f}, {row.high:.2f}]"
        by_name.setdefault(row.algorithm, []).append(cell)
    for name, cells in by_name.items():
        made.add_row(name, *cells)
    common.show(made)
    if told.pairs is not None:
        _show_pairs(told.pairs, told.joint or (), times)


def _show_pairs(pairs: Sequence[PairAt], joint: Sequence[PairOver], times: list[float]) -> None:
    over = {(row.a, row.b): row.p_dominates for row in joint}
    last = ["at every time#"] if over else []
    made = Table("P(a better than b) / P(equivalent)", *(f"{short(t)}#" for t in times), *last)
    by_pair: dict[tuple[str, str], list[str]] = {}
    for row in pairs:
        cell = f"{row.p_dominates:.3f} / {row.p_equivalent:.3f}"
        by_pair.setdefault((row.a, row.b), []).append(cell)
    for (a, b), cells in by_pair.items():
        made.add_row(f"{a} > {b}", *cells, *([f"{over[a, b]:.3f}"] if over else []))
    common.show(made)
