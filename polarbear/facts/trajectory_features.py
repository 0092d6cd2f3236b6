"""Features of an instance that an algorithm's own first evaluations show.

``powell@50.improvements`` is the number of improvements that powell made up to t = 50. Nothing is
stored: they follow from the trajectories. They cost the time up to which they look.
"""

from __future__ import annotations

import re

import numpy as np

from polarbear.errors import InferenceError
from polarbear.facts.features import FeatureColumn, Features
from polarbear.rankings import Improvements
from polarbear.settings.options import unknown
from polarbear.store import StoreOnDisk
from polarbear.wording import joined, typed

# What a trajectory shows up to a time. None of them depends on the unit of objective values, except
# for gain, which is a logarithm of their difference.
MEANINGS = {
    "improvements": "the number of improvements",
    "stagnation": "the share of the time that has passed since the last improvement",
    "early-gain": "the share of the gain that was made in the first half of the time",
    "gain": "the decimal logarithm of the difference between the first and the last value",
}
_NAME = re.compile(r"(?P<algorithm>.+)@(?P<until>[\d.eE+]+)\.(?P<what>[a-z-]+)(:.*)?")


def is_of_trajectory(name: str) -> bool:
    """Whether a name has the form of a feature of trajectories: powell@50.improvements."""
    return _NAME.fullmatch(name) is not None


def trajectory_feature(store: StoreOnDisk, name: str) -> Features:
    """One feature of trajectories, by its name, perhaps with the ends of bins."""
    parts = _NAME.fullmatch(name)
    assert parts is not None, "the name was checked"
    if parts["what"] not in MEANINGS:
        raise InferenceError(unknown("feature of trajectories", parts["what"], [*MEANINGS]))
    every = trajectory_features(store, parts["algorithm"], _number(parts["until"]))
    values = every.columns[[*MEANINGS].index(parts["what"])].values
    column = FeatureColumn(name.partition(":")[0], values)
    return Features(every.instances, (column,), every.costs, {column.name: every.costs})


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InferenceError(f"expected a time after @, found '{text}'") from None


def trajectory_features(store: StoreOnDisk, algorithm: str, until: float) -> Features:
    """What the trajectories of an algorithm show up to a time, on each instance that it ran on.

    A run that was stopped before is missing. All of them together cost the time, since they come
    from one run.
    """
    names = tuple(store.settings.algorithms)
    if algorithm not in names:
        raise InferenceError(f"{unknown('algorithm', algorithm, names)} (in {store.path})")
    if not until > 0:
        raise InferenceError(f"features of trajectories look up to a time above 0, found {until:g}")
    instances = tuple(store.instances()["instance"])
    row_of = {instance: row for row, instance in enumerate(instances)}
    values = np.full((len(MEANINGS), len(instances)), np.nan)
    costs = np.zeros(len(instances))
    for run, improvements in store.improvements([algorithm]):
        row = row_of.get(run.instance)
        ended_before = run.reached < until
        if row is None or (ended_before and run.status == "budget"):
            continue
        values[:, row] = _shown_by(improvements.up_to(until), until)
        costs[row] = until
    if np.isnan(values).all():
        raise InferenceError(
            f"no run of {algorithm} in {store.path} reached {typed(until)}, so its trajectories "
            f"show none of {joined([*MEANINGS])} there"
        )
    prefix = f"{algorithm}@{typed(until)}"
    columns = tuple(
        FeatureColumn(f"{prefix}.{name}", row) for name, row in zip(MEANINGS, values, strict=True)
    )
    share = costs / len(columns)
    return Features(instances, columns, costs, {column.name: share for column in columns})


def _shown_by(improvements: Improvements, until: float) -> list[float]:
    """The values of MEANINGS, in this order, of a trajectory that ends at a time."""
    feasible = improvements.feasible()
    times = feasible.times
    values = feasible.values
    if not len(values):
        return [0.0, 1.0, np.nan, np.nan]
    gain = float(values[0] - values[-1])
    at_half = float(values[times <= until / 2][-1]) if times[0] <= until / 2 else float(values[0])
    return [
        float(len(values)),
        float((until - times[-1]) / until),
        (float(values[0]) - at_half) / gain if gain > 0 else np.nan,
        float(np.log10(gain)) if gain > 0 else np.nan,
    ]
