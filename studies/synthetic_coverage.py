"""Coverage of the default model's intervals on a known truth, without optional stopping.

All algorithms run on a fixed number of instances: how often do the 95 % intervals of win
probabilities of all pairs and times contain the truth?
"""

from __future__ import annotations

import numpy as np
import synthetic
from common import Row
from ways import duel_draws

INSTANCES = (16, 40, 160)


def table(example: int = 1, seeds: int = 8, instances: tuple[int, ...] = INSTANCES) -> list[Row]:
    names = synthetic.configured(example).setting.algorithms
    a, b = np.triu_indices(len(names), 1)
    truth = synthetic.true_duels(example).won[:, a, b]
    unit = synthetic.configured(example).budget.unit_times
    rows = []
    for name in ("default",):
        strategy = synthetic.way_of(name, example)
        for size in instances:
            inside = []
            widths = []
            for seed in range(seeds):
                values = synthetic.drawn_values(example, seed, size)
                everything = np.ones(values.shape, dtype=bool)
                draws = duel_draws(strategy, values, everything, unit, seed)
                low, high = np.quantile(draws, [0.025, 0.975], axis=0)
                inside.append(((low <= truth) & (truth <= high)).mean())
                widths.append((high - low).mean())
            rows.append(
                {
                    "way": name,
                    "example": example,
                    "instances": size,
                    "samples": seeds,
                    "within 95 % intervals": float(np.mean(inside)),
                    "mean width": float(np.mean(widths)),
                }
            )
    return rows
