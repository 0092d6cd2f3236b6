"""The cost of a page: seconds to write it, its size, and its response times in a browser.

    python benchmarks/report.py [--quick-start STORE] [--write benchmarks/results/report.md]

The synthetic store has the size of the paper's MA-BBOB race: 7 algorithms, none of them eliminated,
which is the largest case, 200 times, 50 rounds of 8 instances, runs of 60 points. `polarbear
report` writes the page in a separate process; its seconds are those of all CPUs, and on an idle
machine the wall clock shows no more. The browser is Debian's Chromium, headless; the median of nine
openings counts, and the first one, with a cold browser, is shown next to it. A page is ready once
its selector shows a choice, and drawn once the visible charts are complete. The selector is then
moved, and a pair selected, once for each time of the grid: the median of their durations counts.
With a store of the quick start (`polarbear init`, `polarbear race`) its page is written, too. Exits
with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import gzip
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from targets import Row, report

from polarbear import racing as race
from polarbear.config.configuration import Config, parse
from polarbear.driver.kept_posteriors import store_posterior
from polarbear.driver.round_posterior import settings_kept, threats
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.facts.evidence import Evidence, ranked
from polarbear.inference import ModelOptions, Posterior
from polarbear.inference.beliefs import beliefs
from polarbear.inference.chain_diagnostics import Draws, diagnose
from polarbear.inference.relations import decision_tables
from polarbear.problems import Instance
from polarbear.rankings import GridValues
from polarbear.settings.options import Source
from polarbear.store import StoreOnDisk
from polarbear.store.runs import FinishedRun

NAMES = ("CSA", "MSR", "TPA", "XNES", "MXNES", "LPXNES", "RS")
ROUNDS = 50
BATCH = 8  # instances a round
POINTS = 60  # of each run
BUDGET = 60_000
DRAWS = 4000
GRID = {"from": 100, "to": BUDGET, "points": 200}
OPENINGS = 9
MAX_WAIT = 600  # seconds until a page is drawn, on the slowest machine


def make(path: Path) -> None:
    """A store as a race leaves it."""
    data = {
        "algorithms": [{"name": name, "use": "random-search"} for name in NAMES],
        "instances": {"suite": "classic"},
        "budget": {"grid": GRID},
        "race": {
            "alpha": 0.99,
            "elimination": "pointwise",
            "batch": {"start": BATCH, "min": BATCH, "max": BATCH},
        },
    }
    config = parse(data, Source("benchmark"))
    store = StoreOnDisk.create(path, config.stored())
    rng = np.random.default_rng(1)
    with store.writing():
        instances = [Instance(i, f"instance-{i}", {"i": i}) for i in range(ROUNDS * BATCH)]
        store.add_instances(instances, "classic")
        add_runs(store, config, instances, rng)
        add_rounds(store, config, rng)


def add_runs(
    store: StoreOnDisk, config: Config, instances: list[Instance], rng: np.random.Generator
) -> None:
    outcomes = []
    for instance in instances:
        for algorithm in config.algorithms:
            times = np.unique(np.round(np.geomspace(1, BUDGET, POINTS)))
            falls = rng.gamma(1.0, 0.3, len(times)).cumsum()
            values = 10.0 ** (2 - falls)
            task = Task(algorithm, instance, 1, BUDGET)
            outcomes.append(
                Outcome(task, Status.BUDGET, "", times, values, BUDGET, BUDGET, 1.0, 0, 1.7e9)
            )
    store.add_runs([FinishedRun.of(outcome, 2) for outcome in outcomes])


def add_rounds(store: StoreOnDisk, config: Config, rng: np.random.Generator) -> None:
    """Add rounds with ever more certain posteriors, in which each algorithm leads for some time."""
    times = config.budget.times
    rules = config.race
    state = race.start(NAMES, times.tolist(), rules)
    settings = settings_kept(config)
    for number in range(1, ROUNDS + 1):
        posterior, evidence = made_up_posterior(times, number, config.inference, rng)
        tables = decision_tables(posterior, rules.epsilon, "pointwise")
        horizons = race.horizons(state, rules) or dict.fromkeys(NAMES, float(BUDGET))
        state, decisions = race.step(state, rules, BATCH, tables)
        record = race.RoundRecord(
            state=state,
            decisions=decisions,
            first=state.instances - BATCH,
            drawn=BATCH,
            ran_to=horizons,
            evaluations=dict.fromkeys(NAMES, number * BATCH * BUDGET),
            threats=threats(state, tables),
            instances_to_go=0,
            draws=DRAWS,
            problems=(),
            posterior=posterior.key,
            settings=settings,
        )
        store.rounds.add(record, beliefs(posterior, state.candidates, rules.epsilon))
    store_posterior(store, evidence, posterior)


def made_up_posterior(
    times: np.ndarray, number: int, options: ModelOptions, rng: np.random.Generator
) -> tuple[Posterior, Evidence]:
    """Draws around curves that cross, with less spread in each round, and their evidence."""
    n = len(NAMES)
    unit_times = np.linspace(0, 1, len(times))
    best_times = np.linspace(0, 1, n)  # of each algorithm
    spread = 1.5 / np.sqrt(number)
    logits = -6 * (unit_times[:, None] - best_times) ** 2 + rng.normal(
        0, spread, (DRAWS, len(times), n)
    )
    theta = np.exp(logits)
    theta /= theta.sum(axis=2, keepdims=True)
    posterior = Posterior(
        theta=theta,
        algorithms=NAMES,
        times=times,
        chains=4,
        unit_times=unit_times,
        options=options,
        engine="native",
        method="made up",
        seed=1,
        seconds=0.0,
        diagnostics=diagnose(Draws(theta[:, ::40], np.empty((len(theta), 0))), 4),
        joint=False,
        instances=number * BATCH,
        key=f"{number:016x}",
    )
    instances = tuple(f"instance-{i}" for i in range(number * BATCH))
    values = rng.normal(size=(1, n, len(times)))
    evidence = ranked(GridValues(instances[:1], NAMES, times, values), unit_times)
    return posterior, evidence


def write_page(store: Path, page: Path, *options: str) -> tuple[float, float]:
    """Write the page by `polarbear report`; the seconds by the clock and of all CPUs."""
    arguments = ("report", str(store), "--html", str(page), "-q", *options)
    command = [sys.executable, "-m", "polarbear", *arguments]
    wall_start = perf_counter()
    cpu_start = children_cpu_seconds()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - wall_start, children_cpu_seconds() - cpu_start


def children_cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def quick_start(store: Path, folder: Path) -> list[Row]:
    """The seconds and sizes of the quick start's page, with and without its scripts."""
    page = folder / "quick-start.html"
    slim_page = folder / "slim.html"
    wall, cpu = write_page(store, page)
    write_page(store, slim_page, "--slim")
    size = page.stat().st_size / 1e6
    compressed_size = len(gzip.compress(page.read_bytes())) / 1e6
    slim_kilobytes = slim_page.stat().st_size / 1e3
    seconds = f"{cpu:.1f} s CPU ({wall:.1f} s by the clock)"
    return [
        Row("the quick start's page", seconds, "under 2.5 s", cpu < 2.5),
        Row("its size", f"{size:.2f} MB", "under 2 MB", size < 2),
        Row("its size, compressed", f"{compressed_size:.2f} MB", "under 1 MB", compressed_size < 1),
        Row("with --slim", f"{slim_kilobytes:.0f} kB", "under 500 kB", slim_kilobytes < 500),
    ]


