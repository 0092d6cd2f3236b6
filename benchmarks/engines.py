"""The cost and the error of both engines and all their methods, on one data set.

It is called by benchmarks/inference.py. Errors are greatest differences of probabilities of
dominance, at one time or at all of them, to a long run of Stan's NUTS; ``trust`` means that no
probability is off by more than 0.02 beyond the reference's own error.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from polarbear.errors import StanError
from polarbear.inference import ModelOptions, Posterior, infer
from polarbear.inference.relations import joint, pointwise
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets

HEADING = "## Both engines, all methods"
ALGORITHMS = 5
INSTANCES = 30
TIMES = 20
DRAWS = 4000
REFERENCE_DRAWS = 16_000
METHODS = (
    ("native", "split-hmc"),
    ("native", "laplace"),
    ("stan", "mcmc"),
    ("stan", "pathfinder"),
    ("stan", "laplace"),
    ("stan", "advi-meanfield"),
    ("stan", "advi-fullrank"),
)
MAX_ERROR = 0.02


def section(models: Sequence[str]) -> list[str]:
    """The table, and a line on each approximation.

    The row of a method that gives no draws has Stan's message instead.
    """
    rng = np.random.default_rng(5)
    mu = np.outer(np.cos(np.linspace(0, 2, TIMES)), np.linspace(1, -1, ALGORITHMS))
    sets = count_choice_sets(rank(-(mu.T + rng.gumbel(size=(INSTANCES, ALGORITHMS, TIMES)))))
    grid = np.linspace(0, 1, TIMES)
    lines = [
        HEADING,
        "",
        f"n {ALGORITHMS}, P {INSTANCES}, T {TIMES}, {DRAWS:,} draws, programs compiled before; "
        "seconds of all processors together; errors against Stan's NUTS with "
        f"{REFERENCE_DRAWS:,} draws, the greatest of any pair and time; ESS is the least of any "
        "rating's. ESS of an approximation counts its draws, not how good they are.",
        "",
        "| model | engine | method | CPU s | ESS/s | error, one time | error, all times | Pareto-k "
        "| trust |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    trusted: dict[str, list[str]] = {}
    for model in models:
        stan = ModelOptions(
            model=model, dependence="independent", engine="stan", draws=REFERENCE_DRAWS
        )
        reference = infer(sets, grid, stan, seed=7)
        assert reference.usable, (model, reference.diagnostics)
        for engine, method in METHODS:
            options = stan.model_copy(update={"engine": engine, "method": method, "draws": DRAWS})
            try:
                # The first call loads the program, so its time is not measured.
                infer(sets, grid, options.model_copy(update={"draws": 400}), seed=1)
                start = _cpu_seconds()
                posterior = infer(sets, grid, options, seed=1)
            except StanError as error:
                message = str(error).rsplit(" / ", 1)[-1].split(". ")[0]
                line = f"| {model} | {engine} | {method} | {message} | | | | | **no** |"
                is_trusted = False
            else:
                line, is_trusted = _row(posterior, reference, _cpu_seconds() - start)
            print(line, flush=True)
            lines.append(line)
            if engine == "stan" and method != "mcmc":
                trusted.setdefault(method, [])
                if is_trusted:
                    trusted[method].append(model)
    return [*lines, "", *_verdict(trusted, models)]


def _cpu_seconds() -> float:
    """CPU seconds of this process and of the programs that it has run."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _row(posterior: Posterior, reference: Posterior, seconds: float) -> tuple[str, bool]:
    """The row of one method, and whether its draws are trusted."""
    estimate = pointwise(posterior)
    truth = pointwise(reference)
    error = float(np.abs(estimate.dominance - truth.dominance).max())
    standard_error = float(np.hypot(truth.dominance_error, estimate.dominance_error).max())
    error_at_all_times = ""
    if posterior.joint:
        difference = joint(posterior).dominance - joint(reference).dominance
        error_at_all_times = f"{np.abs(difference).max():.3f}"
    diagnostics = posterior.diagnostics
    pareto_k = "" if diagnostics.pareto_k is None else f"{diagnostics.pareto_k:.2f}"
    is_trusted = error < MAX_ERROR + 2 * standard_error
    line = (
        f"| {posterior.model} | {posterior.engine} | {posterior.method} | {seconds:.2f} "
        f"| {diagnostics.ess_bulk / seconds:,.0f} | {error:.3f} | {error_at_all_times} "
        f"| {pareto_k} | {'yes' if is_trusted else '**no**'} |"
    )
    return line, is_trusted


def _verdict(trusted: dict[str, list[str]], models: Sequence[str]) -> list[str]:
    """The models for which each approximation is trusted."""
    lines = [
        f"An approximation is trusted here if no probability at one time is off by {MAX_ERROR} "
        "beyond two standard errors of the comparison:",
        "",
    ]
    for method, trusted_models in trusted.items():
        others = ", ".join(model for model in models if model not in trusted_models)
        lines.append(
            f"- `{method}`: {', '.join(trusted_models) or 'no model'}; not {others or 'none'}."
        )
    return lines
