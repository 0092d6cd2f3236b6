"""Seconds that inference takes, warm, with targets and with ratios to other implementations.

    python benchmarks/inference.py --write benchmarks/results/inference.md

Ratios 'to a Python loop' compare with the same number of gradients of the ranking-by-ranking
likelihood, one of which is measured in the same run. ``--engines`` measures both engines and all
methods instead, and replaces that section of the file; it needs CmdStan. ``--numpyro`` adds
NumPyro's NUTS on the ranking-by-ranking likelihood of the bspline model, compared by effective
draws a CPU second. Exits with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import engines
import numpy as np

from polarbear.inference import ModelOptions, Posterior, infer
from polarbear.inference.models import MODELS
from polarbear.inference.models.base import rating_model
from polarbear.inference.relations import joint, pointwise
from polarbear.inference.stan.programs import programmed_models
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets


def utilities(n: int, n_times: int) -> np.ndarray:
    """Utilities mu[T, n] whose order is reversed once over time."""
    return np.outer(np.cos(np.linspace(0, 2, n_times)), np.linspace(1, -1, n))


def positions(n: int, instances: int, n_times: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rank(-(utilities(n, n_times).T + rng.gumbel(size=(instances, n, n_times))))


def grid(n_times: int) -> np.ndarray:
    return np.linspace(0, 1, n_times) if n_times > 1 else np.zeros(1)


@dataclass(frozen=True)
class Timing:
    """Wall and CPU seconds of a call, and the value that it returned."""

    wall: float
    cpu: float
    result: Any = None


def timed(call: Callable[[], object], repetitions: int = 2) -> Timing:
    """The least seconds of some calls, warm: a first call is not counted."""
    call()
    wall = np.inf
    cpu = np.inf
    for _ in range(repetitions):
        wall_start = time.perf_counter()
        cpu_start = time.process_time()
        result = call()
        wall = min(wall, time.perf_counter() - wall_start)
        cpu = min(cpu, time.process_time() - cpu_start)
    return Timing(wall, cpu, result)


def python_gradient_seconds(ranks: np.ndarray, mu: np.ndarray) -> float:
    """Seconds of one gradient of the likelihood, ranking by ranking.

    They are extrapolated from a tenth of the instances.
    """
    orders = np.argsort(ranks, axis=1)
    sampled_instances = range(0, len(ranks), 10)
    start = time.perf_counter()
    gradient = np.zeros_like(mu)
    for p in sampled_instances:
        for t in range(mu.shape[0]):
            order = orders[p, :, t]
            weight = np.exp(mu[t, order])
            rest = np.cumsum(weight[::-1])[::-1]
            gradient[t, order] += 1 - weight * np.cumsum(1 / rest)
    return (time.perf_counter() - start) / len(sampled_instances) * len(ranks)


def describe(posterior: Posterior) -> str:
    d = posterior.diagnostics
    return f"ESS {d.ess_bulk:.0f}, tail {d.ess_tail:.0f}, R-hat {d.r_hat:.4f}"


def dirichlet_rows() -> list[str]:
    ranks = positions(7, 1000, 200)
    sets = count_choice_sets(ranks)
    options = ModelOptions(model="dirichlet", draws=4000)

    def run() -> Posterior:
        posterior = infer(sets, grid(200), options, seed=1)
        pointwise(posterior)
        return posterior

    with_pairs = timed(run)
    python_loop = python_gradient_seconds(ranks, utilities(7, 200)) * 4000
    comment = f"{describe(with_pairs.result)}; {python_loop / with_pairs.wall:,.0f} x a Python loop"
    rows = [row("dirichlet n 7, T 200, P 1,000, 4,000 draws a time, all pairs", with_pairs,
                "1.5 s wall", with_pairs.wall <= 1.5, comment)]  # fmt: skip
    sets_of_10_000 = count_choice_sets(positions(7, 10_000, 200))
    of_10_000 = timed(lambda: infer(sets_of_10_000, grid(200), options, seed=1))
    of_1_000 = timed(lambda: infer(sets, grid(200), options, seed=1))
    growth = of_10_000.cpu / of_1_000.cpu - 1
    rows.append(row("the same without pairs, P 10,000 instead of 1,000", of_10_000,
                    "below 10 % more", growth < 0.1, f"{growth:+.1%} CPU"))  # fmt: skip
    sets_of_30 = count_choice_sets(positions(30, 100, 1))
    of_30 = timed(lambda: infer(sets_of_30, grid(1), options, seed=1))
    rows.append(row("dirichlet n 30, P 100, one time, 4,000 draws", of_30, "0.3 s wall",
                    of_30.wall <= 0.3, describe(of_30.result)))  # fmt: skip
    return rows


def counting_rows() -> list[str]:
    values = np.random.default_rng(0).normal(size=(10_000, 7, 200))
    counting = timed(lambda: count_choice_sets(rank(values)), 1)
    tie = timed(lambda: count_choice_sets(rank(np.zeros((1, 10, 1)))))
    terms = len(tie.result.masks)
    return [
        row("ranking and counting 2 million rankings of 7", counting, "2 s", counting.wall <= 2,
            ""),
        row("a 10-way tie, exactly", tie, "1,023 terms", terms <= 1023, f"{terms} terms"),
    ]  # fmt: skip


def in_full(model: str) -> ModelOptions:
    """Options under which every ranking counts in full, since these are drawn independently."""
    return ModelOptions(model=model, dependence="independent", draws=8000)


def temporal_rows() -> list[str]:
    rows = []
    for n_times, limit in ((60, 1.5), (100, 2.5), (1000, 15.0)):
        sets = count_choice_sets(positions(5, 30, n_times))
        timing = timed(lambda s=sets, t=n_times: infer(s, grid(t), in_full("gp"), 1), 1)
        rows.append(row(f"gp n 5, P 30, T {n_times:,}, 8,000 draws", timing, f"{limit} s wall",
                        timing.wall <= limit, describe(timing.result)))  # fmt: skip
    sets = count_choice_sets(positions(5, 30, 100))
    for model, limit in (("bspline", 3), ("random-walk", 5), ("hsgp", 3)):
        timing = timed(lambda m=model: infer(sets, grid(100), in_full(m), 1))
        diagnostics = timing.result.diagnostics
        is_met = timing.cpu <= limit and diagnostics.ess_tail > 5000 and diagnostics.r_hat < 1.005
        rows.append(row(f"{model} n 5, P 30, T 100, 8,000 draws", timing,
                        f"{limit} CPU s, tail ESS 5,000, R-hat 1.005", is_met,
                        describe(timing.result)))  # fmt: skip
    large = count_choice_sets(positions(10, 300, 100))
    for model in [name for name, model in MODELS.items() if model.temporal]:
        timing = timed(lambda m=model: infer(large, grid(100), in_full(m), 1), 1)
        rows.append(row(f"{model} n 10, P 300, T 100, 8,000 draws", timing, "20 s wall",
                        timing.wall <= 20, describe(timing.result)))  # fmt: skip
    pairs = timed(lambda p=timing.result: (pointwise(p), joint(p)), 1)
    rows.append(row("all pairs of the last, pointwise and joint", pairs, "-", True, ""))
    return rows


def first_use_row(model: str, limit: float | None) -> str:
    """The row of `polarbear infer` on a small store, before anything is compiled."""
    values = np.random.default_rng(0).normal(size=(10, 5, 20))
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "values.csv")
        store = str(Path(folder, "store"))
        rows = [f"a{a},i{i},{t + 1},{y}" for (i, a, t), y in np.ndenumerate(values)]
        table.write_text("\n".join(["algorithm,instance,t,y", *rows]) + "\n")
        command = [sys.executable, "-m", "polarbear"]
        quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([*command, "import", str(table), "--store", store], **quiet)
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder, "cache"))}
        wall_start = time.perf_counter()
        cpu_start = os.times().children_user
        infer_command = [*command, "infer", store, "--pairs", "--model", model]
        subprocess.run(infer_command, env=environment, **quiet)
        timing = Timing(
            wall=time.perf_counter() - wall_start, cpu=os.times().children_user - cpu_start
        )
    work = f"first use after installation: polarbear infer --pairs, {model}, n 5, P 10, T 20"
    target = "-" if limit is None else f"{limit:g} s"
    return row(work, timing, target, limit is None or timing.wall <= limit, "")


def numpyro_rows(warm_up: int, draws: int, precision: str) -> list[str]:
    """NumPyro's NUTS and our sampler on bspline, n 5, P 30, T 100, by tail ESS a CPU second.

    Single precision is NumPyro's default. Double precision is ours, and PyMC runs NumPyro in it.
    """
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    from polarbear.inference.chain_diagnostics import convergence_of
    from polarbear.inference.plackett_luce.likelihood import helmert

    numpyro.enable_x64(precision == "double")
    ranks = positions(5, 30, 100)
    sets = count_choice_sets(ranks)
    model = rating_model("bspline")(grid(100), 5, ModelOptions(model="bspline"))
    basis = np.zeros((100, model.size))
    for t, start in enumerate(model.starts):
        basis[t, start : start + model.basis.shape[1]] = model.basis[t]
    orders = jnp.asarray(np.argsort(ranks, axis=1).transpose(2, 0, 1))  # [T, P, n]
    contrast = jnp.asarray(helmert(5))

    def naive() -> None:
        sigma = numpyro.sample("sigma", dist.LogNormal(0.0, 0.5))
        beta = numpyro.sample("beta", dist.Normal(0, 1).expand([model.size, 4]))
        mu = numpyro.deterministic("mu", sigma * jnp.asarray(basis) @ beta @ contrast.T)
        chosen = jnp.take_along_axis(mu[:, None, :], orders, axis=2)
        rest = jax.lax.cumlogsumexp(chosen, axis=2, reverse=True)
        numpyro.factor("rankings", (chosen - rest).sum())

    ours = timed(lambda: infer(sets, grid(100), in_full("bspline"), 1))
    sampler = numpyro.infer.MCMC(
        numpyro.infer.NUTS(naive), num_warmup=warm_up, num_samples=draws, num_chains=2,
        chain_method="sequential", progress_bar=False,
    )  # fmt: skip
    wall_start = time.perf_counter()
    cpu_start = time.process_time()
    sampler.run(jax.random.PRNGKey(0))
    mu = np.asarray(sampler.get_samples()["mu"], dtype=float)
    theirs = Timing(wall=time.perf_counter() - wall_start, cpu=time.process_time() - cpu_start)
    theta = np.exp(mu - np.logaddexp.reduce(mu, axis=2, keepdims=True))
    convergence = convergence_of(theta.reshape(len(theta), -1), 2)
    r_hat = float(convergence[:, 0].max())
    ess_tail = float(convergence[:, 2].min())
    ratio = (ours.result.diagnostics.ess_tail / ours.cpu) / (ess_tail / theirs.cpu)
    return [
        row(f"NumPyro NUTS, {precision}, bspline T 100, 2 x ({warm_up} + {draws})", theirs, "-",
            True,
            f"tail ESS {ess_tail:.0f}, R-hat {r_hat:.3f}"),
        row(f"ours, tail ESS a CPU second against NumPyro, {precision}", ours, "300 x",
            ratio >= 300,
            f"{describe(ours.result)}; {ratio:,.0f} x"),
    ]  # fmt: skip


def row(work: str, timing: Timing, target: str, is_met: bool, comment: str) -> str:
    text = (
        f"| {work} | {timing.wall:.2f} | {timing.cpu:.2f} | {target} "
        f"| {'yes' if is_met else '**no**'} | {comment} |"
    )
    print(text, flush=True)
    return text


def compare_engines(models: list[str], file: Path | None) -> int:
    lines = engines.section(models)
    if file:
        text = file.read_text() if file.exists() else ""
        before = text.split(engines.HEADING)[0].rstrip()
        file.write_text("\n".join([before, "", *lines]) + "\n")
    return 0


def after_heading(file: Path, heading: str) -> list[str]:
    """The part of the file from a heading on, which another measurement has written."""
    text = file.read_text() if file.exists() else ""
    _, separator, section = text.partition(heading)
    return ["", heading + section.rstrip()] if separator else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numpyro", action="store_true", help="measure against NumPyro as well")
    parser.add_argument("--write", type=Path, help="a Markdown file for the result")
    parser.add_argument("--engines", action="store_true", help="only both engines, all methods")
    parser.add_argument("--models", nargs="*", help="with --engines: only these")
    args = parser.parse_args()
    if args.engines:
        return compare_engines(args.models or programmed_models(), args.write)
    rows = [
        "# Inference: speed",
        "",
        f"{platform.machine()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} when "
        "begun; seconds of wall clock and of all CPUs, warm, better of two.",
        "",
        "| work | wall | CPU | target | reached | |",
        "|---|---|---|---|---|---|",
        *counting_rows(),
        *dirichlet_rows(),
        *temporal_rows(),
        first_use_row("dirichlet", 12),
        first_use_row("gp", None),
    ]
    if args.numpyro:
        rows += numpyro_rows(500, 1000, "single") + numpyro_rows(500, 1000, "double")
    if args.write:
        other_section = after_heading(args.write, engines.HEADING)
        args.write.write_text("\n".join([*rows, *other_section]) + "\n")
    return int(any("**no**" in text for text in rows))


if __name__ == "__main__":
    sys.exit(main())
