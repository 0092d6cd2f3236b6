"""Did a change help? The same algorithm in two stores, on the instances that both have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.driver.evidence import Evidence, ranked
from polarbear.inference import ModelOptions, infer
from polarbear.rankings import GridValues
from polarbear.report.stores.sides import Moments, Side
from polarbear.store import Store

SEED = 0
LEVELS = (0.025, 0.975)


@dataclass(frozen=True)
class Change:
    """An algorithm in another store against itself in the first, over all times and at the last.

    ``wins`` is the share of instances on which the other store's is better, ties halved, on average
    over the times, with its 95 % interval by duels alone; ``p_better`` how probable it is, by the
    default model, that this share is above a half. ``same`` means that all values are equal at all
    times.
    """

    store: str
    algorithm: str
    instances: int
    same: bool
    wins: float
    low: float
    high: float
    p_better: float
    wins_at_last: float
    low_at_last: float
    high_at_last: float

    @property
    def shown(self) -> bool:
        """Whether it is 97.5 % sure which way it goes."""
        low, high = LEVELS
        return not low < self.p_better < high


def shared_instances(one: Store, two: Store) -> list[str]:
    """Instances that are the same in both stores: their suite, and what rebuilds them."""
    columns = ["instance", "suite", "spec"]
    other = set(two.instances().select(columns).iter_rows())
    return [row[0] for row in one.instances().select(columns).iter_rows() if row in other]


def changes(sides: Sequence[Side], names: Sequence[str], moments: Moments) -> list[Change]:
    """Each algorithm against itself in the first store, where there are runs of both to compare.

    That takes the same instances, run by the clock of the same axis.
    """
    first, *others = sides
    if moments.axis is None:
        return []
    made = []
    for side in others:
        one, two = first.context.store, side.context.store
        shared = shared_instances(one, two)
        if not shared or not _comparable(one, two):
            continue
        grids = [store.on_grid(moments.at, names) for store in (one, two)]
        rows = [{name: i for i, name in enumerate(grid.instances)} for grid in grids]
        both = [name for name in shared if name in rows[0] and name in rows[1]]
        values = [
            grid.values[[row[name] for name in both]] for grid, row in zip(grids, rows, strict=True)
        ]
        problem, weight = one.problems(), one.weights()
        for place, name in enumerate(names):
            held = np.stack([part[:, place] for part in values], axis=1)
            met = [not np.isnan(pair).all(axis=1).any() for pair in held]
            if any(met):
                seen = [instance for instance, m in zip(both, met, strict=True) if m]
                kinds = [problem.get(instance, instance) for instance in seen]
                weights = [weight.get(instance, 1.0) for instance in seen]
                grid = GridValues(tuple(seen), ("then", "now"), moments.at, held[met])
                evidence = ranked(grid, moments.unit_times, problems=kinds, weights=weights)
                made.append(_change(side.name, name, evidence))
    return made


def _comparable(one: Store, two: Store) -> bool:
    """Whether both have runs, and values that mean the same."""
    ways = {bool(store.config["instances"].get("maximise")) for store in (one, two)}
    bare = any(store.runs().is_empty() or len(store.rankings()) for store in (one, two))
    return len(ways) == 1 and not bare


def _change(store: str, algorithm: str, evidence: Evidence) -> Change:
    """The two as a race between them, by the empirical model."""
    posterior = infer(
        evidence.choice_sets,
        evidence.unit_times,
        ModelOptions(),
        SEED,
        names=evidence.grid.algorithms,
        positions=evidence.positions,
        problems=evidence.problem_names,
        weights=evidence.weights,
    )
    won = posterior.head_to_head(1, 0)  # [draw, time]
    mean, last = won.mean(axis=1), won[:, -1]
    (low, high), (last_low, last_high) = (np.quantile(x, LEVELS).tolist() for x in (mean, last))
    then, now = evidence.grid.values[:, 0], evidence.grid.values[:, 1]
    met = ~(np.isnan(then) | np.isnan(now))
    return Change(
        store=store,
        algorithm=algorithm,
        instances=evidence.n_problems,
        same=bool((then[met] == now[met]).all()),
        wins=float(mean.mean()),
        low=low,
        high=high,
        p_better=float((mean > 0.5).mean()),
        wins_at_last=float(last.mean()),
        low_at_last=last_low,
        high_at_last=last_high,
    )
