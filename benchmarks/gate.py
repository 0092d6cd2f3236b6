"""How often `polarbear gate` alarms, rightly and wrongly, and how much time it takes.

Rows called *synthetic*: a candidate whose win rate is known at each of 20 times. Noise is
correlated over time (length 0.33 of the grid), independent or constant; a duel is a win or a loss.
Rows called *real*: pairs of optimisers on 200 instances of `classic`, of which each trial draws 100
in a random order. Both are replayed with the gate's looks and decisions. *Wastes 10 %* means that
every evaluation counts as 1 / 0.9 evaluations, with another random stream than the baseline.
Rows called *drift* replay histories of 30 merges. Rows called *command* are whole gates: a
candidate that crashes, and a C program on the axis of seconds.

    python benchmarks/gate.py --write benchmarks/results/gate.md
    python benchmarks/gate.py --trials 20 --rows 'synthetic*'
    python benchmarks/gate.py --seconds 1200    stops before a row for which no time is left
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom, rankdata

sys.path.insert(0, str(Path(__file__).parent))
import truths

import polarbear as pb
from polarbear.rankings.times_as_long import Trajectories
from polarbear.regression.detectable import detectable
from polarbear.regression.gate_decision import (
    GateDecision,
    GateVerdict,
    Level,
    Looks,
    decide,
    instances_for_failures,
    look_sizes,
    window_means,
    windows,
)
from polarbear.regression.history_files import Fingerprints, MergeResult
from polarbear.regression.merge_drift import comparisons
from polarbear.store import StoreOnDisk

TIMES = 20
LIMIT = 100
POPULATION = 200  # instances
MERGES = 30
LEVEL = Level(tolerance=0.05, error=0.05, alarm=0.05, seed=1)
OPTIMISER = '''
import numpy as np

def search(problem, seed, shrink=0.98, least=1e-3, crash=0):
    rng = np.random.default_rng(seed)
    width = np.asarray(problem.upper) - np.asarray(problem.lower)
    x = rng.uniform(problem.lower, problem.upper)
    y = problem(x)
    step = 0.3
    if crash and seed % crash == 0:
        raise RuntimeError("the matrix is singular")
    while True:
        moved = x + step * width * rng.standard_normal(len(x))
        trial = np.clip(moved, problem.lower, problem.upper)
        value = problem(trial)
        if value < y:
            x = trial
            y = value
        else:
            step = max(step * shrink, least)


def evolution(problem, seed):
    """The (1+1) evolution strategy with the one-fifth rule."""
    rng = np.random.default_rng(seed)
    width = np.asarray(problem.upper) - np.asarray(problem.lower)
    x = rng.uniform(problem.lower, problem.upper)
    y = problem(x)
    step = 0.2
    while True:
        moved = x + step * width * rng.standard_normal(len(x))
        trial = np.clip(moved, problem.lower, problem.upper)
        value = problem(trial)
        if value < y:
            x = trial
            y = value
            step *= 1.5
        else:
            step *= 1.5**-0.25


def differential_evolution(problem, seed, members=12):
    rng = np.random.default_rng(seed)
    lower = np.asarray(problem.lower)
    points = rng.uniform(problem.lower, problem.upper, (members, len(lower)))
    values = [problem(point) for point in points]
    while True:
        for k in range(members):
            a, b, c = points[rng.choice(members, 3, replace=False)]
            mutant = a + 0.6 * (b - c)
            is_mutant = rng.random(len(lower)) < 0.8
            trial = np.clip(np.where(is_mutant, mutant, points[k]), lower, problem.upper)
            value = problem(trial)
            if value <= values[k]:
                points[k] = trial
                values[k] = value
'''
STREAMS = ("search", *(f"search {k}" for k in range(2, 6)))
# Names, functions and options. Equal options with other names have other random streams.
VERSIONS: dict[str, tuple[str, dict[str, float]]] = {
    **{name: ("search", {}) for name in STREAMS},
    "does not shrink": ("search", {"shrink": 1.0}),
    "stops shrinking": ("search", {"least": 0.1}),
    "shrinks fast": ("search", {"shrink": 0.95}),
    "evolution": ("evolution", {}),
    "evolution 2": ("evolution", {}),
    "differential evolution": ("differential_evolution", {}),
    "differential evolution 2": ("differential_evolution", {}),
}
# Prints the seconds so far and a better value after each block of work.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
int main(int count, char **arguments) {
    long work = atol(arguments[1]);
    double start = now(), best = 1e9 + atol(arguments[2]) % 1000;
    volatile double x = 1.0;
    while (1) {
        for (long k = 0; k < work; k++) x = x * 1.0000001 + 1e-9;
        best *= 0.999;
        printf("%.9f %.12g\n", now() - start, best);
        fflush(stdout);
    }
}
"""
WORK = 400_000  # about a millisecond


