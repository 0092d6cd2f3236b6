"""The Stan engine: a model and choice sets in, draws by one of Stan's methods out."""

import errno
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from polarbear.errors import InferenceError, StanError
from polarbear.inference.chain_diagnostics import (
    Draws,
    EngineResult,
    diagnose,
    energy_bfmi,
    joined,
    smoothed_weights,
)
from polarbear.inference.model_options import ModelOptions
from polarbear.inference.models.base import Model, StanData
from polarbear.inference.posterior_draws import draws_a_chain
from polarbear.inference.stan import cmdstan, programs
from polarbear.numerics.threads import Threads, in_threads
from polarbear.rankings.choice_sets import ChoiceSets

MIN_PATHS = 4
CANDIDATES = 2  # draws of all paths per draw that Pathfinder's resampling keeps
_MAX_LINES = 6  # lines of a failed program's output in an error


@dataclass(frozen=True)
class Pace:
    """NUTS's tuning transitions and target acceptance."""

    warm_up: int = 1000
    adapt_delta: float = 0.9


SECOND = Pace(warm_up=2000, adapt_delta=0.99)


def method_of(options: ModelOptions) -> str:
    """The method that the options ask for; an InferenceError if this engine does not have it."""
    if options.method == "auto":
        return "mcmc"
    if options.method not in METHODS:
        raise InferenceError(
            f"the stan engine has no method '{options.method}'; it has auto, {', '.join(METHODS)} "
            f"('{options.method}' is the native engine's)"
        )
    return options.method


def run(model: Model, sets: ChoiceSets, seed: int, threads: Threads) -> EngineResult:
    """Draw from the posterior; if NUTS's diagnostics fail, once more with more effort."""
    options = model.options
    method = method_of(options)
    installed = cmdstan.find_for(method)
    executable = programs.compiled(programs.program_file(options.model), installed)
    first_pace = Pace(adapt_delta=model.stan_adapt_delta)
    for number, pace in enumerate((first_pace, SECOND), start=1):
        draws = _run(executable, method, model, sets, seed, pace, threads)
        diagnostics = diagnose(draws, options.chains, number, threads)
        if diagnostics.passed or method != "mcmc":
            break
    return EngineResult(method, draws, diagnostics)


def _run(
    executable: Path,
    method: str,
    model: Model,
    sets: ChoiceSets,
    seed: int,
    pace: Pace,
    threads: Threads,
) -> Draws:
    """Draws of all parts of the grid, which are run separately."""
    options = model.options
    parts = _parts(model, method)
    seeds = np.random.SeedSequence([seed, 0x57A2]).generate_state(len(parts))
    with cmdstan.silenced(), _temporary_folder(model.name, method) as folder:

        def work(k: int) -> Draws:
            times = parts[k]
            part = model.at_times(times)
            task = ProgramRun(
                executable=executable,
                data=stan_data(part, sets.pick(times)),
                folder=folder / str(k),
                hyper=part.hyperparameters,
                draws=draws_a_chain(options.draws, options.chains) * options.chains,
                chains=options.chains,
                seed=int(seeds[k]),
                threads=threads.number if len(parts) == 1 else 1,
                pace=pace,
            )
            drawn = METHODS[method](task)
            shutil.rmtree(task.folder)
            return drawn

        return joined(in_threads(work, range(len(parts)), threads))


def _parts(model: Model, method: str) -> list[np.ndarray]:
    """One part, or one for each time where an approximation of independent times is asked for.

    The error at one time then does not affect the others. NUTS is as fast on all times at once.
    """
    n_times = len(model.times)
    if model.temporal or model.hyperparameters or method == "mcmc":
        return [np.arange(n_times)]
    return [np.array([t]) for t in range(n_times)]


@dataclass(frozen=True)
class ProgramRun:
    """One run of a program: its data, the number of draws, and a folder for its output."""

    executable: Path
    data: dict[str, object]
    folder: Path
    hyper: tuple[str, ...]
    draws: int
    chains: int
    seed: int
    threads: int
    pace: Pace

    def call(self, method: str, **arguments: object) -> Any:
        """Call a method of CmdStanPy's model on the data, in the folder."""
        import cmdstanpy

        self.folder.mkdir(parents=True, exist_ok=True)
        data = self.folder / "data.json"
        data.write_text(json.dumps(self.data))
        model = cmdstanpy.CmdStanModel(exe_file=str(self.executable))
        return getattr(model, method)(
            data=str(data), seed=self.seed, output_dir=str(self.folder), **arguments
        )


def sample(task: ProgramRun) -> Draws:
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
    # CmdStanPy has method variables as [draw, chain].
    energies = fit.method_variables()["energy__"].T
    return Draws(
        *_values(task, fit.stan_variable),
        divergences=int(fit.divergences.sum()),
        deep_trees=int(fit.max_treedepths.sum()),
        e_bfmi=min(energy_bfmi(chain) for chain in energies),
        acceptance=float(fit.method_variables()["accept_stat__"].mean()),
    )


