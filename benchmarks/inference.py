"""How long inference takes, warm, and how that compares: seconds, targets, ratios.

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
from pathlib import Path

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
    """mu[T, n] that cross once."""
    return np.outer(np.cos(np.linspace(0, 2, n_times)), np.linspace(1, -1, n))


def positions(n: int, instances: int, n_times: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rank(-(utilities(n, n_times).T + rng.gumbel(size=(instances, n, n_times))))


def grid(n_times: int) -> np.ndarray:
    return np.linspace(0, 1, n_times) if n_times > 1 else np.zeros(1)


class Timed:
    """Wall and CPU seconds of a call, warm: the better of two after a first."""

    def __init__(self, call: Callable[[], object], repetitions: int = 2) -> None:
        call()
        self.wall = self.cpu = np.inf
        for _ in range(repetitions):
            wall, cpu = time.perf_counter(), time.process_time()
            self.result = call()
            self.wall = min(self.wall, time.perf_counter() - wall)
            self.cpu = min(self.cpu, time.process_time() - cpu)


def python_gradient_seconds(places: np.ndarray, mu: np.ndarray) -> float:
    """One gradient of the likelihood, ranking by ranking, over a tenth of the instances."""
    orders = np.argsort(places, axis=1)
    some = range(0, len(places), 10)
    begun = time.perf_counter()
    gradient = np.zeros_like(mu)
    for p in some:
        for t in range(mu.shape[0]):
            order = orders[p, :, t]
            weight = np.exp(mu[t, order])
            rest = np.cumsum(weight[::-1])[::-1]
            gradient[t, order] += 1 - weight * np.cumsum(1 / rest)
    return (time.perf_counter() - begun) / len(some) * len(places)


def describe(posterior: Posterior) -> str:
    d = posterior.diagnostics
    return f"ESS {d.ess_bulk:.0f}, tail {d.ess_tail:.0f}, R-hat {d.r_hat:.4f}"


def dirichlet_rows() -> list[str]:
    places = positions(7, 1000, 200)
    sets = count_choice_sets(places)
    options = ModelOptions(model="dirichlet", draws=4000)

    def run() -> Posterior:
        posterior = infer(sets, grid(200), options, seed=1)
        pointwise(posterior)
        return posterior

    timed = Timed(run)
    loop = python_gradient_seconds(places, utilities(7, 200)) * 4000
    more = f"{describe(timed.result)}; {loop / timed.wall:,.0f} x a Python loop"
    rows = [row("dirichlet n 7, T 200, P 1,000, 4,000 draws a time, all pairs", timed, "1.5 s wall",
                timed.wall <= 1.5, more)]  # fmt: skip
    ten_times = count_choice_sets(positions(7, 10_000, 200))
    many = Timed(lambda: infer(ten_times, grid(200), options, seed=1))
    few = Timed(lambda: infer(sets, grid(200), options, seed=1))
    growth = many.cpu / few.cpu - 1
    rows.append(row("the same without pairs, P 10,000 instead of 1,000", many, "below 10 % more",
                    growth < 0.1, f"{growth:+.1%} CPU"))  # fmt: skip
    thirty = count_choice_sets(positions(30, 100, 1))
    timed = Timed(lambda: infer(thirty, grid(1), options, seed=1))
    rows.append(row("dirichlet n 30, P 100, one time, 4,000 draws", timed, "0.3 s wall",
                    timed.wall <= 0.3, describe(timed.result)))  # fmt: skip
    return rows


def counting_rows() -> list[str]:
    values = np.random.default_rng(0).normal(size=(10_000, 7, 200))
    timed = Timed(lambda: count_choice_sets(rank(values)), 1)
    tie = Timed(lambda: count_choice_sets(rank(np.zeros((1, 10, 1)))))
    terms = len(tie.result.masks)
    return [
        row("ranking and counting 2 million rankings of 7", timed, "2 s", timed.wall <= 2, ""),
        row("a 10-way tie, exactly", tie, "1,023 terms", terms <= 1023, f"{terms} terms"),
    ]


def in_full(model: str) -> ModelOptions:
    """Options under which every ranking counts in full: these are drawn independently."""
    return ModelOptions(model=model, dependence="independent", draws=8000)


def temporal_rows() -> list[str]:
    rows = []
    for n_times, limit in ((60, 1.5), (100, 2.5), (1000, 15.0)):
        sets = count_choice_sets(positions(5, 30, n_times))
        timed = Timed(lambda s=sets, t=n_times: infer(s, grid(t), in_full("gp"), 1), 1)
        rows.append(row(f"gp n 5, P 30, T {n_times:,}, 8,000 draws", timed, f"{limit} s wall",
                        timed.wall <= limit, describe(timed.result)))  # fmt: skip
    sets = count_choice_sets(positions(5, 30, 100))
    for model, limit in (("bspline", 3), ("random-walk", 5), ("hsgp", 3)):
        timed = Timed(lambda m=model: infer(sets, grid(100), in_full(m), 1))
        d = timed.result.diagnostics
        good = timed.cpu <= limit and d.ess_tail > 5000 and d.r_hat < 1.005
        rows.append(row(f"{model} n 5, P 30, T 100, 8,000 draws", timed,
                        f"{limit} CPU s, tail ESS 5,000, R-hat 1.005", good,
                        describe(timed.result)))  # fmt: skip
    large = count_choice_sets(positions(10, 300, 100))
    for model in [name for name, model in MODELS.items() if model.temporal]:
        timed = Timed(lambda m=model: infer(large, grid(100), in_full(m), 1), 1)
        rows.append(row(f"{model} n 10, P 300, T 100, 8,000 draws", timed, "20 s wall",
                        timed.wall <= 20, describe(timed.result)))  # fmt: skip
    timed = Timed(lambda p=timed.result: (pointwise(p), joint(p)), 1)
    rows.append(row("all pairs of the last, pointwise and joint", timed, "-", True, ""))
    return rows


def first_use_row(model: str, limit: float | None) -> str:
    """`polarbear infer` on a small store, before anything is compiled."""
    values = np.random.default_rng(0).normal(size=(10, 5, 20))
    with tempfile.TemporaryDirectory() as folder:
        table, store = Path(folder, "values.csv"), str(Path(folder, "store"))
        rows = [f"a{a},i{i},{t + 1},{y}" for (i, a, t), y in np.ndenumerate(values)]
        table.write_text("\n".join(["algorithm,instance,t,y", *rows]) + "\n")
        command = [sys.executable, "-m", "polarbear"]
        quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([*command, "import", str(table), "--store", store], **quiet)
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder, "cache"))}
        begun, before = time.perf_counter(), os.times()
        full = [*command, "infer", store, "--pairs", "--model", model]
        subprocess.run(full, env=environment, **quiet)
        timed = Timed.__new__(Timed)
        timed.wall = time.perf_counter() - begun
        timed.cpu = os.times().children_user - before.children_user
    what = f"first use after installation: polarbear infer --pairs, {model}, n 5, P 10, T 20"
    target = "-" if limit is None else f"{limit:g} s"
    return row(what, timed, target, limit is None or timed.wall <= limit, "")


def numpyro_rows(warm_up: int, draws: int, precision: str) -> list[str]:
    """NumPyro's NUTS on bspline, n 5, P 30, T 100, against ours by tail ESS a CPU second.

    Single precision is NumPyro's default, double is ours and what PyMC has NumPyro run in.
    """
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    from polarbear.inference.chain_diagnostics import convergence_of
    from polarbear.inference.plackett_luce.likelihood import helmert

    numpyro.enable_x64(precision == "double")
    places = positions(5, 30, 100)
    sets = count_choice_sets(places)
    model = rating_model("bspline")(grid(100), 5, ModelOptions(model="bspline"))
    basis = np.zeros((100, model.size))
    for t, start in enumerate(model.starts):
        basis[t, start : start + model.basis.shape[1]] = model.basis[t]
    orders = jnp.asarray(np.argsort(places, axis=1).transpose(2, 0, 1))  # [T, P, n]
    contrast = jnp.asarray(helmert(5))

    def naive() -> None:
        sigma = numpyro.sample("sigma", dist.LogNormal(0.0, 0.5))
        beta = numpyro.sample("beta", dist.Normal(0, 1).expand([model.size, 4]))
        mu = numpyro.deterministic("mu", sigma * jnp.asarray(basis) @ beta @ contrast.T)
        chosen = jnp.take_along_axis(mu[:, None, :], orders, axis=2)
        rest = jax.lax.cumlogsumexp(chosen, axis=2, reverse=True)
        numpyro.factor("rankings", (chosen - rest).sum())

    ours = Timed(lambda: infer(sets, grid(100), in_full("bspline"), 1))
    sampler = numpyro.infer.MCMC(
        numpyro.infer.NUTS(naive), num_warmup=warm_up, num_samples=draws, num_chains=2,
        chain_method="sequential", progress_bar=False,
    )  # fmt: skip
    wall, cpu = time.perf_counter(), time.process_time()
    sampler.run(jax.random.PRNGKey(0))
    mu = np.asarray(sampler.get_samples()["mu"], dtype=float)
    theirs = Timed.__new__(Timed)
    theirs.wall, theirs.cpu = time.perf_counter() - wall, time.process_time() - cpu
    theta = np.exp(mu - np.logaddexp.reduce(mu, axis=2, keepdims=True))
    found = convergence_of(theta.reshape(len(theta), -1), 2)
    tail = float(found[:, 2].min())
    ratio = (ours.result.diagnostics.ess_tail / ours.cpu) / (tail / theirs.cpu)
    return [
        row(f"NumPyro NUTS, {precision}, bspline T 100, 2 x ({warm_up} + {draws})", theirs, "-",
            True,
            f"tail ESS {tail:.0f}, R-hat {found[:, 0].max():.3f}"),
        row(f"ours, tail ESS a CPU second against NumPyro, {precision}", ours, "300 x",
            ratio >= 300,
            f"{describe(ours.result)}; {ratio:,.0f} x"),
    ]  # fmt: skip


def row(what: str, timed: Timed, target: str, reached: bool, more: str) -> str:
    text = (
        f"| {what} | {timed.wall:.2f} | {timed.cpu:.2f} | {target} "
        f"| {'yes' if reached else '**no**'} | {more} |"
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
    """What another measurement has written to the file from its heading on."""
    text = file.read_text() if file.exists() else ""
    _, found, rest = text.partition(heading)
    return ["", found + rest.rstrip()] if found else []


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
        kept = after_heading(args.write, engines.HEADING)
        args.write.write_text("\n".join([*rows, *kept]) + "\n")
    return int(any("**no**" in text for text in rows))


if __name__ == "__main__":
    sys.exit(main())
