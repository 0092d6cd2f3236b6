"""What a Stan program is given: choice sets, the model's grid or basis, and its priors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polarbear.choice_sets import ChoiceSets
from polarbear.inference.models import Model
from polarbear.inference.models.bspline import BSpline
from polarbear.inference.models.hierarchical import Hierarchical
from polarbear.inference.models.hsgp import HilbertSpaceGP
from polarbear.inference.models.sparse_gp import JITTER, SparseGP

Data = dict[str, Any]

KERNELS = {"matern-3/2": 1, "matern-5/2": 2, "squared-exponential": 3}


def stan_data(model: Model, sets: ChoiceSets) -> Data:
    """All data of a model's program, as plain numbers and lists."""
    data = {**_choice_sets(sets), **_PARTS[model.name](model)}
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


def _amplitude(model: Model) -> Data:
    prior = model.options.sigma
    return {"sigma_location": prior.location, "sigma_scale": prior.scale}


def _lengthscale(model: Model) -> Data:
    prior = model.options.lengthscale
    return {
        **_amplitude(model),
        "kernel": KERNELS[model.options.kernel],
        "ell_shape": prior.shape,
        "ell_scale": prior.scale,
    }


def _dirichlet(model: Model) -> Data:
    return {"alpha": model.options.alpha}


def _hierarchical(model: Model) -> Data:
    assert isinstance(model, Hierarchical)
    return {"kappa_rate": model.rate}


def _gp(model: Model) -> Data:
    return {**_lengthscale(model), "times": model.times, "jitter": JITTER}


def _sparse_gp(model: Model) -> Data:
    assert isinstance(model, SparseGP)
    return {**_gp(model), "n_inducing": len(model.inducing), "inducing": model.inducing}


def _hsgp(model: Model) -> Data:
    assert isinstance(model, HilbertSpaceGP)
    return {
        **_lengthscale(model),
        "n_basis": model.size,
        "frequencies": model.frequencies,
        "basis": model.basis.T,
    }


def _random_walk(model: Model) -> Data:
    return {
        **_amplitude(model),
        "times": model.times,
        "initial_scale": model.options.initial_scale,
    }


def _bspline(model: Model) -> Data:
    assert isinstance(model, BSpline)
    basis = np.zeros((len(model.times), model.size))
    columns = model.starts[:, None] + np.arange(model.basis.shape[1])
    np.put_along_axis(basis, columns, model.basis, axis=1)
    return {**_amplitude(model), "n_basis": model.size, "basis": basis.T}


_PARTS: dict[str, Callable[[Model], Data]] = {
    "dirichlet": _dirichlet,
    "hierarchical": _hierarchical,
    "gp": _gp,
    "sparse-gp": _sparse_gp,
    "hsgp": _hsgp,
    "random-walk": _random_walk,
    "bspline": _bspline,
}
