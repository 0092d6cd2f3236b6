"""NUTS by nutpie on a model's log-posterior: slower than split HMC, with fewer assumptions."""

from collections.abc import Callable, Sequence

import numpy as np

from polarbear.errors import MissingExtraError
from polarbear.inference.chain_diagnostics import Draws
from polarbear.inference.models.base import Latent, Model
from polarbear.inference.plackett_luce.likelihood import Likelihood, softmax
from polarbear.inference.plackett_luce.split_hmc import Effort
from polarbear.inference.posterior_draws import draws_a_chain
from polarbear.numerics.threads import Threads

_DIFFERENCE = 1e-4  # step of central differences in the few log-hyperparameters
_POSITION = "position"


class LogPosterior:
    """A model's log-posterior with gradient, as a function of one vector.

    The vector holds the log-hyperparameters, then standard normal coefficients (non-centred, so
    that the prior's shape does not depend on the hyperparameters), or for Dirichlet priors eta.
    """

    def __init__(self, model: Model, likelihood: Likelihood) -> None:
        self.model = model
        self.likelihood = likelihood
        self.n_hyper = len(model.hyperparameters)
        self.d = likelihood.helmert.shape[1]
        self.size = self.n_hyper + model.latent(np.zeros(self.n_hyper)).n_coefficients * self.d

    def __call__(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        hyper = vector[: self.n_hyper]
        z = vector[self.n_hyper :]
        gradient = np.empty(self.size)
        value, gradient[self.n_hyper :] = self._at(hyper, z)
        for k in range(self.n_hyper):
            step = _DIFFERENCE * np.eye(self.n_hyper)[k]
            ahead, _ = self._at(hyper + step, z)
            behind, _ = self._at(hyper - step, z)
            gradient[k] = (ahead - behind) / (2 * _DIFFERENCE)
        return value, gradient

    def theta(self, vector: np.ndarray) -> np.ndarray:
        """Ratings theta[T, n]."""
        latent = self.model.latent(vector[: self.n_hyper])
        eta = latent.observe(self._colour(latent, vector[self.n_hyper :])[None])[:, 0]
        return softmax(eta @ self.likelihood.helmert.T)

    def _colour(self, latent: Latent, z: np.ndarray, transposed: bool = True) -> np.ndarray:
        """Coefficients with the prior's precision from standard normal ones, or the transpose."""
        if latent.dirichlet > 0:
            return z
        return latent.solve_factor(z.reshape(-1, self.d), transposed).ravel()

    def _at(self, hyper: np.ndarray, z: np.ndarray) -> tuple[float, np.ndarray]:
        latent = self.model.latent(hyper)
        q = self.likelihood.helmert
        eta = latent.observe(self._colour(latent, z)[None])
        values, slopes = self.likelihood.evaluate(eta @ q.T, latent.dirichlet)
        gradient = self._colour(latent, latent.observe_back(slopes @ q)[0], transposed=False)
        value = values.sum() + latent.log_constant + self.model.log_hyperprior(hyper)
        if latent.dirichlet == 0:
            value -= 0.5 * z @ z
            gradient = gradient - z
        return float(value), gradient


def sample_nuts(
    model: Model, likelihood: Likelihood, seed: Sequence[int], effort: Effort, threads: Threads
) -> Draws:
    """Draws by NUTS."""
    try:
        import nutpie
        from nutpie.compiled_pyfunc import from_pyfunc
    except ModuleNotFoundError:
        raise MissingExtraError("the native engine's method mcmc", "nutpie", "nuts") from None

    density = LogPosterior(model, likelihood)

    def make_density() -> Callable[..., tuple[float, np.ndarray]]:
        return lambda vector, **_: density(vector)

    def make_record(*_: object) -> Callable[..., dict[str, np.ndarray]]:
        return lambda vector, **_: {_POSITION: np.array(vector)}

    compiled = from_pyfunc(
        density.size, make_density, make_record, [np.dtype(float)], [(density.size,)], [_POSITION]
    )
    options = model.options
    trace = nutpie.sample(
        compiled,
        draws=draws_a_chain(options.draws, options.chains),
        tune=effort.nuts_tuning,
        chains=options.chains,
        cores=threads.number,
        seed=seed[0],
        progress_bar=False,
        save_warmup=False,
        target_accept=effort.nuts_acceptance,
    )
    positions = trace.posterior[_POSITION].to_numpy().reshape(-1, density.size)
    return Draws(
        np.array([density.theta(position) for position in positions]),
        np.exp(positions[:, : density.n_hyper]),
        divergences=int(trace.sample_stats.diverging.to_numpy().sum()),
        acceptance=float(trace.sample_stats.mean_tree_accept.to_numpy().mean()),
    )
