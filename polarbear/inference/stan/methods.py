"""Stan's methods on one compiled program: draws of theta with their diagnostics."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from polarbear.inference.chain_diagnostics import energy_bfmi, smoothed_weights

MIN_PATHS = 4
CANDIDATES = 2  # draws of all paths per draw that Pathfinder's resampling keeps


@dataclass(frozen=True)
class Pace:
    """NUTS's tuning transitions and target acceptance."""

    warm_up: int = 1000
    adapt_delta: float = 0.9


SECOND = Pace(warm_up=2000, adapt_delta=0.99)


@dataclass(frozen=True)
class Task:
    """One run of a program: its data, the number of draws, and a folder for its output."""

    executable: Path
    data: dict[str, Any]
    folder: Path
    hyper: Sequence[str]
    draws: int
    chains: int
    seed: int
    threads: int
    pace: Pace

    def call(self, method: str, **arguments: Any) -> Any:
        """Call a method of CmdStanPy's model on the data, in the folder."""
        import cmdstanpy

        self.folder.mkdir(parents=True, exist_ok=True)
        data = self.folder / "data.json"
        data.write_text(json.dumps(self.data))
        model = cmdstanpy.CmdStanModel(exe_file=str(self.executable))
        return getattr(model, method)(
            data=str(data), seed=self.seed, output_dir=str(self.folder), **arguments
        )


@dataclass(frozen=True)
class Drawn:
    """Draws of theta[draw, time, algorithm] and of hyperparameters [draw, H], chain after chain.

    ``log_weights`` are log-ratios of the posterior's density to an approximation's.
    """

    theta: np.ndarray
    hyper: np.ndarray
    divergences: int = 0
    deep_trees: int = 0
    e_bfmi: float | None = None
    acceptance: float | None = None
    log_weights: np.ndarray | None = None


def sample(task: Task) -> Drawn:
    """NUTS, one process per chain."""
    fit = task.call(
        "sample",
        chains=task.chains,
        parallel_chains=min(task.threads, task.chains),
        iter_sampling=task.draws // task.chains,
        iter_warmup=task.pace.warm_up,
        adapt_delta=task.pace.adapt_delta,
        show_progress=False,
        force_one_process_per_chain=True,
    )
    # [draw, chain] to chain after chain, as stan_variable has it
    energies = fit.method_variables()["energy__"].T
    return Drawn(
        *_values(task, fit.stan_variable),
        divergences=int(fit.divergences.sum()),
        deep_trees=int(fit.max_treedepths.sum()),
        e_bfmi=min(energy_bfmi(chain) for chain in energies),
        acceptance=float(fit.method_variables()["accept_stat__"].mean()),
    )


def pathfinder(task: Task) -> Drawn:
    """Several paths; their draws are resampled by smoothed importance weights.

    CmdStan can resample, too, but then does not report the weights, which Pareto-k needs.
    """
    paths = max(MIN_PATHS, task.chains)
    fit = task.call(
        "pathfinder",
        num_paths=paths,
        num_single_draws=-(-CANDIDATES * task.draws // paths),
        psis_resample=False,
        num_threads=task.threads,
    )
    theta, hyper = _values(task, fit.stan_variable)
    found = fit.method_variables()
    # paths are written as they end, which depends on the number of threads
    order = np.argsort(found["path__"], kind="stable")
    log_weights = (found["lp__"] - found["lp_approx__"])[order]
    chosen = np.random.default_rng(task.seed).choice(
        order, size=task.draws, p=smoothed_weights(log_weights)
    )
    return Drawn(theta[chosen], hyper[chosen], log_weights=log_weights)


def laplace(task: Task) -> Drawn:
    """A normal approximation at the mode of the unconstrained parameters."""
    fit = task.call("laplace_sample", draws=task.draws, jacobian=True)
    found = fit.method_variables()
    return Drawn(
        *_values(task, fit.stan_variable),
        log_weights=found["log_p__"] - found["log_q__"],
    )


def advi(task: Task, algorithm: str) -> Drawn:
    """Variational inference with independent normals, or with a full covariance."""
    fit = task.call(
        "variational",
        algorithm=algorithm,
        draws=task.draws,
        require_converged=False,  # Pareto-k judges what came out of it
    )
    found = fit.variational_sample_pd
    return Drawn(
        *_values(task, partial(fit.stan_variable, mean=False)),
        log_weights=(found["log_p__"] - found["log_g__"]).to_numpy(),
    )


METHODS: dict[str, Callable[[Task], Drawn]] = {
    "mcmc": sample,
    "pathfinder": pathfinder,
    "laplace": laplace,
    "advi-meanfield": partial(advi, algorithm="meanfield"),
    "advi-fullrank": partial(advi, algorithm="fullrank"),
}


def _values(task: Task, variable: Callable[[str], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """theta[draw, T, n] and the hyperparameters [draw, H] of a fit."""
    theta = np.ascontiguousarray(variable("theta").transpose(0, 2, 1))
    hyper = [np.asarray(variable(name)).reshape(-1) for name in task.hyper]
    return theta, np.stack(hyper, axis=1) if hyper else np.empty((len(theta), 0))