def pathfinder(task: ProgramRun) -> Draws:
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
    variables = fit.method_variables()
    # Paths are written as they end, and this order depends on the number of threads.
    order = np.argsort(variables["path__"], kind="stable")
    log_weights = (variables["lp__"] - variables["lp_approx__"])[order]
    chosen = np.random.default_rng(task.seed).choice(
        order, size=task.draws, p=smoothed_weights(log_weights)
    )
    return Draws(theta[chosen], hyper[chosen], log_weights=(log_weights,))


def laplace(task: ProgramRun) -> Draws:
    """A normal approximation at the mode of the unconstrained parameters."""
    fit = task.call("laplace_sample", draws=task.draws, jacobian=True)
    variables = fit.method_variables()
    return Draws(
        *_values(task, fit.stan_variable),
        log_weights=(variables["log_p__"] - variables["log_q__"],),
    )


def advi(task: ProgramRun, algorithm: str) -> Draws:
    """Variational inference with independent normals, or with a full covariance."""
    fit = task.call(
        "variational",
        algorithm=algorithm,
        draws=task.draws,
        require_converged=False,  # Pareto-k judges the result
    )
    variables = fit.variational_sample_pd
    return Draws(
        *_values(task, partial(fit.stan_variable, mean=False)),
        log_weights=((variables["log_p__"] - variables["log_g__"]).to_numpy(),),
    )


METHODS: dict[str, Callable[[ProgramRun], Draws]] = {
    "mcmc": sample,
    "pathfinder": pathfinder,
    "laplace": laplace,
    "advi-meanfield": partial(advi, algorithm="meanfield"),
    "advi-fullrank": partial(advi, algorithm="fullrank"),
}


def _values(
    task: ProgramRun, variable: Callable[[str], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """theta[draw, T, n] and the hyperparameters [draw, H] of a fit."""
    theta = np.ascontiguousarray(variable("theta").transpose(0, 2, 1))
    hyper = [np.asarray(variable(name)).reshape(-1) for name in task.hyper]
    return theta, np.stack(hyper, axis=1) if hyper else np.empty((len(theta), 0))


@contextmanager
def _temporary_folder(model: str, method: str) -> Iterator[Path]:
    """A folder for a program's output; failures inside it become a StanError."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="polarbear-stan-"))
    except OSError as error:
        raise StanError(_no_room(Path(tempfile.gettempdir()), str(error.strerror))) from None
    try:
        yield folder
    except (OSError, RuntimeError, ValueError) as error:
        raise StanError(_why(error, folder, model, method)) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _why(error: Exception, folder: Path, model: str, method: str) -> str:
    """One sentence on why there are no draws, with the program's last output."""
    is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    last_output = _last_output(folder)
    if is_full or "disk full" in last_output:
        return _no_room(folder.parent, "no space left")
    failed = _failed_chains(str(error))
    which = f" ({', '.join(failed)})" if failed else ""
    return (
        f"the Stan program of '{model}' ended without result during '{method}'{which}; nothing was "
        f"stored. Its last output: {last_output or str(error).strip()}"
    )


def _failed_chains(error: str) -> list[str]:
    """The chains that failed, by the exit codes in an error of CmdStanPy."""
    match = re.search(r"retcodes=\[([^\]]*)\]", error)
    if match is None:
        return []
    failed = []
    for chain, text in enumerate(match.group(1).split(","), start=1):
        code = int(text)
        if code < 0:
            failed.append(f"chain {chain}: killed by signal {-code}")
        elif code > 0:
            failed.append(f"chain {chain}: code {code}")
    return failed


def _last_output(folder: Path) -> str:
    """The end of the output of failed programs, those with an error first."""
    texts = [path.read_text(errors="replace") for path in sorted(folder.rglob("*stdout.txt"))]
    texts.sort(key=lambda text: "rror" not in text and "xception" not in text)
    lines = [line.strip() for line in next(iter(texts), "").splitlines() if line.strip()]
    return " / ".join(lines[-_MAX_LINES:])


def _no_room(folder: Path, reason: str) -> str:
    return (
        f"Stan cannot write to the temporary folder {folder} ({reason}); free space there, or set "
        "TMPDIR to another folder"
    )


def stan_data(model: Model, sets: ChoiceSets) -> dict[str, object]:
    """All data of a model's program, as plain numbers and lists."""
    data = {**_choice_sets(sets), **model.stan_data()}
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in data.items()
    }


def _choice_sets(sets: ChoiceSets) -> StanData:
    """Sets as rows of a sparse matrix whose columns are algorithms within times."""
    n = sets.n_algorithms
    member = sets.members()
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
