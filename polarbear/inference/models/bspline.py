"""B-spline: eta = sum_j beta_j B_j(t) with beta_j ~ N(0, sigma^2), knots at quantiles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from polarbear.inference.models.base import Latent
from polarbear.inference.models.hyperpriors import AmplitudeModel, identity_precision

if TYPE_CHECKING:
    from polarbear.inference.model_options import ModelOptions


class BSpline(AmplitudeModel):
    stan_program = "bspline.stan"

    def __init__(self, times: np.ndarray, n_algorithms: int, options: ModelOptions) -> None:
        super().__init__(times, n_algorithms, options)
        degree = options.spline_degree
        self.size = max(options.spline_functions or len(times) // 2, degree + 1)
        levels = np.linspace(0, 1, self.size - degree + 1)[1:-1]
        inner = np.quantile(times, levels) if len(levels) else np.empty(0)
        last = times[-1] if len(times) > 1 else times[0] + 1
        knots = np.concatenate([[times[0]] * (degree + 1), inner, [last] * (degree + 1)])
        basis = scipy.interpolate.BSpline.design_matrix(times, knots, degree).toarray()
        # each time sees degree + 1 neighbouring splines
        span = np.searchsorted(knots, times, side="right") - 1 - degree
        self.starts = np.clip(span, 0, self.size - degree - 1)
        columns = self.starts[:, None] + np.arange(degree + 1)
        self.basis = np.take_along_axis(basis, columns, axis=1)

    def latent(self, log_hyper: np.ndarray) -> Latent:
        weights = math.exp(log_hyper[0]) * self.basis
        return Latent(identity_precision(self.size), 0.0, self.starts, weights)

    def stan_data(self) -> dict[str, Any]:
        basis = np.zeros((len(self.times), self.size))
        columns = self.starts[:, None] + np.arange(self.basis.shape[1])
        np.put_along_axis(basis, columns, self.basis, axis=1)
        return {**super().stan_data(), "n_basis": self.size, "basis": basis.T}
