"""The data of a Stan program: choice sets, the model's grid or basis, and its priors."""

from __future__ import annotations

from typing import Any

import numpy as np

from polarbear.inference.models.base import Model
from polarbear.rankings import ChoiceSets

Data = dict[str, Any]


def stan_data(model: Model, sets: ChoiceSets) -> Data:
    """All data of a model's program, as plain numbers and lists."""
    data = {**_choice_sets(sets), **model.stan_data()}
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in data.items()
    }


def _choice_sets(sets: ChoiceSets) -> Data:
    """Sets as rows of a sparse matrix whose columns are algorithms within times."""
    n = sets.n_algorithms
    member = (sets.masks[:, None] >> np.arange(n) & 1).astype(bool)
    rows, algorithms = np.nonzero(member)
    return {
        "n": n,
        "T": sets.n_times,
        "n_sets": len(sets.masks),
        "n_members": len(rows),
        "wins": sets.wins.T,
        "counts": sets.counts,
        "members": sets.set_times()[rows] * n + algorithms + 1,
        "starts": np.concatenate([[0], np.cumsum(member.sum(axis=1))]) + 1,
    }
