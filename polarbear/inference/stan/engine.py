"""The Stan engine: a model and choice sets in, a checked posterior out."""

from __future__ import annotations

import errno
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from polarbear.errors import InferenceError, StanError
from polarbear.inference.chain_diagnostics import diagnose, pareto_k
from polarbear.inference.model_options import ModelOptions
from polarbear.inference.models.base import Model, rating_model
from polarbear.inference.posterior_draws import Diagnostics, Posterior, draws_a_chain
from polarbear.inference.stan import cmdstan, programs
from polarbear.inference.stan.methods import METHODS, SECOND, Drawn, Pace, Task
from polarbear.numerics.threads import available_processors, in_threads
from polarbear.rankings import ChoiceSets

_MAX_LINES = 6  # of a failed program's output


def run(
    sets: ChoiceSets,
    times: np.ndarray,
    options: ModelOptions,
    seed: int,
    notes: tuple[str, ...] = (),
    threads: int | None = None,
) -> Posterior:
    """Draw from the posterior; if NUTS's diagnostics fail, once more with more effort."""
    method = "mcmc" if options.method == "auto" else options.method
    if method not in METHODS:
        raise InferenceError(
            f"the stan engine has no method '{method}'; it has auto, {', '.join(METHODS)} "
            f"('{method}' is the native engine's)"
        )
    installed = cmdstan.find_for(method)
    executable = programs.compiled(programs.program_file(options.model), installed)
    begun = time.perf_counter()
    model = rating_model(options.model)(times, sets.n_algorithms, options)
    first = Pace(adapt_delta=model.stan_adapt_delta)
    for number, pace in enumerate((first, SECOND), start=1):
        drawn = _run(executable, method, model, sets, seed, pace, threads)
        diagnostics = _diagnostics_of(drawn, options.chains, number, threads)
        if diagnostics.passed or method != "mcmc":
            break
    hyper = drawn[0].hyper
    return Posterior(
        theta=np.concatenate([part.theta for part in drawn], axis=1),
        chains=options.chains,
        unit_times=times,
        options=options,
        engine="stan",
        method=method,
        seed=seed,
        seconds=time.perf_counter() - begun,
        diagnostics=diagnostics,
        joint=model.temporal,
        hyper=MappingProxyType({name: hyper[:, k] for k, name in enumerate(model.hyperparameters)}),
        notes=notes,
    )


def _run(
    executable: Path,
    method: str,
    model: Model,
    sets: ChoiceSets,
    seed: int,
    pace: Pace,
    threads: int | None,
) -> list[Drawn]:
    """Draws of each part of the grid that is run separately."""
    options = model.options
    processors = threads or available_processors()
    parts = _parts(model, method)
    seeds = np.random.SeedSequence([seed, 0x57A2]).generate_state(len(parts))
    with cmdstan.silenced(), _temporary_folder(model.name, method) as folder:

        def work(place: int) -> Drawn:
            times = parts[place]
            part = type(model)(model.times[times], model.n_algorithms, options)
            task = Task(
                executable=executable,
                data=stan_data(part, sets.pick(times)),
                folder=folder / str(place),
                hyper=part.hyperparameters,
                draws=draws_a_chain(options.draws, options.chains) * options.chains,
                chains=options.chains,
                seed=int(seeds[place]),
                threads=processors if len(parts) == 1 else 1,
                pace=pace,
            )
            drawn = METHODS[method](task)
            shutil.rmtree(task.folder)
            return drawn

        return in_threads(work, range(len(parts)), processors)


def _parts(model: Model, method: str) -> list[np.ndarray]:
    """One part, or one for each time where an approximation of independent times is asked for.

    The error at one time then does not affect the others. NUTS is as fast on all times at once.
    """
    n_times = len(model.times)
    if model.temporal or model.hyperparameters or method == "mcmc":
        return [np.arange(n_times)]
    return [np.array([t]) for t in range(n_times)]


def _diagnostics_of(
    drawn: list[Drawn], chains: int, attempts: int, threads: int | None
) -> Diagnostics:
    """The worst of all parts."""
    weights = [part.log_weights for part in drawn if part.log_weights is not None]
    energies = [part.e_bfmi for part in drawn if part.e_bfmi is not None]
    acceptances = [part.acceptance for part in drawn if part.acceptance is not None]
    return diagnose(
        np.concatenate([part.theta for part in drawn], axis=1),
        chains,
        divergences=sum(part.divergences for part in drawn),
        pareto_k=max(map(pareto_k, weights)) if weights else None,
        acceptance=float(np.mean(acceptances)) if acceptances else None,
        attempts=attempts,
        deep_trees=sum(part.deep_trees for part in drawn),
        e_bfmi=min(energies) if energies else None,
        threads=threads,
    )


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
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    said = _last_output(folder)
    if full or "disk full" in said:
        return _no_room(folder.parent, "no space left")
    codes = re.search(r"retcodes=\[([^\]]*)\]", str(error))
    failed = []
    for chain, code in enumerate(codes.group(1).split(",") if codes else [], start=1):
        if int(code) != 0:
            how = f"killed by signal {-int(code)}" if int(code) < 0 else f"code {int(code)}"
            failed.append(f"chain {chain}: {how}")
    which = f" ({', '.join(failed)})" if failed else ""
    words = said or str(error).strip()
    return (
        f"the Stan program of '{model}' ended without result during '{method}'{which}; nothing was "
        f"stored. Its last output: {words}"
    )


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


def stan_data(model: Model, sets: ChoiceSets) -> dict[str, Any]:
    """All data of a model's program, as plain numbers and lists."""
    data = {**_choice_sets(sets), **model.stan_data()}
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in data.items()
    }


def _choice_sets(sets: ChoiceSets) -> dict[str, Any]:
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
