"""`polarbear infer`: how likely each algorithm is to be the best, at each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from polarbear.cli import common

if TYPE_CHECKING:
    import numpy as np

    from polarbear.driver.posteriors import Learned
    from polarbear.inference import ModelOptions
    from polarbear.store import Store

SHOWN_TIMES = 6  # in a table for people, unless they ask for other times


def infer(
    store: common.StoreFolder,
    model: Annotated[
        str | None,
        typer.Option(help="One of {models}; by default dirichlet."),
    ] = None,
    engine: Annotated[str | None, typer.Option(help="native or stan.")] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="auto, mcmc, laplace; with stan also pathfinder, advi-meanfield, advi-fullrank."
        ),
    ] = None,
    draws: Annotated[int | None, typer.Option(help="Posterior draws, all chains together.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Everything random derives from it.")] = 0,
    algorithms: Annotated[str | None, typer.Option(help="Only these, separated by commas.")] = None,
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
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any other option: lengthscale.scale=2."),
    ] = None,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Infer how likely each algorithm is to win, over time.

    The posterior is kept in the store: the same question again is answered at once.
    """
    from polarbear.driver.evidence import evidence_of
    from polarbear.driver.posteriors import learn
    from polarbear.store import Store

    opened = Store.open(store)
    options = _options(set_ or [], model=model, engine=engine, method=method, draws=draws)
    names = [name.strip() for name in algorithms.split(",")] if algorithms else None
    common.announce_stan(options, quiet)
    with common.announcing_compilation(quiet):
        evidence = evidence_of(opened, names, tie_tolerance)
        shown = _shown_times(evidence.grid.times, at, everything=json)
        learned = learn(opened, evidence, options, seed)
        facts = _facts(learned, shown, pairs, epsilon)
    if not learned.from_store:
        _keep(opened, evidence, learned, quiet)
    for problem in learned.posterior.diagnostics.problems:
        common.note(f"warning: do not trust this posterior: {problem}")
    if json:
        common.print_json(facts)
    else:
        _show(facts, learned, pairs)


def _options(settings: list[str], **flags: Any) -> ModelOptions:
    """The options that the command line gives."""
    from polarbear.inference import ModelOptions
    from polarbear.settings.options import Source, validate

    data = {name: value for name, value in flags.items() if value is not None}
    return validate(ModelOptions, common.settings(settings, data), Source("infer"))


def _shown_times(times: np.ndarray, at: str | None, everything: bool) -> list[int]:
    """Indices of the times to show."""
    import numpy as np

    from polarbear.errors import ConfigError

    if at is None:
        if everything or len(times) <= SHOWN_TIMES:
            return list(range(len(times)))
        return [int(i) for i in np.linspace(0, len(times) - 1, SHOWN_TIMES).round()]
    try:
        wanted = [float(word) for word in at.split(",")]
    except ValueError:
        raise ConfigError(f"--at takes times separated by commas, found '{at}'") from None
    for t in wanted:
        if not times[0] <= t <= times[-1]:
            raise ConfigError(f"--at {t:g} is outside the grid, from {times[0]:g} to {times[-1]:g}")
    return sorted({int(np.argmin(np.abs(times - t))) for t in wanted})


def _keep(store: Store, evidence: Any, learned: Learned, quiet: bool) -> None:
    from polarbear.driver.posteriors import keep
    from polarbear.errors import StoreLockedError, StoreReadOnlyError

    try:
        with store.writing():
            keep(store, evidence, learned)
    except (StoreLockedError, StoreReadOnlyError) as error:
        common.note(f"note: the posterior was not kept: {error}", quiet)


def _facts(learned: Learned, shown: list[int], with_pairs: bool, epsilon: float) -> dict[str, Any]:
    from dataclasses import asdict

    from polarbear.inference import relations

    posterior = learned.posterior
    mean, (low, high) = posterior.mean(), posterior.interval()
    facts: dict[str, Any] = {
        "model": posterior.model,
        "engine": posterior.engine,
        "method": posterior.method,
        "draws": posterior.n_draws,
        "seed": posterior.seed,
        "seconds": round(posterior.seconds, 3),
        "from_store": learned.from_store,
        "instances": learned.instances,
        "evidence_weight": posterior.evidence_weight,
        "diagnostics": {
            **asdict(posterior.diagnostics),
            "passed": posterior.usable,
            "problems": list(posterior.diagnostics.problems),
        },
        "notes": list(posterior.notes),
        "ratings": [
            {
                "algorithm": name,
                "t": float(learned.times[t]),
                "mean": float(mean[t, i]),
                "low": float(low[t, i]),
                "high": float(high[t, i]),
            }
            for i, name in enumerate(learned.algorithms)
            for t in shown
        ],
    }
    if not with_pairs:
        return facts
    at = relations.pointwise(posterior, epsilon)
    over = relations.joint(posterior) if posterior.joint else None
    names = learned.algorithms
    facts["epsilon"] = epsilon
    facts["pairs"] = [
        {
            "a": names[a],
            "b": names[b],
            "t": float(learned.times[t]),
            "p_dominates": float(at.dominance[t, a, b]),
            "p_equivalent": float(at.equivalence[t, a, b]),
            "error": float(at.dominance_error[t, a, b]),
        }
        for a in range(len(names))
        for b in range(len(names))
        if a != b
        for t in shown
    ]
    if over is not None:
        facts["joint"] = [
            {
                "a": names[a],
                "b": names[b],
                "p_dominates": float(over.dominance[a, b]),
                "p_crosses": float(over.crossing[a, b]),
                "error": float(over.dominance_error[a, b]),
            }
            for a in range(len(names))
            for b in range(len(names))
            if a != b
        ]
    return facts


def _show(facts: dict[str, Any], learned: Learned, with_pairs: bool) -> None:
    from rich.markup import escape

    console = common.console()
    judged = facts["diagnostics"]
    source = "from the store" if facts["from_store"] else f"in {facts['seconds']:.1f} s"
    console.print(
        f"{facts['model']}, instances: {facts['instances']}; {facts['draws']} draws by "
        f"{facts['method']} ({facts['engine']}), {source}; "
        f"R-hat {judged['r_hat']:.3f}, tail ESS {judged['ess_tail']:.0f}",
        markup=False,
    )
    for line in facts["notes"]:
        console.print(f"note: {line}", markup=False)
    times = sorted({row["t"] for row in facts["ratings"]})
    made = common.table("P(best) at t =", *(f"{t:g}#" for t in times))
    for name in learned.algorithms:
        rows = [row for row in facts["ratings"] if row["algorithm"] == name]
        made.add_row(
            escape(name),
            *(f"{row['mean']:.2f} [{row['low']:.2f}, {row['high']:.2f}]" for row in rows),
        )
    console.print(made)
    if with_pairs:
        _show_pairs(facts, times, console)


def _show_pairs(facts: dict[str, Any], times: list[float], console: Any) -> None:
    from rich.markup import escape

    over = {(row["a"], row["b"]): row for row in facts.get("joint", [])}
    last = ["at all times#"] if over else []
    made = common.table("P(a better than b) / P(equivalent)", *(f"{t:g}#" for t in times), *last)
    by_pair: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in facts["pairs"]:
        by_pair.setdefault((row["a"], row["b"]), []).append(row)
    for (a, b), rows in by_pair.items():
        cells = [f"{row['p_dominates']:.3f} / {row['p_equivalent']:.3f}" for row in rows]
        cells += [f"{over[a, b]['p_dominates']:.3f}"] if over else []
        made.add_row(escape(f"{a} > {b}"), *cells)
    console.print(made)
