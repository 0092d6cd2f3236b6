"""Infers the posterior of a store, and keeps it in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from polarbear.api.listening import Listener
from polarbear.api.posterior import Posterior
from polarbear.driver.evidence import Evidence, evidence_of
from polarbear.driver.posterior_cache import CachedPosterior, cached_posterior, keep
from polarbear.errors import ConfigError, StoreLockedError, StoreReadOnlyError
from polarbear.inference import ModelOptions
from polarbear.settings.grid import Budget
from polarbear.settings.options import Source, validate
from polarbear.store import Store as StoreOnDisk
from polarbear.wording import typed, typed_time

GridLike = str | Mapping[str, Any] | Sequence[float]


def model_options(model: str | None, options: Mapping[str, Any]) -> ModelOptions:
    """The options of inference, from keywords."""
    given = dict(options) if model is None else {"model": model, **options}
    return validate(ModelOptions, given, Source("infer"))


def announce_stan(options: ModelOptions, listener: Listener) -> None:
    """Announce the compilation of a Stan program; raise an error if CmdStan is missing."""
    if options.engine != "stan":
        return
    from polarbear.inference.stan import cmdstan, programs

    if not programs.is_compiled(options.model, cmdstan.find_for(options.method)):
        cmdstan.require_build_tools()
        listener.note(f"compiling the Stan program of {options.model}, once: about a minute")


def checked_seed(seed: int) -> int:
    """The seed, which must not be negative."""
    if seed < 0:
        raise ConfigError(f"expected a seed of zero or more, found {seed}")
    return seed


def other_grid(disk: StoreOnDisk, grid: GridLike | None, until: float | None) -> Budget | None:
    """The requested grid, within the budget of the runs; None for the grid of the store."""
    if grid is None and until is None:
        return None
    own = budget = Budget.model_validate(disk.config["budget"])
    if grid is not None:
        budget = validate(Budget, {"axis": own.axis, "grid": _as_data(grid)}, Source("infer"))
        if budget.limit > own.limit:
            raise ConfigError(
                f"the grid goes to {typed_time(budget.limit, own.axis)}, but runs in {disk.path} "
                f"only to {typed(own.limit)}"
            )
    if until is not None:
        try:
            budget = budget.cut(until)
        except ValueError as error:
            raise ConfigError(f"until: {error}") from None
    return budget


def _as_data(grid: GridLike) -> Any:
    """A grid as in a configuration; a text may also be a list with commas."""
    if not isinstance(grid, str):
        return dict(grid) if isinstance(grid, Mapping) else [float(t) for t in grid]
    from polarbear.settings.yaml_lines import parse_yaml  # most calls give no grid

    text = grid.strip()
    return parse_yaml(text if text.startswith(("{", "[")) else f"[{text}]", "the grid")[0]


def infer(
    disk: StoreOnDisk,
    options: ModelOptions,
    algorithms: Sequence[str] | None,
    seed: int,
    tie_tolerance: float,
    kept: bool,
    listener: Listener,
    budget: Budget | None = None,
) -> Posterior:
    """The posterior of the stored runs, or of those of some algorithms.

    It is kept in the store if ``kept``, except on another grid: `select` and `report` use the grid
    of the store.
    """
    announce_stan(options, listener)
    kept = kept and budget is None
    evidence = evidence_of(disk, algorithms, tie_tolerance, budget)
    cached = cached_posterior(disk, evidence, options, checked_seed(seed))
    if kept and not cached.from_store:
        _keep(disk, evidence, cached, listener)
    for problem in cached.posterior.diagnostics.problems:
        listener.doubts(problem)
    return Posterior(cached, disk.config["budget"]["axis"])


def _keep(
    disk: StoreOnDisk, evidence: Evidence, cached: CachedPosterior, listener: Listener
) -> None:
    try:
        with disk.writing():
            keep(disk, evidence, cached)
    except (StoreLockedError, StoreReadOnlyError) as error:
        listener.not_kept(str(error))
