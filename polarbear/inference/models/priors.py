"""The seven priors over ratings: two at each time separately, five over functions of time."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import scipy

from polarbear.inference.model_options import InverseGammaPrior, ModelOptions
from polarbear.inference.models.base import Latent, Model, StanData
from polarbear.inference.models.covariances import (
    COVARIANCES,
    Covariance,
    chain_precision,
    state_space,
)

JITTER = 1e-9  # added to unit variances, so that a Cholesky factor exists
MAX_UNEXPLAINED = 1e-6  # share of the variance that inducing points of a full GP may leave out
HALF_RANGE = 0.5  # half the length of the unit interval
MIN_BOUNDARY = 1.2


class Dirichlet(Model):
    """theta(t) ~ Dir(alpha), independent."""

    temporal = False
    hyperparameters: ClassVar[tuple[str, ...]] = ()
    stan_program = "dirichlet.stan"

    def latent(self, log_hyper: np.ndarray) -> Latent:
        return simplex_latent(len(self.times), self.options.dirichlet_concentration)

    def log_hyperprior(self, log_hyper: np.ndarray) -> float:
        return 0.0

    def draw_hyper(self, rng: np.random.Generator) -> np.ndarray:
        return np.empty(0)

    def stan_data(self) -> StanData:
        return {"concentration": self.options.dirichlet_concentration}


class Hierarchical(Model):
    """theta(t) ~ Dir(kappa / n) with a shared kappa ~ Exponential."""

    temporal = False
    hyperparameters = ("kappa",)
    stan_program = "hierarchical.stan"

    @property
    def rate(self) -> float:
        return self.options.kappa.rate or 1 / self.n_algorithms

    def latent(self, log_hyper: np.ndarray) -> Latent:
        kappa = math.exp(log_hyper[0])
        n = self.n_algorithms
        n_times = len(self.times)
        normaliser = math.lgamma(kappa) - n * math.lgamma(kappa / n)
        return simplex_latent(n_times, kappa / n, n_times * normaliser)

    def log_hyperprior(self, log_hyper: np.ndarray) -> float:
        return float(log_hyper[0] - self.rate * math.exp(log_hyper[0]))

    def draw_hyper(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([np.log(rng.exponential(1 / self.rate))])

    def stan_data(self) -> StanData:
        return {"kappa_rate": self.rate}


def simplex_latent(n_times: int, concentration: float, log_constant: float = 0.0) -> Latent:
    """A Dirichlet prior at each time, without a Gaussian one; times share nothing."""
    return Latent(
        precision=np.zeros((1, n_times)),
        half_log_det=0.0,
        starts=np.arange(n_times),
        weights=np.ones((n_times, 1)),
        dirichlet=concentration,
        log_constant=log_constant,
    )


class AmplitudeModel(Model):
    """A temporal model with amplitude sigma, which has a log-normal prior."""

    temporal = True
    hyperparameters: ClassVar[tuple[str, ...]] = ("sigma",)

    def log_hyperprior(self, log_hyper: np.ndarray) -> float:
        prior = self.options.sigma
        return float(-0.5 * ((log_hyper[0] - prior.location) / prior.scale) ** 2)

    def draw_hyper(self, rng: np.random.Generator) -> np.ndarray:
        prior = self.options.sigma
        return np.array([rng.normal(prior.location, prior.scale)])

    def stan_data(self) -> StanData:
        prior = self.options.sigma
        return {"sigma_location": prior.location, "sigma_scale": prior.scale}


class RandomWalk(AmplitudeModel):
    """eta(t_{i+1}) ~ N(eta(t_i), sigma^2 dt_i), started at N(0, initial_scale^2)."""

    stan_program = "random_walk.stan"

    def latent(self, log_hyper: np.ndarray) -> Latent:
        n_times = len(self.times)
        precision, half_log_det = chain_precision(
            first=np.array([[self.options.initial_scale**2]]),
            transitions=np.ones((n_times - 1, 1, 1)),
            noises=math.exp(2 * log_hyper[0]) * np.diff(self.times)[:, None, None],
        )
        return Latent(precision, half_log_det, np.arange(n_times), np.ones((n_times, 1)))

    def stan_data(self) -> StanData:
        typical = np.exp(self.options.sigma.location)
        steps = typical * np.sqrt(np.diff(self.times, prepend=self.times[0]))
        steps[0] = self.options.initial_scale
        return {
            **super().stan_data(),
            "times": self.times,
            "initial_scale": self.options.initial_scale,
            "rotation": rotation(np.tril(np.broadcast_to(steps, (len(steps), len(steps))))),
        }


class BSpline(AmplitudeModel):
    """eta = sum_j beta_j B_j(t) with beta_j ~ N(0, sigma^2), knots at quantiles."""

    stan_program = "bspline.stan"

    def __init__(self, times: np.ndarray, n_algorithms: int, options: ModelOptions) -> None:
        super().__init__(times, n_algorithms, options)
        degree = options.spline_degree
        self.size = max(options.spline_functions or len(times) // 2, degree + 1)
        levels = np.linspace(0, 1, self.size - degree + 1)[1:-1]
        inner = np.quantile(times, levels) if len(levels) else np.empty(0)
        last = times[-1] if len(times) > 1 else times[0] + 1
        knots = np.concatenate([[times[0]] * (degree + 1), inner, [last] * (degree + 1)])
        self.basis = scipy.interpolate.BSpline.design_matrix(times, knots, degree).toarray()
        # At each time, degree + 1 neighbouring splines are not zero.
        span = np.searchsorted(knots, times, side="right") - 1 - degree
        self.starts = np.clip(span, 0, self.size - degree - 1)
        columns = self.starts[:, None] + np.arange(degree + 1)
        self.nonzero_basis = np.take_along_axis(self.basis, columns, axis=1)

    def latent(self, log_hyper: np.ndarray) -> Latent:
        weights = math.exp(log_hyper[0]) * self.nonzero_basis
        return Latent.standard_normal(weights, self.starts, self.size)

    def stan_data(self) -> StanData:
        return {**super().stan_data(), "n_basis": self.size, "basis": self.basis.T}


class LengthscaleModel(AmplitudeModel):
    """A temporal model with a kernel and its lengthscale ell, which has an inverse-gamma prior."""

    hyperparameters = ("sigma", "ell")

    @property
    def covariance(self) -> Covariance:
        return COVARIANCES[self.options.kernel]

    def log_hyperprior(self, log_hyper: np.ndarray) -> float:
        prior = self.options.lengthscale
        log_ell = log_hyper[1]
        log_density = -prior.shape * log_ell - prior.scale * math.exp(-log_ell)
        return float(super().log_hyperprior(log_hyper) + log_density)

    def draw_hyper(self, rng: np.random.Generator) -> np.ndarray:
        log_sigma = super().draw_hyper(rng)
        prior = self.options.lengthscale
        log_ell = np.log(prior.scale) - np.log(rng.gamma(prior.shape))
        return np.append(log_sigma, log_ell)

    def stan_data(self) -> StanData:
        prior = self.options.lengthscale
        return {
            **super().stan_data(),
            "kernel": 1 + list(COVARIANCES).index(self.options.kernel),
            "ell_shape": prior.shape,
            "ell_scale": prior.scale,
        }


class HilbertSpaceGP(LengthscaleModel):
    """The kernel's spectrum on m eigenfunctions of the Laplacian over [-L, L]."""

    stan_program = "hsgp.stan"
    # At 0.9, 9 of 32,000 transitions diverged on the data of the agreement test.
    stan_adapt_delta = 0.99

    def __init__(self, times: np.ndarray, n_algorithms: int, options: ModelOptions) -> None:
        super().__init__(times, n_algorithms, options)
        boundary, self.size = hilbert_space_basis(options)
        limit = boundary * HALF_RANGE
        self.frequencies = math.pi * np.arange(1, self.size + 1) / (2 * limit)
        shifted = times[:, None] - HALF_RANGE + limit
        self.basis = np.sin(self.frequencies * shifted) / math.sqrt(limit)

    def latent(self, log_hyper: np.ndarray) -> Latent:
        sigma, ell = np.exp(log_hyper)
        spectrum = self.covariance.spectral_density(self.frequencies, ell)
        return Latent.standard_normal(sigma * np.sqrt(spectrum) * self.basis)

    def stan_data(self) -> StanData:
        typical = inverse_gamma_quantile(self.options.lengthscale, 0.5)
        spectrum = self.covariance.spectral_density(self.frequencies, typical)
        return {
            **super().stan_data(),
            "n_basis": self.size,
            "frequencies": self.frequencies,
            "basis": self.basis.T,
            "rotation": rotation(self.basis * np.sqrt(spectrum)),
        }


