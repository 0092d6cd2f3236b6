"""What a Stan program is given: choice sets, the model's grid or basis, and its priors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polarbear.inference.models import Model
from polarbear.inference.models.bspline import BSpline
from polarbear.inference.models.covariances import COVARIANCES
from polarbear.inference.models.hierarchical import Hierarchical
from polarbear.inference.models.hsgp import HilbertSpaceGP
from polarbear.inference.models.priors import inverse_gamma_quantile
from polarbear.inference.models.sparse_gp import JITTER, SparseGP, inducing_weights
from polarbear.rankings import ChoiceSets

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


def _process(model: Model, inducing: np.ndarray) -> Data:
    prior = model.options.lengthscale
    typical = inverse_gamma_quantile(prior, 0.5)
    covariance = COVARIANCES[model.options.kernel]
    return {
        **_lengthscale(model),
        "times": model.times,
        "jitter": JITTER,
        "rotation": _rotation(inducing_weights(covariance, model.times, inducing, typical)),
    }


def _gp(model: Model) -> Data:
    return _process(model, model.times)


def _sparse_gp(model: Model) -> Data:
    assert isinstance(model, SparseGP)
    inducing = model.inducing
    return {**_process(model, inducing), "n_inducing": len(inducing), "inducing": inducing}


def _rotation(weights: np.ndarray) -> np.ndarray:
    """Rows that turn coefficients so that each moves its own shape of curve.

    The data tell much about smooth shapes and nothing about rough ones; once each has its own
    coefficient, a step size for each coefficient is all that NUTS needs.
    """
    return np.asarray(np.linalg.svd(weights)[2])


def _hsgp(model: Model) -> Data:
    assert isinstance(model, HilbertSpaceGP)
    typical = inverse_gamma_quantile(model.options.lengthscale, 0.5)
    spectrum = model.covariance.spectral_density(model.frequencies, typical)
    return {
        **_lengthscale(model),
        "n_basis": model.size,
        "frequencies": model.frequencies,
        "basis": model.basis.T,
        "rotation": _rotation(model.basis * np.sqrt(spectrum)),
    }


def _random_walk(model: Model) -> Data:
    typical = np.exp(model.options.sigma.location)
    steps = typical * np.sqrt(np.diff(model.times, prepend=model.times[0]))
    steps[0] = model.options.initial_scale
    return {
        **_amplitude(model),
        "times": model.times,
        "initial_scale": model.options.initial_scale,
        "rotation": _rotation(np.tril(np.broadcast_to(steps, (len(steps), len(steps))))),
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