# Scores of a duel by the logarithm of the ratio of times, positive for a win: the sign alone (what
# the gate uses), its signed rank among problems, and the logarithm itself, whole or cut off.
SCORES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "wins": np.sign,
    "signed ranks": lambda ratio: np.sign(ratio) * rankdata(np.abs(ratio), axis=0),
    "log ratios": lambda ratio: ratio,
    "log ratios up to 2": lambda ratio: np.clip(ratio, -np.log(2), np.log(2)),
    "log ratios up to 1.2": lambda ratio: np.clip(ratio, -np.log(1.2), np.log(1.2)),
}


@dataclass(frozen=True)
class Trial:
    """What a gate has said, after how many instances (or merges)."""

    verdict: GateVerdict
    instances: int
    note: str = ""


@dataclass(frozen=True)
class Row:
    """A kind of change, the goal for its verdicts, and whether a share of verdicts reaches it."""

    name: str
    goal: str
    trial: Callable[[int], Trial]
    verdict: GateVerdict = GateVerdict.WORSE
    least: float = 0.0
    most: float = 1.0
    max_trials: int | None = None  # Whole gates take long.


def replayed(scores: np.ndarray, level: Level, equal_times: np.ndarray | None = None) -> Trial:
    """The verdict of a gate on code that has changed.

    A bound that is crossed at a look is crossed in every later decision. If all looks together
    leave a gate undecided, so does each of them, and one decision suffices.
    """
    sizes = look_sizes(LIMIT)
    last = _decision(scores, sizes, level, equal_times)
    if last.verdict is GateVerdict.UNDECIDED and last.open_times:
        return Trial(GateVerdict.UNDECIDED, LIMIT)
    for number in range(1, len(sizes) + 1):
        decision = _decision(scores, sizes[:number], level, equal_times)
        if decision.verdict is not GateVerdict.UNDECIDED:
            break
    return Trial(decision.verdict, sizes[number - 1])


def _decision(
    scores: np.ndarray, sizes: list[int], level: Level, equal_times: np.ndarray | None
) -> GateDecision:
    n_problems = sizes[-1]
    looks = Looks(tuple(sizes), tuple(size / LIMIT for size in sizes))
    may_pass = n_problems >= instances_for_failures(level)
    if equal_times is not None:
        equal_times = equal_times[:n_problems]
    return decide(scores[:n_problems], looks, level, may_pass, equal_times=equal_times)


def synthetic(rates: np.ndarray, correlation: str) -> Callable[[int], Trial]:
    def trial(seed: int) -> Trial:
        rng = np.random.default_rng([seed, 7])
        noise = truths.normal_noise(LIMIT, correlation, rng, 1, TIMES)
        return replayed((noise[:, 0] < ndtri(rates)).astype(float), replace(LEVEL, seed=seed))

    return trial


@dataclass(frozen=True)
class Population:
    """Trajectories of optimisers on the same instances, by name; each has its own stream."""

    times: np.ndarray
    trajectories: dict[str, Trajectories]

    def values(self, name: str, factor: float = 1.0) -> np.ndarray:
        """Values on the grid of a version that needs this factor of evaluations."""
        return self.trajectories[name].values_at(self.times / factor)


