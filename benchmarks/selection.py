"""How long a choice takes: every preference, risk profile, portfolio and sweep.

    python benchmarks/selection.py

A posterior of 8,000 draws, 200 times and 10 algorithms, none of them dominated. Seconds are of all
CPUs, the best of three, with one thread for linear algebra (a second one would count its waiting):
with nothing else running, wall clock takes no longer. Beside them stands how many times as long
plain loops over draws take (some draws, scaled up). Exits with 1 when a target is missed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import combinations_with_replacement
from pathlib import Path
from time import process_time

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")  # read at import

import numpy as np
from polarbear.select.candidates import undominated
from targets import Row, report

from polarbear.preferences import PREFERENCES, Context, Valuation, read_preference
from polarbear.select import best_portfolios, judge, sweep, value_of_information

DRAWS, TIMES, ALGORITHMS, SLOTS = 8000, 200, 10, 4
GRID = np.geomspace(10.0, 100_000.0, TIMES)
TEXTS = {
    "at": "at 5000",
    "between": "between 3600 and 7200",
    "normal": "normal 5000 500",
    "lognormal": "lognormal 5000 1",
    "triangular": "triangular 1000 5000 20000",
    "exponential": "exponential 5000",
    "budgets": "budgets past.txt",
    "weights": "weights weights.csv",
    "mix": "0.5 * worst-case + 0.5 * at 5000",
    "python": "worth.py:mean_log",
}
LOOPED_DRAWS = 40


def posterior() -> np.ndarray:
    """Draws as the store keeps them; each algorithm leads at some time."""
    rng = np.random.default_rng(1)
    place = np.linspace(0, 1, TIMES)[:, None]
    centre = np.linspace(0, 1, ALGORITHMS)
    logits = -8 * (place - centre) ** 2 + rng.normal(0, 0.3, (DRAWS, 1, ALGORITHMS))
    theta = np.exp(logits + rng.normal(0, 0.1, (DRAWS, TIMES, ALGORITHMS)))
    return (theta / theta.sum(axis=2, keepdims=True)).astype(np.float32)


def best_of_three(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(3):
        start = process_time()
        work()
        taken.append(process_time() - start)
    return min(taken)


def of_children(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(5):
        before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        work()
        taken.append(sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before)
    return min(taken)


def looped(theta: np.ndarray, valuation: Valuation, slots: list[tuple[int, ...]]) -> float:
    """Seconds that plain loops over draws and portfolios take, scaled up to all of both."""
    some = slots[:: max(1, len(slots) // 10)]
    start = process_time()
    for draw in range(LOOPED_DRAWS):
        values = []
        for items in some:
            curve = [sum(theta[draw, t, i] for i in items) for t in range(TIMES)]
            values.append(valuation.values(np.array(curve)[None, :, None]).item())
        max(values)
    return (process_time() - start) * DRAWS / LOOPED_DRAWS * len(slots) / len(some)


def whole_command(theta: np.ndarray, folder: Path) -> float:
    """CPU seconds of `polarbear select` on a store with this posterior, reading it included."""
    from polarbear.config import parse
    from polarbear.driver.evidence import Evidence
    from polarbear.inference import ModelOptions, Posterior
    from polarbear.inference.diagnostics import Diagnostics
    from polarbear.rankings import GridValues
    from polarbear.settings.options import Source
    from polarbear.store import Store
    from polarbear.store.posterior_tables import posterior_to_table

    draws, times, n = theta.shape
    names = tuple(f"algorithm {i}" for i in range(n))
    config = parse(
        {
            "algorithms": [{"name": name, "use": "random-search"} for name in names],
            "instances": {"suite": "classic"},
            "budget": {"axis": "seconds", "grid": {"from": 10, "to": 100_000, "points": times}},
        },
        Source("benchmark"),
    )
    store = Store.create(folder / f"store-{draws}", config.plain())
    values = GridValues((), names, config.budget.times, np.empty((0, n, times)))
    unit_times = config.budget.unit_times
    evidence = Evidence(values, unit_times, np.empty(0), None)  # type: ignore[arg-type]
    judged = Diagnostics(1.0, draws, draws, 0, None, None, 1)
    gp = ModelOptions(model="gp")
    made = Posterior(theta, 4, unit_times, gp, "native", "split-hmc", 1, 1.0, judged, True)
    with store.writing():
        store.posteriors.add("0" * 16, *posterior_to_table(made, evidence))
    command = [sys.executable, "-m", "polarbear", "select", str(store.path), "--json"]
    return of_children(lambda: subprocess.run(command, check=True, capture_output=True))


def main() -> int:
    theta = posterior()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "past.txt").write_text("\n".join(map(str, range(100, 9000, 10))))
        (folder / "weights.csv").write_text("t,weight\n10,1\n5000,3\n100000,0\n")
        (folder / "worth.py").write_text(
            "import numpy as np\ndef mean_log(theta):\n    return np.log(theta).mean(axis=-1)\n"
        )
        context = Context(GRID, folder=name)
        singles = [(i,) for i in range(ALGORITHMS)]
        for kind in PREFERENCES:
            preference, _ = read_preference(TEXTS.get(kind, kind))
            seconds = best_of_three(lambda p=preference: judge(p.on(context).values(theta)))
            ratio = looped(theta, preference.on(context), singles) / seconds
            measured = f"{seconds:.3f} s, loops x {ratio:,.0f}"
            rows.append(Row(f"all criteria, {preference.text}", measured, "0.5 s", seconds < 0.5))
        seconds = best_of_three(lambda: undominated(theta))
        rows.append(Row("who competes", f"{seconds:.3f} s", "0.5 s", seconds < 0.5))
        for text in ("at 5000", "normal 5000 500"):
            preference, _ = read_preference(text)
            for risk in ("p2bb", "mean", "quantile"):
                seconds = best_of_three(
                    lambda p=preference, r=risk: sweep(theta, p.variations(context), r)
                )
                what = f"sweep of {text} by {risk}"
                rows.append(Row(what, f"{seconds:.3f} s", "0.5 s", seconds < 0.5))
        preference, _ = read_preference("uniform")
        values = preference.on(context).values(theta)
        seconds = best_of_three(lambda: value_of_information(values, 0))
        rows.append(Row("value of information", f"{seconds:.3f} s", "0.5 s", seconds < 0.5))
        every = list(combinations_with_replacement(range(ALGORITHMS), SLOTS))
        for text in ("uniform", "worst-case", "0.5 * worst-case + 0.5 * at 5000"):
            valuation = read_preference(text)[0].on(context)
            seconds = best_of_three(lambda v=valuation: best_portfolios(theta, v, SLOTS, "p2bb"))
            ratio = looped(theta, valuation, every) / seconds
            measured = f"{seconds:.3f} s, loops x {ratio:,.0f}"
            what = f"all {len(every)} portfolios of {SLOTS}, {text}"
            rows.append(Row(what, measured, "2 s", seconds < 2))
        start = whole_command(theta[:4, :2, :2], folder)
        whole = whole_command(theta, folder)
        measured = f"{whole - start:.2f} s + start {start:.2f} s"
        rows.append(
            Row("polarbear select, beyond its start", measured, "0.5 s", whole - start < 0.5)
        )
    return report(rows)


if __name__ == "__main__":
    sys.exit(main())