def hilbert_space_basis(options: ModelOptions) -> tuple[float, int]:
    """c and m by Riutort-Mayol's rules, for the middle 80 % of the lengthscale's prior.

    The long end asks for a wide boundary, the short end for many functions.
    """
    rule = COVARIANCES[options.kernel]
    short = inverse_gamma_quantile(options.lengthscale, 0.1)
    long = inverse_gamma_quantile(options.lengthscale, 0.9)
    boundary = options.boundary or max(MIN_BOUNDARY, rule.boundary_rule * long / HALF_RANGE)
    size = options.basis_functions or math.ceil(rule.basis_rule * boundary * HALF_RANGE / short)
    return boundary, size


class SparseGP(LengthscaleModel):
    """DTC: eta = K_tu K_uu^-1 u, with inducing points at quantiles of the grid."""

    stan_program = "sparse_gp.stan"
    # At 0.9, one of 32,000 transitions diverged on the data of the agreement test.
    stan_adapt_delta = 0.95

    def __init__(self, times: np.ndarray, n_algorithms: int, options: ModelOptions) -> None:
        super().__init__(times, n_algorithms, options)
        levels = np.linspace(0, 1, min(options.inducing_points, len(times)))
        self.inducing = np.unique(np.quantile(times, levels))

    def latent(self, log_hyper: np.ndarray) -> Latent:
        sigma, ell = np.exp(log_hyper)
        weights = inducing_weights(self.covariance, self.times, self.inducing, ell)
        return Latent.standard_normal(sigma * weights)

    def stan_data(self) -> StanData:
        typical = inverse_gamma_quantile(self.options.lengthscale, 0.5)
        weights = inducing_weights(self.covariance, self.times, self.inducing, typical)
        return {
            **super().stan_data(),
            "times": self.times,
            "jitter": JITTER,
            "rotation": rotation(weights),
            "n_inducing": len(self.inducing),
            "inducing": self.inducing,
        }