def scores_of(new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """1 for a win, 0 for a loss, 1/2 for a draw."""
    return 0.5 * (new < old) + 0.5 * (new <= old)


def real(
    population: Callable[[], Population],
    candidate: str,
    factor: float = 1.0,
    longer: float | None = None,
    baseline: str = "search",
) -> Callable[[int], Trial]:
    """A candidate against the baseline, with a tolerance of win rates or in time (``longer``).

    Two streams of one optimiser change their places at random on each instance: among the stored
    runs, one of them is slightly better by chance.
    """

    def trial(seed: int) -> Trial:
        runs = population()
        rng = np.random.default_rng([seed, 18])
        instances = rng.permutation(POPULATION)[:LIMIT]
        is_exchanged = np.zeros((LIMIT, 1), dtype=bool)
        if candidate == f"{baseline} 2":
            is_exchanged = rng.random((LIMIT, 1)) < 0.5

        def values(version: str, other: str, factor: float) -> np.ndarray:
            of_version = runs.values(version, factor)[instances]
            return np.where(is_exchanged, runs.values(other, factor)[instances], of_version)

        new = values(candidate, baseline, factor)
        level = replace(LEVEL, seed=seed)
        scores = scores_of(new, values(baseline, candidate, 1.0))
        equal_times = None
        if longer is not None:
            level = replace(level, tolerance=0.0, longer=longer)
            equal_times = scores
            scores = scores_of(new, values(baseline, candidate, 1 + longer))
        return replayed(scores, level, equal_times)

    return trial


def populated(folder: Path) -> Population:
    """Runs of all versions on 400 instances, each with a separate random stream."""
    config = {
        "seed": 11,
        "seeds": "separate",
        "algorithms": [
            {"name": name, "use": "python", "function": f"{folder}/search.py:{function}"}
            | {"options": options}
            for name, (function, options) in VERSIONS.items()
        ],
        "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 5}},
        "budget": {"grid": {"from": 20, "to": 200, "points": TIMES}},
    }
    with pb.use_executor(pb.InProcess):  # Its runs are short, and do no harm.
        store = StoreOnDisk.open(pb.run(config, folder / "runs", instances=POPULATION).path)
    order = {name: k for k, name in enumerate(store.instances()["instance"].to_list())}
    runs: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {
        name: [(np.empty(0), np.empty(0))] * len(order) for name in VERSIONS
    }
    for run, t, y in store.trajectories(list(VERSIONS)):
        runs[run.algorithm][order[run.instance]] = (t, y)
    limit = store.settings.budget.limit
    trajectories = {
        name: Trajectories.of(of_version, [limit] * len(order)) for name, of_version in runs.items()
    }
    return Population(store.settings.budget.times, trajectories)


def drifting(
    population: Callable[[], Population], slope: float, own_streams: bool
) -> Callable[[int], Trial]:
    """Histories in which each merge needs more evaluations by a factor of 1 + slope.

    With ``own_streams`` each merge has another random stream: one of the stored ones at random for
    each instance. Otherwise merges differ in the number of evaluations only.
    """

    @cache
    def values_at(number: int) -> np.ndarray:
        factor = (1 + slope) ** number
        return np.stack([population().values(name, factor) for name in STREAMS])

    def trial(seed: int) -> Trial:
        rng = np.random.default_rng([seed, 19])
        instances = rng.permutation(POPULATION)[:LIMIT]
        results: list[MergeResult] = []
        for number in range(MERGES):
            stream = np.zeros(LIMIT, dtype=int)
            if own_streams:
                stream = rng.integers(0, len(STREAMS), LIMIT)
            values = values_at(number)[stream, instances]
            results.append(merge_result(population().times, values))
            if any(found.is_drift for found in comparisons(results, 0.05, 0.95)):
                return Trial(GateVerdict.WORSE, number + 1)
        return Trial(GateVerdict.UNDECIDED, MERGES)

    return trial


def merge_result(times: np.ndarray, values: np.ndarray) -> MergeResult:
    """The result of one merge of a replayed history."""
    names = tuple(f"instance {number}" for number in range(len(values)))
    return MergeResult(
        store="gate",
        algorithm="search",
        axis="evaluations",
        verdict=GateVerdict.UNDECIDED,
        tie_tolerance=0.0,
        fingerprints=Fingerprints("", "", "", ""),
        times=tuple(times.tolist()),
        instances=names,
        problems=names,
        values=tuple(map(tuple, values.tolist())),
    )


def log_ratios(population: Population, candidate: str, baseline: str, factor: float) -> np.ndarray:
    """By how much the winner reached the loser's value earlier: [instance, time], signed.

    A value that is never reached counts as reached at the end. The ratio changes its sign if the
    two versions are exchanged.
    """
    times = population.times
    limit = times[-1]
    new = population.trajectories[candidate]
    old = population.trajectories[baseline]
    new_values = new.values_at(times / factor)
    old_values = old.values_at(times)
    new_reaches = np.minimum(factor * new.first_times(old_values), limit)
    old_reaches = np.minimum(old.first_times(new_values), limit)
    new_first = np.minimum(factor * new.first_times(new_values), limit)
    old_first = np.minimum(old.first_times(old_values), limit)
    won = np.log(np.maximum(old_reaches / new_first, 1))
    lost = np.log(np.maximum(new_reaches / old_first, 1))
    is_won = new_values < old_values
    is_lost = new_values > old_values
    return np.where(is_won, won, np.where(is_lost, -lost, 0.0))


def finds_loss(scores: np.ndarray, signs: np.ndarray, error: float) -> bool:
    """Whether one look at all problems shows a loss, by the maximum over windows of times."""
    lost = window_means(-scores, windows(scores.shape[1])).astype(np.float32)
    lost /= np.sqrt(np.maximum(np.square(lost).sum(axis=0), 1e-12))
    bound = np.quantile((signs @ lost).max(axis=1), 1 - error)
    return bool(lost.sum(axis=0).max() > bound)


def score_rows(population: Population, n_trials: int) -> list[str]:
    """The share of trials in which each score finds a waste, and even versions to be worse."""
    titles = ["optimiser", "wasted", "trials", *SCORES]
    table = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    signs = np.random.default_rng(21).choice([-1, 1], (1000, LIMIT)).astype(np.float32)
    for name in ("search", "evolution", "differential evolution"):
        for waste in (0.1, 0.2, 0.0):
            factor = 1 / (1 - waste)
            ratios = log_ratios(population, f"{name} 2", name, factor)
            exchanged = log_ratios(population, name, f"{name} 2", factor)
            n_found = dict.fromkeys(SCORES, 0)
            for seed in range(n_trials):
                rng = np.random.default_rng([seed, 22])
                instances = rng.permutation(POPULATION)[:LIMIT]
                is_exchanged = rng.random((LIMIT, 1)) < 0.5
                drawn = np.where(is_exchanged, exchanged[instances], ratios[instances])
                for kind, score in SCORES.items():
                    n_found[kind] += finds_loss(score(drawn), signs, error=0.025)
            shares = [f"{count / n_trials:.0%}" for count in n_found.values()]
            table.append(f"| {name} | {waste:.0%} | {n_trials} | {' | '.join(shares)} |")
            print(table[-1], flush=True)
    return table


def detected(correlation: str) -> Callable[[int], Trial]:
    """Candidates with the loss at one time that `detectable` names for even duels of this noise."""

    def trial(seed: int) -> Trial:
        rng = np.random.default_rng([seed, 20])
        level = replace(LEVEL, seed=seed)
        sizes = look_sizes(LIMIT)
        looks = Looks(tuple(sizes), tuple(size / LIMIT for size in sizes))
        noise = truths.normal_noise(LIMIT, correlation, rng, 1, TIMES)[:, 0]
        could_show = detectable((noise < 0).astype(float), looks, level)
        if could_show is None or could_show.win_rate is None:
            return Trial(GateVerdict.IDENTICAL, LIMIT)
        fresh = truths.normal_noise(LIMIT, correlation, rng, 1, TIMES)[:, 0]
        scores = (fresh < 0).astype(float)
        is_lost = rng.random(LIMIT) < 1 - 2 * could_show.win_rate
        scores[is_lost, seed % TIMES] = 0.0
        decision = decide(scores, looks, level, may_pass=False)
        return Trial(decision.verdict, LIMIT, f"{could_show.win_rate:.2f}")

    return trial


def python(folder: Path, **options: float) -> dict[str, object]:
    return {"use": "python", "function": f"{folder}/search.py:search", "options": options}


def command(folder: Path, slowdown: float) -> dict[str, object]:
    return {"use": "command", "command": f"{folder}/program {WORK * slowdown:.0f} {{seed}}"}


def whole_gate(
    folder: Path, baseline: dict[str, object], candidate: dict[str, object], seconds: bool = False
) -> Callable[[int], Trial]:
    """A gate on real runs, each with other instances and seeds."""

    def trial(seed: int) -> Trial:
        config: dict[str, object] = {
            "seed": seed + 1,
            "algorithms": [{"name": "main", **baseline}, {"name": "branch", **candidate}],
            "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 5}},
            "budget": {"grid": {"from": 20, "to": 200, "points": TIMES}},
        }
        if seconds:
            names = [f"instance {k}" for k in range(LIMIT)]
            config["instances"] = {"suite": "files", "names": names}
            config["budget"] = {"axis": "seconds", "grid": {"from": 0.05, "to": 0.2, "points": 6}}
        trial_folder = tempfile.mkdtemp(dir=folder)
        result = pb.gate(config, baseline="main", candidate="branch", store=f"{trial_folder}/store")
        (pair,) = result.pairs
        note = pair.failed[0].instance if pair.failed else ""
        if pair.slowdown is not None:
            note = f"{pair.slowdown.ratio:.2f} times, {pair.slowdown.detectable:.0%} detectable"
        return Trial(result.verdict, pair.instances, note)

    return trial


def synthetic_rows() -> list[Row]:
    """Changes by which the candidate has a known win rate at each time."""
    even = np.full(TIMES, 0.5)
    late = np.where(np.arange(TIMES) < TIMES // 2, 0.5, 0.3)
    window = even.copy()
    window[9:11] = 0.3
    edge_window = np.where(window == 0.3, 0.45, 0.9)
    rows = []
    for noise in ("0", "0.33", "constant"):
        rows.append(Row(f"synthetic: even, noise {noise}", "", synthetic(even, noise), most=0.025))
        improved = synthetic(np.full(TIMES, 0.55), noise)
        rows.append(Row(f"synthetic: win rate 0.55, noise {noise}", "", improved, most=0.01))
    for noise in ("0.33", "constant"):
        for name, rates in (
            ("win rate 0.45", np.full(TIMES, 0.45)),
            ("win rate 0.45 in a window, 0.9 elsewhere", edge_window),
        ):
            at_the_edge = synthetic(rates, noise)
            rows.append(Row(f"synthetic: {name}, noise {noise}", "", at_the_edge, most=0.05))
        better = synthetic(np.full(TIMES, 0.7), noise)
        name = f"synthetic: win rate 0.7, noise {noise}"
        rows.append(Row(name, "", better, GateVerdict.BETTER, least=0.95))
        for name, rates, earlier in (
            ("win rate 0.35", np.full(TIMES, 0.35), {"0.33": 163, "constant": 93}),
            ("late, win rate 0.3", late, {"0.33": 188, "constant": 154}),
            ("early, win rate 0.3", late[::-1], {"0.33": 186, "constant": 154}),
            ("window of 10 %, win rate 0.3", window, {"0.33": 118, "constant": 156}),
        ):
            share = earlier[noise] / 200
            # Two standard errors of the difference of two samples.
            slack = 2 * np.sqrt(2 * share * (1 - share) / 200)
            trial = synthetic(rates, noise)
            rows.append(Row(f"synthetic: {name}, noise {noise}", "", trial, least=share - slack))
        goal = "0.85 to 0.95"
        name = f"synthetic: loses as detectable says, noise {noise}"
        rows.append(Row(name, goal, detected(noise), least=0.85, most=0.95, max_trials=60))
    return rows


def real_rows(population: Callable[[], Population]) -> list[Row]:
    """Changes of real optimisers, whose runs are made for the first trial."""
    rows = []
    for name in ("search", "evolution", "differential evolution"):
        for words, longer in (("", None), (", --tolerance 0%", 0.0), (", --tolerance 10%", 0.1)):
            same = real(population, f"{name} 2", longer=longer, baseline=name)
            row_name = f"real: {name}, other random stream{words}"
            rows.append(Row(row_name, "", same, most=0.025))
    for name in ("search", "evolution", "differential evolution"):
        for waste, least in ((0.1, 0.4), (0.2, 0.85)):
            factor = 1 / (1 - waste)
            for words, longer in ((", --tolerance 0%", 0.0), ("", None)):
                trial = real(population, f"{name} 2", factor, longer, name)
                today = 6 / 60 if waste == 0.1 else 17 / 60
                row_name = f"real: {name} wastes {waste:.0%}{words}"
                rows.append(Row(row_name, "", trial, least=today if longer is None else least))
    rows += [
        Row("real: the step does not shrink", "", real(population, "does not shrink"), least=0.95),
        Row("real: the step stops shrinking", "", real(population, "stops shrinking"), least=0.95),
        Row("real: the step shrinks fast", "no goal", real(population, "shrinks fast")),
    ]
    for words, own_streams in (("the same stream", False), ("other streams", True)):
        same = drifting(population, 0.0, own_streams)
        rows.append(Row(f"drift: none, {words}", "", same, most=0.05, max_trials=100))
        drift = drifting(population, 0.01, own_streams)
        name = f"drift: 1 % more a merge, {words}"
        rows.append(Row(name, "", drift, least=0.8, max_trials=60))
    return rows


def command_rows(folder: Path) -> list[Row]:
    """Whole gates: a candidate that crashes, and a C program that is slower."""
    same = python(folder)
    crashing = python(folder, crash=20)
    rows = [
        Row(
            "command: same code, common seeds",
            "identical after 8",
            whole_gate(folder, same, same),
            GateVerdict.IDENTICAL,
            least=1.0,
            max_trials=5,
        ),
        Row(
            "command: crashes on 5 %",
            "worse, instances named",
            whole_gate(folder, same, crashing),
            least=1.0,
            max_trials=10,
        ),
    ]
    for slowdown, least, most in (
        (48, 1.0, 1.0),
        (1.3, 1.0, 1.0),
        (1.1, 0.0, 1.0),
        (1, 0.0, 0.025),
    ):
        trial = whole_gate(folder, command(folder, 1), command(folder, slowdown), seconds=True)
        goal = "says if detectable" if slowdown == 1.1 else ""
        name = f"command: C program, {slowdown} times as slow"
        rows.append(Row(name, goal, trial, least=least, most=most, max_trials=4))
    return rows


def line(row: Row, trials: list[Trial], seconds: float) -> str:
    """The row of the table: how often each verdict was given, and after how many instances."""
    counts = [sum(trial.verdict is verdict for trial in trials) for verdict in GateVerdict]
    cells = [f"{count}" if count else "" for count in counts]
    n_instances = [trial.instances for trial in trials]
    notes = "; ".join(dict.fromkeys(trial.note for trial in trials[:3] if trial.note))
    share = sum(trial.verdict is row.verdict for trial in trials) / len(trials)
    is_reached = "yes" if _is_reached(row, share, len(trials)) else "no"
    has_goal = row.least > 0 or row.most < 1
    numbers = f"{len(trials)} | {' | '.join(cells)} | {np.median(n_instances):.0f}"
    verdict = is_reached if has_goal else ""
    per_trial = "" if np.isnan(seconds) else f"{seconds / len(trials):.2f}"
    return f"| {row.name} | {_goal(row)} | {verdict} | {numbers} | {per_trial} | {notes} |"


def _goal(row: Row) -> str:
    """The goal in words: worse at most 2.5 %."""
    if row.goal:
        return row.goal
    if row.least > 0:
        return f"{row.verdict} in at least {row.least:.0%}"
    return f"{row.verdict} in at most {row.most:.1%}"


def _is_reached(row: Row, share: float, n_trials: int) -> bool:
    """Whether a share reaches the goal, as far as chance allows with this number of trials.

    A rate of exactly the goal exceeds the permitted count with a probability of 2.5 %.
    """
    highest = binom.ppf(0.975, n_trials, row.most) / n_trials
    return bool(row.least <= share <= highest)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--rows", nargs="*", default=["*"], help="patterns of rows")
    parser.add_argument("--seconds", type=float, help="the time for all rows")
    parser.add_argument("--scores", type=int, default=0, help="trials of other scores of duels")
    parser.add_argument("--folder", type=Path, help="keep the runs of real rows here")
    parser.add_argument("--write", type=Path, help="a page; rows that are not measured stay")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = args.folder or Path(name)
        folder.mkdir(exist_ok=True)
        (folder / "search.py").write_text(OPTIMISER)
        (folder / "program.c").write_text(PROGRAM)
        compiled = ["cc", "-O1", "-o", f"{folder}/program", f"{folder}/program.c"]
        subprocess.run(compiled, check=True)

        @cache
        def population() -> Population:
            return populated(folder)

        rows = [*synthetic_rows(), *real_rows(population), *command_rows(folder)]
        lines = {}
        scores: list[str] = []
        if args.write and args.write.exists():
            lines, scores = earlier_lines(args.write.read_text())
        if args.scores:
            scores = score_rows(population(), args.scores)
        chosen = [row for row in rows if any(fnmatch(row.name, rule) for rule in args.rows)]
        begun = time.monotonic()

        def write() -> None:
            if args.write:
                table = [lines[row.name] for row in rows if row.name in lines]
                args.write.write_text(page(table, scores))

        write()
        for number, row in enumerate(chosen):
            left = np.inf
            if args.seconds is not None:
                left = (args.seconds - (time.monotonic() - begun)) / (len(chosen) - number)
            lines[row.name] = measured(row, args.trials, left)
            print(lines[row.name], flush=True)
            write()
    return 0


def earlier_lines(text: str) -> tuple[dict[str, str], list[str]]:
    """The lines of a page by the names of their rows, and the table of scores."""
    main_part, _, scores_part = text.partition(f"## {SCORES_TITLE}")
    tables = [
        [line for line in part.splitlines() if line.startswith("|")]
        for part in (main_part, scores_part)
    ]
    lines = {line.split("|")[1].strip(): line for line in tables[0] if ": " in line.split("|")[1]}
    return lines, tables[1]


def measured(row: Row, most: int, seconds: float) -> str:
    """The line of a row: as many trials as are wanted, or as fit into the seconds."""
    begun = time.monotonic()
    trials = []
    for seed in range(min(most, row.max_trials or most)):
        trials.append(row.trial(seed))
        if time.monotonic() - begun > seconds:
            break
    return line(row, trials, time.monotonic() - begun)


def page(table: list[str], scores: list[str]) -> str:
    """The page of results."""
    head = [f"| {' | '.join(TITLES)} |", "|---" * len(TITLES) + "|"]
    lines = ["# Gates on known changes", "", TEXT, "", *head, *table, ""]
    if scores:
        lines += [f"## {SCORES_TITLE}", "", SCORES_TEXT, "", *scores, ""]
    return "\n".join(lines)


TEXT = (
    "`python benchmarks/gate.py` describes the rows. Tolerance 0.05 unless the row says otherwise, "
    f"level 0.95, at most {LIMIT} instances; rows called *command* are whole gates, the others are "
    "replayed. *Reached* allows for chance: a rate of exactly the permitted one is called reached "
    "in 97.5 %. The number of trials is lower where time did not suffice. Lines "
    "without seconds are from another run of the script with the same seeds and decisions."
)
TITLES = (
    "change",
    "goal",
    "reached",
    "trials",
    *(verdict.value for verdict in GateVerdict),
    "median instances or merges",
    "seconds a trial",
    "notes",
)
SCORES_TITLE = "Other scores of a duel"
SCORES_TEXT = (
    "The gate counts wins. These scores also use by how much the winner was earlier. Each "
    "was tried in one look at 100 problems with tolerance 0 and an error of 2.5 %, by the maximum "
    "over the same windows of times. A score would have been chosen on *search* and validated on "
    "the other two; rows with 0 % are false alarms."
)

if __name__ == "__main__":
    sys.exit(main())
