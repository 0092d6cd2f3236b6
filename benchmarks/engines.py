"""Both engines and all their methods on one data set: what they cost, and how far they are off.

Called by benchmarks/inference.py. Errors are greatest differences of probabilities of dominance,
at one time or at all of them, to a long run of Stan's NUTS; ``trust`` means that no probability is
off by more than 0.02 beyond the reference's own error.
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
ALGORITHMS, INSTANCES, TIMES = 5, 30, 20
DRAWS, LONG = 4000, 16_000
METHODS = (
    ("native", "split-hmc"),
    ("native", "laplace"),
    ("stan", "mcmc"),
    ("stan", "pathfinder"),
    ("stan", "laplace"),
    ("stan", "advi-meanfield"),
    ("stan", "advi-fullrank"),
)
ACCEPTED = 0.02


def section(models: Sequence[str]) -> list[str]:
    """The table, and what it says about approximations; one that gives no draws says why."""
    rng = np.random.default_rng(5)
    mu = np.outer(np.cos(np.linspace(0, 2, TIMES)), np.linspace(1, -1, ALGORITHMS))
    sets = count_choice_sets(rank(-(mu.T + rng.gumbel(size=(INSTANCES, ALGORITHMS, TIMES)))))
    grid = np.linspace(0, 1, TIMES)
    lines = [
        HEADING,
        "",
        f"n {ALGORITHMS}, P {INSTANCES}, T {TIMES}, {DRAWS:,} draws, programs compiled before; "
        "seconds of all processors together; errors against Stan's NUTS with "
        f"{LONG:,} draws, the greatest of any pair and time; ESS is the least of any rating's. ESS "
        "of an approximation counts its draws, not how good they are.",
        "",
        "| model | engine | method | CPU s | ESS/s | error, one time | error, all times | Pareto-k "
        "| trust |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    trusted: dict[str, list[str]] = {}
    for model in models:
        stan = ModelOptions(model=model, dependence="independent", engine="stan", draws=LONG)
        reference = infer(sets, grid, stan, seed=7)
        assert reference.usable, (model, reference.diagnostics)
        for engine, method in METHODS:
            options = stan.model_copy(update={"engine": engine, "method": method, "draws": DRAWS})
            try:
                infer(sets, grid, options.model_copy(update={"draws": 400}), seed=1)  # warm
                begun = _cpu_seconds()
                posterior = infer(sets, grid, options, seed=1)
            except StanError as error:
                said = str(error).rsplit(" / ", 1)[-1].split(". ")[0]
                line, good = f"| {model} | {engine} | {method} | {said} | | | | | **no** |", False
            else:
                line, good = _row(posterior, reference, _cpu_seconds() - begun)
            print(line, flush=True)
            lines.append(line)
            if engine == "stan" and method != "mcmc":
                trusted.setdefault(method, []).extend([model] if good else [])
    return [*lines, "", *_verdict(trusted, models)]


def _cpu_seconds() -> float:
    """Of this process and of the programs it has run."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _row(posterior: Posterior, reference: Posterior, seconds: float) -> tuple[str, bool]:
    found, truth = pointwise(posterior), pointwise(reference)
    error = float(np.abs(found.dominance - truth.dominance).max())
    own = float(np.hypot(truth.dominance_error, found.dominance_error).max())
    at_all_times = ""
    if posterior.joint:
        apart = joint(posterior).dominance - joint(reference).dominance
        at_all_times = f"{np.abs(apart).max():.3f}"
    judged = posterior.diagnostics
    k = "" if judged.pareto_k is None else f"{judged.pareto_k:.2f}"
    good = error < ACCEPTED + 2 * own
    return (
        f"| {posterior.model} | {posterior.engine} | {posterior.method} | {seconds:.2f} "
        f"| {judged.ess_bulk / seconds:,.0f} | {error:.3f} | {at_all_times} | {k} "
        f"| {'yes' if good else '**no**'} |"
    ), good


def _verdict(trusted: dict[str, list[str]], compared: Sequence[str]) -> list[str]:
    lines = [
        f"An approximation is trusted here if no probability at one time is off by {ACCEPTED} "
        "beyond two standard errors of the comparison:",
        "",
    ]
    for method, models in trusted.items():
        rest = [model for model in compared if model not in models]
        lines.append(
            f"- `{method}`: {', '.join(models) or 'no model'}; not {', '.join(rest) or 'none'}."
        )
    return lines