# Move the selector and select a pair at each time; the median seconds of both.
INTERACTIONS = """
const done = arguments[0];
const move = (id, value) => {
  const input = document.getElementById(id);
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
};
const duels = document.getElementById("duels");
const untilShown = async (pair) => { while (duels.dataset.shown !== pair) await null; };
(async () => {
  const selectorTimes = [];
  const pairTimes = [];
  for (let i = 1; i < 200; i++) {
    let start = performance.now();
    move("budget", i);
    selectorTimes.push(performance.now() - start);
    start = performance.now();
    move("pair-at", i);
    const names = ["pair-a", "pair-b"].map((id) => document.getElementById(id).value);
    await untilShown([...names, i].join(" "));
    pairTimes.push(performance.now() - start);
  }
  const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)] / 1000;
  done([median(selectorTimes), median(pairTimes)]);
})();
"""


def browser_seconds(page: Path) -> tuple[np.ndarray, list[float]]:
    """Seconds of openings and of interactions.

    The first array has, for each opening, the seconds until the selector answers and until the
    charts are drawn. The list has the seconds of a move of the selector and of a pair's selection.
    """
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.support.wait import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for switch in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{switch}")
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_page_load_timeout(MAX_WAIT)
    driver.set_script_timeout(MAX_WAIT)
    is_drawn = "return performance.getEntriesByName('polarbear-draws').length > 0"
    marks = (
        "return ['answers', 'draws'].map("
        "name => performance.getEntriesByName(`polarbear-${name}`)[0].startTime / 1000)"
    )
    try:
        openings = []
        for _ in range(OPENINGS):
            driver.get(page.as_uri())
            WebDriverWait(driver, MAX_WAIT).until(lambda driver: driver.execute_script(is_drawn))
            openings.append(driver.execute_script(marks))
        return np.array(openings), driver.execute_async_script(INTERACTIONS)
    finally:
        driver.quit()