class GaussianProcess(SparseGP):
    """The full GP.

    A Matern process with its derivatives is a Markov chain, whose precision is a narrow band: cost
    grows with T, not T^3. The squared exponential is not Markov, but so smooth that few of its
    values determine all others: it uses inducing points that leave a negligible variance
    unexplained. The Stan program uses the kernel itself.
    """

    stan_program = "gp.stan"
    stan_adapt_delta = 0.9

    def __init__(self, times: np.ndarray, n_algorithms: int, options: ModelOptions) -> None:
        super().__init__(times, n_algorithms, options)
        self.inducing = times
        if self.covariance.order is None:
            shortest = inverse_gamma_quantile(options.lengthscale, 1e-4)
            self.inducing = dense_inducing_points(self.covariance, times, shortest)

    def latent(self, log_hyper: np.ndarray) -> Latent:
        order = self.covariance.order
        if order is None:
            return super().latent(log_hyper)
        sigma, ell = np.exp(log_hyper)
        steps = math.sqrt(2 * order + 1) / ell * np.diff(self.times)
        precision, half_log_det = chain_precision(*state_space(order, steps))
        starts = (order + 1) * np.arange(len(self.times))
        return Latent(precision, half_log_det, starts, np.full((len(self.times), 1), sigma))

    def stan_data(self) -> StanData:
        typical = inverse_gamma_quantile(self.options.lengthscale, 0.5)
        weights = inducing_weights(self.covariance, self.times, self.times, typical)
        return {**super().stan_data(), "rotation": rotation(weights)}


def dense_inducing_points(
    covariance: Covariance, times: np.ndarray, lengthscale: float
) -> np.ndarray:
    """The fewest quantiles of the grid whose values determine those at all other times."""
    size = min(8, len(times))
    while size < len(times):
        points = np.unique(np.quantile(times, np.linspace(0, 1, size)))
        weights = inducing_weights(covariance, times, points, lengthscale)
        if 1 - (weights**2).sum(axis=1).min() < MAX_UNEXPLAINED:
            return np.asarray(points)
        size = math.ceil(1.2 * size)
    return times


def inducing_weights(
    covariance: Covariance, times: np.ndarray, inducing: np.ndarray, lengthscale: float
) -> np.ndarray:
    """K_tu L^-T for K_uu = L L': standard normal coefficients to values on the grid."""
    among = covariance.correlation(np.abs(inducing[:, None] - inducing), lengthscale)
    across = covariance.correlation(np.abs(times[:, None] - inducing), lengthscale)
    lower = np.linalg.cholesky(among + JITTER * np.eye(len(inducing)))
    solved = scipy.linalg.solve_triangular(lower, across.T, lower=True, check_finite=False)
    return np.ascontiguousarray(solved.T)


def inverse_gamma_quantile(prior: InverseGammaPrior, level: float) -> float:
    return float(prior.scale / scipy.special.gammaincinv(prior.shape, 1 - level))


def rotation(weights: np.ndarray) -> np.ndarray:
    """An orthogonal matrix that gives each coefficient a curve with its scale, for Stan programs.

    The data determine smooth curves and not rough ones. With one coefficient for each, a diagonal
    mass matrix is all that NUTS needs.
    """
    return np.asarray(np.linalg.svd(weights)[2])
