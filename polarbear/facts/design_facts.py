"""What a design has tried: configurations, what became of them, and which parameters mattered when.

The runs of candidates that were dropped are set aside, where no decision uses them. They still say
which parameters matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from polarbear.numerics.arrays import Floats
from polarbear.store import StoreOnDisk
from polarbear.store.run_values import outcomes_on_grid
from polarbear.store.runs import improvements_in, stored_runs
from polarbear.store.store import KEY

MEMBER = "member"
GIVEN = "given"  # in place of a verdict on a configuration that the search began with
QUANTILE_GROUPS = 3  # of the values of a number, whose duels are compared
MIN_CONFIGURATIONS = 6  # below which no importance is stated


@dataclass(frozen=True)
class TriedConfiguration:
    """A configuration or program of a design; ``is_in_set`` says whether it is there at the end."""

    name: str
    algorithm: str | None
    values: Mapping[str, Any]
    generation: int
    verdict: str
    score: float | None
    is_in_set: bool


def tried_configurations(store: StoreOnDisk) -> list[TriedConfiguration]:
    """All configurations and programs that could be judged, in their order."""
    generations = list(store.generations.all())
    last_members = generations[-1].members if generations else []
    for generation in reversed(generations):
        if generation.is_complete:
            last_members = generation.members
            break
    tried = []
    for generation in generations:
        verdicts = {verdict.name: verdict for verdict in generation.verdicts}
        for proposal in generation.proposals:
            verdict = verdicts.get(proposal.name)
            if proposal.flaw or (verdict is None and generation.generation > 0):
                continue
            tried.append(
                TriedConfiguration(
                    name=proposal.name,
                    algorithm=proposal.algorithm,
                    values=proposal.values,
                    generation=generation.generation,
                    verdict=GIVEN if verdict is None else verdict.verdict,
                    score=None if verdict is None else verdict.score,
                    is_in_set=proposal.name in last_members,
                )
            )
    return tried


def spaces_of(store: StoreOnDisk) -> dict[str, list[dict[str, Any]]]:
    """The parameters of each algorithm that has a space, as proposers receive them."""
    if 0 not in store.generations.numbers():
        return {}
    spaces = store.generations.read(0).spaces
    return {name: space["parameters"] for name, space in spaces.items()}


def scaled_value(parameter: Mapping[str, Any], value: Any) -> float:
    """The place of a value between the lowest, 0, and the highest, 1, of a parameter."""
    if "values" in parameter:
        texts = [str(member) for member in parameter["values"]]
        position = texts.index(str(value)) if str(value) in texts else 0
        return position / max(1, len(texts) - 1)
    low = float(parameter["low"])
    high = float(parameter["high"])
    if parameter["log"]:
        return float(np.log(float(value) / low) / np.log(high / low))
    return (float(value) - low) / (high - low)


def importances(store: StoreOnDisk, times: Floats) -> pl.DataFrame:
    """The share of the differences between configurations that each parameter explains, over time.

    The response of a configuration at a time is its share of duels won against all configurations
    of the same algorithm that ran on the same instances; it weighs as much as it has instances.
    The share is epsilon squared of an analysis of variance with one factor, which is zero on
    average where a parameter does not matter.
    """
    rows = []
    tried = tried_configurations(store)
    for algorithm, parameters in spaces_of(store).items():
        configurations = [item for item in tried if item.algorithm == algorithm]
        if len(configurations) < MIN_CONFIGURATIONS:
            continue
        names = [configuration.name for configuration in configurations]
        wins, weights = _shares_won(_outcomes(store, names, times))
        for parameter in parameters:
            groups = _groups(parameter, [item.values for item in configurations])
            for k, t in enumerate(times.tolist()):
                share = _explained(wins[:, k], weights[:, k], groups)
                rows.append(
                    {
                        "algorithm": algorithm,
                        "parameter": parameter["name"],
                        "t": t,
                        "explained": share,
                        "configurations": int((weights[:, k] > 0).sum()),
                    }
                )
    return pl.DataFrame(rows)


def _outcomes(store: StoreOnDisk, names: Sequence[str], times: Floats) -> np.ndarray:
    """The values of the last runs of configurations, NaN where absent: [instance, name, time]."""
    runs = store.keyed(store.every_run().filter(pl.col("algorithm").is_in(list(names))))
    runs = runs.unique(KEY, keep="last", maintain_order=True)
    row_of = {instance: row for row, instance in enumerate(runs["instance"].unique().sort())}
    column_of = {name: column for column, name in enumerate(names)}
    values = np.full((len(row_of), len(names), len(times)), np.nan)
    run_of = {run.run: run for run in stored_runs(runs)}
    failed = store.settings.failures.ranks
    for _, frame in store.catalog.read_parts("trajectories"):
        for run_id, improvements in zip(frame["run"], improvements_in(frame), strict=True):
            run = run_of.get(run_id)
            if run is not None:
                outcomes = outcomes_on_grid(run, improvements, times, failed)
                values[row_of[run.instance], column_of[run.algorithm]] = outcomes.values
    return values


def _shares_won(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The share of duels that each configuration won, and its number of instances: [name, time]."""
    n_names = values.shape[1]
    total = np.zeros(values.shape[1:])
    n_instances = np.zeros(values.shape[1:])
    for outcomes in values:  # [name, time]
        is_present = ~np.isnan(outcomes)
        n_rivals = is_present.sum(axis=0) - 1
        won = np.zeros(outcomes.shape)
        for rival in range(n_names):
            other = outcomes[rival]
            won += np.where(is_present[rival], (outcomes < other) + 0.5 * (outcomes == other), 0.0)
        counts = is_present & (n_rivals > 0)
        won_from_others = won - 0.5 * is_present  # without the draw against itself
        total += np.where(counts, won_from_others / np.maximum(n_rivals, 1), 0.0)
        n_instances += counts
    with np.errstate(invalid="ignore"):
        return total / n_instances, n_instances


def _groups(parameter: Mapping[str, Any], values: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """The group of each configuration: its category, or the third of all values it is in.

    Configurations that do not use the parameter are a group of their own.
    """
    name = parameter["name"]
    is_used = np.array([name in configuration for configuration in values])
    groups = np.full(len(values), -1)
    used = [configuration[name] for configuration in values if name in configuration]
    scaled = np.array([scaled_value(parameter, value) for value in used])
    if "values" in parameter:
        groups[is_used] = np.unique(scaled, return_inverse=True)[1] if len(scaled) else 0
    elif len(scaled):
        borders = np.quantile(scaled, np.linspace(0, 1, QUANTILE_GROUPS + 1)[1:-1])
        groups[is_used] = np.searchsorted(borders, scaled)
    return groups


def _explained(response: np.ndarray, weights: np.ndarray, groups: np.ndarray) -> float | None:
    """Epsilon squared of the groups, at least 0; None where there are too few configurations."""
    is_known = weights > 0
    response = response[is_known]
    weights = weights[is_known]
    groups = groups[is_known]
    labels = np.unique(groups)
    n_free = len(response) - len(labels)
    if len(labels) < 2 or n_free < 1:
        return None
    mean = np.average(response, weights=weights)
    total = float(weights @ (response - mean) ** 2)
    if total <= 0:
        return None
    between = 0.0
    for label in labels:
        inside = groups == label
        mean_inside = np.average(response[inside], weights=weights[inside])
        between += float(weights[inside].sum() * (mean_inside - mean) ** 2)
    error = (total - between) / n_free
    return max(0.0, (between - (len(labels) - 1) * error) / total)