def browser_rows(page: Path) -> list[Row]:
    openings, (selector_seconds, pair_seconds) = browser_seconds(page)
    return [
        opening_row("until its selector answers in Chromium", openings[:, 0]),
        opening_row("until it draws in Chromium", openings[:, 1]),
        Row(
            "the selector, moved",
            f"{selector_seconds:.3f} s",
            "under 0.2 s",
            selector_seconds < 0.2,
        ),
        Row("a pair's duels", f"{pair_seconds:.3f} s", "under 0.1 s", pair_seconds < 0.1),
    ]


def opening_row(work: str, seconds: np.ndarray) -> Row:
    median = float(np.median(seconds))
    measured = f"{median:.2f} s (the first time {seconds[0]:.2f} s)"
    return Row(work, measured, "under 2 s", median < 2)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, metavar="FILE", help="keep the result in this file")
    parser.add_argument(
        "--quick-start", type=Path, metavar="STORE", help="a store of the quick start"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        page = Path(folder) / "page.html"
        make(store)
        wall, cpu = write_page(store, page)
        size = page.stat().st_size / 1e6
        rows = [
            Row(
                f"a page of {len(NAMES)} algorithms, {GRID['points']} times and {ROUNDS} rounds",
                f"{cpu:.1f} s CPU ({wall:.1f} s by the clock)",
                "under 5 s",
                cpu < 5,
            ),
            Row("its size", f"{size:.2f} MB", "under 3.5 MB", size < 3.5),
        ]
        if args.quick_start:
            rows += quick_start(args.quick_start, Path(folder))
        if shutil.which("chromium") and shutil.which("chromedriver"):
            rows += browser_rows(page)
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} processors; {load:.1f} processes wanted one in the last minute")
    if args.write:
        args.write.write_text(markdown(rows, load))
    return report(rows)


def markdown(rows: list[Row], load: float) -> str:
    lines = [
        "# The report's page",
        "",
        f"`python benchmarks/report.py` on {os.cpu_count()} processors; in the last minute "
        f"{load:.1f} processes wanted one on average, this one among them.",
        "",
        "| work | measured | target | reached |",
        "|---|---|---|---|",
        *(
            f"| {row.work} | {row.measured} | {row.target} | {'yes' if row.met else 'no'} |"
            for row in rows
        ),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
