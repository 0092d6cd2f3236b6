"""Inference from a store: `infer`, and the checks of what it is asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from polarbear.api.keyword_options import ModelKeywords
from polarbear.api.listening import Listener
from polarbear.driver.kept_posteriors import store_posterior
from polarbear.errors import ConfigError, StoreLockedError, StoreReadOnlyError
from polarbear.facts.evidence import cached_posterior, evidence_of
from polarbear.facts.group_answers import GroupAnswers, group_answers, grouping_by
from polarbear.facts.undominated import that_fits
from polarbear.inference import ModelOptions, Posterior
from polarbear.inference.posterior_tables import Inferred, some_times
from polarbear.settings.grid import Budget
from polarbear.settings.options import Source, validate
from polarbear.settings.yaml_lines import parse_yaml
from polarbear.store import StoreOnDisk
from polarbear.wording import typed, typed_time

__all__ = [
    "GroupAnswers",
    "Inferred",
    "Posterior",
    "announce_stan",
    "infer",
    "infer_by",
    "other_grid",
    "some_times",
]

GridLike = str | Mapping[str, Any] | Sequence[float]


def announce_stan(options: ModelOptions, listener: Listener) -> None:
    """Announce the compilation of a Stan program; raise an error if CmdStan is missing."""
    if options.engine != "stan":
        return
    from polarbear.inference.stan import cmdstan, engine, programs  # most races do not use it

    installed = cmdstan.find_for(engine.method_of(options))
    if not programs.is_compiled(options.model, installed):
        cmdstan.require_build_tools()
        listener.note(f"compiling the Stan program of {options.model}, once: about a minute")


def other_grid(disk: StoreOnDisk, grid: GridLike | None, until: float | None) -> Budget | None:
    """The requested grid, within the budget of the runs; None for the grid of the store.

    A text is a grid as in a configuration, or a list with commas.
    """
    if grid is None and until is None:
        return None
    stored_budget = disk.settings.budget
    budget = stored_budget
    if isinstance(grid, str):
        grid = _parsed_grid(grid)
    if grid is not None:
        options = {
            "axis": stored_budget.axis,
            "grid": grid if isinstance(grid, Mapping) else list(grid),
        }
        budget = validate(Budget, options, Source("infer"))
        if budget.limit > stored_budget.limit:
            raise ConfigError(
                f"the grid goes to {typed_time(budget.limit, budget.axis)}, but runs in "
                f"{disk.path} only to {typed(stored_budget.limit)}"
            )
    if until is not None:
        try:
            budget = budget.cut(until)
        except ValueError as error:
            raise ConfigError(f"until: {error}") from None
    return budget


def _parsed_grid(text: str) -> Any:
    """The grid of a text: YAML as in a configuration, or times separated by commas."""
    text = text.strip()
    is_yaml = text.startswith(("{", "["))
    grid, _ = parse_yaml(text if is_yaml else f"[{text}]", "the grid")
    return grid


def infer(
    disk: StoreOnDisk,
    model: str | None = None,
    *,
    algorithms: Sequence[str] | None = None,
    seed: int | None = None,
    tie_tolerance: float = 0.0,
    grid: GridLike | None = None,
    until: float | None = None,
    keep: bool = True,
    listener: Listener | None = None,
    **options: Unpack[ModelKeywords],
) -> Posterior:
    """Infer a posterior from the runs of a store, and keep it there: see `Store.infer`."""
    listener = listener or Listener()
    model_options = _model_options(model, options)
    other_budget = other_grid(disk, grid, until)
    seed = _checked_seed(disk, seed)
    announce_stan(model_options, listener)
    evidence = evidence_of(disk, algorithms, tie_tolerance, other_budget)
    evidence = that_fits(evidence, model_options, tie_tolerance)
    posterior = cached_posterior(disk, evidence, model_options, seed)
    is_kept = posterior.from_store
    if keep and other_budget is None:
        try:
            with disk.writing():  # which finishes an interrupted change
                if not posterior.from_store:
                    store_posterior(disk, evidence, posterior)
            is_kept = True
        except (StoreLockedError, StoreReadOnlyError) as error:
            if not posterior.from_store:
                listener.not_kept(str(error))
    for problem in posterior.problems:
        listener.doubts(problem)
    return posterior if is_kept else replace(posterior, key="")


def infer_by(
    disk: StoreOnDisk,
    by: str,
    model: str | None = None,
    *,
    algorithms: Sequence[str] | None = None,
    seed: int | None = None,
    tie_tolerance: float = 0.0,
    grid: GridLike | None = None,
    until: float | None = None,
    listener: Listener | None = None,
    **options: Unpack[ModelKeywords],
) -> GroupAnswers:
    """Infer a posterior for each group of problems by a feature: see `Store.infer_by`."""
    listener = listener or Listener()
    model_options = _model_options(model, options)
    other_budget = other_grid(disk, grid, until)
    seed = _checked_seed(disk, seed)
    grouping = grouping_by(disk, by)
    announce_stan(model_options, listener)
    evidence = evidence_of(disk, algorithms, tie_tolerance, other_budget)
    answers = group_answers(disk, evidence, grouping, model_options, seed)
    for group in answers.groups:
        for problem in group.posterior.problems:
            listener.doubts(f"{by} {group.label}: {problem}")
    return answers


def _model_options(model: str | None, options: Mapping[str, Any]) -> ModelOptions:
    given_options = options if model is None else {"model": model, **options}
    return validate(ModelOptions, given_options, Source("infer"))


def _checked_seed(disk: StoreOnDisk, seed: int | None) -> int:
    """The seed of the draws, by default that of the store."""
    if seed is None:
        return disk.settings.seed
    if seed < 0:
        raise ConfigError(f"expected a seed of zero or more, found {seed}")
    return seed
