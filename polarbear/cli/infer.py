"""`polarbear infer`: infer the posterior of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer import Option

import polarbear
from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.cli.output import Table
from polarbear.cli.screen import Screen
from polarbear.errors import ConfigError
from polarbear.wording import SHARE_OF_FIRSTS, counted, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from polarbear.api.posterior import Inferred, PairAt, PairOver


def infer(
    store: common.StoreFolder,
    model: str | None = Option(None, help="One of {models}; by default empirical."),
    engine: str | None = Option(None, help="native or stan."),
    method: str | None = Option(
        None,
        help="auto, mcmc or laplace; with native also split-hmc, with stan also pathfinder, "
        "advi-meanfield and advi-fullrank.",
    ),
    draws: int | None = Option(None, help="Posterior draws, all chains together."),
    seed: int | None = Option(None, min=0, help="Seed of the draws; if not given, the store's."),
    algorithms: common.Algorithms = None,
    grid: str | None = Option(
        None,
        metavar="TIMES",
        help="Other times than the store's: '10,100,1000' or '{from: 10, to: 99, points: 9}'.",
    ),
    until: float | None = Option(None, metavar="T", help="Only the grid's times up to this one."),
    at: str | None = Option(
        None, help="Show these times, separated by commas; nearest of the grid."
    ),
    pairs: bool = Option(False, "--pairs", help="Show every pair of algorithms."),
    epsilon: float = Option(0.05, help="Win probabilities this near to even count as equivalent."),
    tie_tolerance: float = Option(
        0.0, min=0.0, help="Values that differ by no more than this are tied."
    ),
    set_: common.Settings = None,
    json: common.Json = False,
) -> None:
    """Infer shares of first places and win probabilities over time.

    The posterior is kept in the store and reused. One on other times than those of the store, by
    --grid or --until, is not kept.
    """
    opened = polarbear.open(store)
    flags = {"model": model, "engine": engine, "method": method, "draws": draws}
    given = {name: value for name, value in flags.items() if value is not None}
    options = common.settings(set_, given)
    shown = _shown_times(opened.grid(grid, until), at, everything=json)
    with output.announcing_compilation():
        posterior = opened.infer(
            algorithms=common.names(algorithms),
            seed=seed,
            tie_tolerance=tie_tolerance,
            grid=grid,
            until=until,
            listener=Screen(),
            **options,
        )
        found = posterior.facts(shown, pairs, epsilon)
    output.result(found, json, _show)


def _shown_times(times: np.ndarray, at: str | None, everything: bool) -> list[int]:
    """Indices of the times to show."""
    import numpy as np

    if at is None:
        return list(range(len(times))) if everything else api.posterior.some_times(times)
    try:
        wanted = [float(word) for word in at.split(",")]
    except ValueError:
        raise ConfigError(f"--at takes times separated by commas, found '{at}'") from None
    for t in wanted:
        if not times[0] <= t <= times[-1]:
            span = f"from {short(times[0])} to {short(times[-1])}"
            raise ConfigError(f"--at {short(t)} is outside the grid, {span}")
    return sorted({int(np.argmin(np.abs(times - t))) for t in wanted})


def _show(found: Inferred) -> None:
    judged = found.diagnostics
    source = "from the store" if found.from_store else f"in {found.seconds:.1f} s"
    output.show(
        f"{found.model}, instances: {found.instances}; {counted(found.draws, 'draw')} by "
        f"{found.method} ({found.engine}), {source}; "
        f"R-hat {judged.r_hat:.3f}, tail ESS {judged.ess_tail:.0f}",
    )
    if found.fit is not None and found.fit.words:
        output.show(f"warning: {found.fit.words}")
    output.show_lines(f"note: {line}" for line in found.notes)
    times = sorted({row.t for row in found.ratings})
    made = Table(f"{SHARE_OF_FIRSTS} at t =", *(f"{short(t)}#" for t in times))
    by_name: dict[str, list[str]] = {}
    for row in found.ratings:
        cell = f"{row.mean:.2f} [{row.low:.2f}, {row.high:.2f}]"
        by_name.setdefault(row.algorithm, []).append(cell)
    for name, cells in by_name.items():
        made.add_row(name, *cells)
    output.show(made)
    if found.pairs is not None:
        _show_pairs(found.pairs, found.joint or (), times)


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
    output.show(made)
