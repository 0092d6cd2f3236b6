"""What a race needs to answer which algorithm to run at a budget, compared with irace.

    polarbear run configs/quickstart.yaml --instances 400 --store q
    polarbear run configs/mabbob-small.yaml --instances 300 --store mb
    polarbear run benchmarks/populations/o.yaml --instances 200 --store o
    polarbear run benchmarks/populations/g.yaml --instances 120 --store g
    python benchmarks/aim.py --population q=q,0.1 mb=mb o=o g=g --write benchmarks/results/aim.md

A population is a store in which every algorithm ran on every instance (`polarbear run`); it is the
truth. Both tools race on problems drawn from it with replacement, the same for both, at most 400 a
race. At each of five budgets an algorithm is right if it has the highest win rate against its
strongest rival on the whole population; its regret is the loss of that value. A row has

- the default race, once for all budgets, also when it is stopped at what irace costs, and the race
  that asks for the set alone;
- `race --for "at T"` once for each budget, each in a separate store, and with a grid of only T;
- irace's rules (peers/irace.py) once for each budget: one iteration over all algorithms, without
  elitism, firstTest 5, confidence 0.95, by the F-test or the t-test. In the row that says so, runs
  are shared between budgets. Where R and irace are installed, `--irace` races the real one;
- everything run up to the end, on as many problems as the default race could have paid for.

Differences between rows are paired by seed; a standard error is that of their mean over seeds.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from replay import Choices, by_duels, replay
from scipy.stats import rankdata

from polarbear.inference import ModelOptions, Posterior, infer
from polarbear.inference.strongest_rival import likeliest_best, p_best, rival_values
from polarbear.racing.rules import Rules
from polarbear.rankings import rank
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import read_preference
from polarbear.selection.preference_purpose import PreferencePurpose

sys.path.insert(0, str(Path(__file__).parents[1] / "studies"))

from peers import irace
from populations import Population, read

N_BUDGETS = 5
MOST_PROBLEMS = 400
LEVEL = 0.05  # of irace's tests
FOR_REGRET = 0.01  # the default of `--regret`
F_TEST = "irace's F-test at each budget"
ONLY_T = "the same, with a grid of only T"
FOR_EACH = "`race --for` at each budget"
EVERYTHING = "everything run at the cost of that"
ONE_RACE = "one default race"
STOPPED = "the same, stopped at the cost of irace's F-test"

Row = dict[str, float | str]


@dataclass(frozen=True)
class Answer:
    """The algorithm named at one budget, with P(best) and the expected regret that were said."""

    algorithm: int
    p_best: float | None = None
    regret: float | None = None


@dataclass(frozen=True)
class Raced:
    """The answers at the five budgets, and the cost of all runs."""

    spent: float
    answers: Sequence[Answer]


def true_values(people: Population) -> np.ndarray:
    """The win rate against the strongest rival on the whole population: [time, algorithm]."""
    n = len(people.names)
    values = np.ones((len(people.times), n))
    for a in range(n):
        for b in range(n):
            if a != b:
                of_a = people.values[:, a]
                of_b = people.values[:, b]
                wins = (of_a < of_b).mean(axis=0) + 0.5 * (of_a == of_b).mean(axis=0)
                values[:, a] = np.minimum(values[:, a], wins)
    return values


def budgets_of(people: Population) -> list[int]:
    """The indices of five budgets, spread evenly over the grid."""
    return np.linspace(0, len(people.times) - 1, N_BUDGETS).round().astype(int).tolist()


class Racer:
    """Races on one sample of a population."""

    def __init__(
        self, people: Population, rules: Rules, seed: int, draws: int, grid: Sequence[int]
    ) -> None:
        self._names = people.names
        self._times = people.times[list(grid)]
        self._unit = people.unit[list(grid)] if len(grid) > 1 else np.zeros(1)
        self._values = people.sample(seed, MOST_PROBLEMS)[:, :, list(grid)]
        self._rules = rules.under(temporal=False)
        self._seed = seed
        self._options = ModelOptions(draws=draws)

    def raced(
        self, preferences: Sequence[str], most: float = np.inf
    ) -> tuple[float, Posterior, list[int]]:
        """The cost, the posterior, and the algorithms that are not eliminated."""
        context = Context(self._times, joint=True)
        purposes = [
            PreferencePurpose(read_preference(text)[0], context, FOR_REGRET) for text in preferences
        ]
        replayed = replay(
            self._values,
            self._names,
            self._times,
            self._rules,
            by_duels(self._rules),
            heeds_duels=False,
            choices=Choices(self.posterior, purposes),
            most=most,
        )
        n_seen = len(replayed.present)
        posterior = self.posterior(rank(self._values[:n_seen], replayed.present))
        candidates = [self._names.index(name) for name in replayed.state.candidates]
        return replayed.rounds[-1].spent, posterior, candidates

    def posterior(self, positions: np.ndarray) -> Posterior:
        return infer(
            None,
            self._unit,
            self._options,
            self._seed,
            threads=1,
            names=self._names,
            positions=positions,
            times=self._times,
        )

    def everything(self, n_problems: int) -> Posterior:
        """The posterior of all runs on the first problems."""
        values = self._values[:n_problems]
        return self.posterior(rank(values, np.ones(values.shape, dtype=bool)))


def answers_at(posterior: Posterior, items: Sequence[int], times: Sequence[int]) -> list[Answer]:
    """The choice that `select` makes by default at each of these times."""
    values = rival_values(posterior, items, np.asarray)[:, list(times)]
    probability = p_best(values)
    choice = likeliest_best(probability, values.mean(axis=0, dtype=np.float64))
    regret = (
        values.max(axis=2) - np.take_along_axis(values, choice[None, :, None], 2)[:, :, 0]
    ).mean(axis=0)
    return [
        Answer(items[int(choice[k])], float(probability[k, choice[k]]), float(regret[k]))
        for k in range(len(times))
    ]


def one_race(
    people: Population, rules: Rules, seed: int, draws: int, most: float = np.inf
) -> Raced:
    """A race for all budgets."""
    racer = Racer(people, rules, seed, draws, range(len(people.times)))
    spent, posterior, candidates = racer.raced((), most)
    return Raced(spent, answers_at(posterior, candidates, budgets_of(people)))


def everything(people: Population, rules: Rules, seed: int, draws: int, cost: float) -> Raced:
    """All algorithms run to the end, on as many problems as a cost pays for."""
    per_problem = len(people.names) * float(people.times[-1])
    n_problems = min(max(1, int(cost // per_problem)), MOST_PROBLEMS)
    racer = Racer(people, rules, seed, draws, range(len(people.times)))
    items = list(range(len(people.names)))
    answers = answers_at(racer.everything(n_problems), items, budgets_of(people))
    return Raced(n_problems * per_problem, answers)


def race_for_each(
    people: Population, rules: Rules, seed: int, draws: int, only_t: bool = False
) -> Raced:
    """`race --for "at T"` once for each budget, each on its own."""
    spent = 0.0
    answers = []
    for budget in budgets_of(people):
        grid = [budget] if only_t else list(range(len(people.times)))
        racer = Racer(people, rules, seed, draws, grid)
        cost, posterior, candidates = racer.raced([f"at {float(people.times[budget])!r}"])
        spent += cost
        answers += answers_at(posterior, candidates, [grid.index(budget)])
    return Raced(spent, answers)


def irace_for_each(people: Population, seed: int, test: irace.Test, shared: bool = False) -> Raced:
    """irace's rules once for each budget; with ``shared`` runs a longer run serves all budgets."""
    sample = people.sample(seed, MOST_PROBLEMS)
    until = np.zeros(sample.shape[:2])
    spent = 0.0
    answers = []
    for budget in budgets_of(people):
        costs = sample[:, :, budget]
        out, history = irace.raced(costs, test, LEVEL)
        n_seen = len(history)
        survivors = sorted(history[-1][1])
        sums = rankdata(costs[:n_seen, survivors], axis=1).sum(axis=0)
        if test is irace.t_test:
            sums = costs[:n_seen, survivors].mean(axis=0)
        answers.append(Answer(survivors[int(sums.argmin())]))
        spent += history[-1][0] * float(people.times[budget])
        last_problem = {**dict.fromkeys(range(len(people.names)), n_seen), **dict(out)}
        for algorithm, n_problems in last_problem.items():
            reached = until[:n_problems, algorithm]
            np.maximum(reached, people.times[budget], out=reached)
    return Raced(float(until.sum()) if shared else spent, answers)


REAL_IRACE = """
suppressMessages(library(irace))
costs <- as.matrix(read.table("costs.txt"))
values <- paste(seq_len(ncol(costs)), collapse = ",")
parameters <- readParameters(text = sprintf('a "" c (%s)', values))
runner <- function(experiment, scenario) {
  list(cost = costs[experiment$id.instance, as.integer(experiment$configuration[["a"]])])
}
scenario <- defaultScenario(list(
  targetRunner = runner, instances = seq_len(nrow(costs)), sampleInstances = FALSE,
  maxExperiments = length(costs), firstTest = 5, eachTest = 1, confidence = 0.95, elitist = 0,
  deterministic = TRUE, testType = "TEST", minNbSurvival = 1, nbIterations = 1,
  nbConfigurations = ncol(costs), seed = 1, debugLevel = 0, logFile = "log.Rdata",
  initConfigurations = data.frame(a = as.character(seq_len(ncol(costs))))
))
invisible(capture.output(irace(scenario = scenario, parameters = parameters)))
load("log.Rdata")
result <- iraceResults
cat(result$allConfigurations[result$iterationElites[1], "a"], sum(!is.na(result$experiments)))
"""


def real_irace(costs: np.ndarray, test: str) -> tuple[int, int]:
    """The algorithm that irace itself names on costs[problem, algorithm], and its runs."""
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(Path(folder) / "costs.txt", costs)
        command = ["Rscript", "-e", REAL_IRACE.replace("TEST", test)]
        done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    algorithm, runs = done.stdout.split()[-2:]
    return int(algorithm) - 1, int(runs)


def real_irace_for_each(people: Population, seed: int, test: str) -> Raced:
    sample = people.sample(seed, MOST_PROBLEMS)
    spent = 0.0
    answers = []
    for budget in budgets_of(people):
        algorithm, runs = real_irace(sample[:, :, budget], test)
        answers.append(Answer(algorithm))
        spent += runs * float(people.times[budget])
    return Raced(spent, answers)


def ways(
    people: Population, rules: Rules, draws: int, with_irace: bool
) -> dict[str, Callable[[int], Raced]]:
    """The rows of the table: races of one seed."""
    set_only = rules.model_copy(update={"regret": None})

    def everything_at_cost(seed: int) -> Raced:
        cost = one_race(people, rules, seed, draws).spent
        return everything(people, rules, seed, draws, cost)

    def stopped(seed: int) -> Raced:
        cost = irace_for_each(people, seed, irace.friedman).spent
        return one_race(people, rules, seed, draws, cost)

    rows: dict[str, Callable[[int], Raced]] = {
        "one race, the set only": lambda seed: one_race(people, set_only, seed, draws),
        ONE_RACE: lambda seed: one_race(people, rules, seed, draws),
        STOPPED: stopped,
        EVERYTHING: everything_at_cost,
        FOR_EACH: lambda seed: race_for_each(people, rules, seed, draws),
        ONLY_T: lambda seed: race_for_each(people, rules, seed, draws, only_t=True),
        F_TEST: lambda seed: irace_for_each(people, seed, irace.friedman),
        "the same, runs shared": lambda seed: irace_for_each(people, seed, irace.friedman, True),
        "irace's t-test at each budget": lambda seed: irace_for_each(people, seed, irace.t_test),
    }
    if with_irace:
        rows["irace itself, F-test"] = lambda seed: real_irace_for_each(people, seed, "F-test")
    return rows


def row_of(raced: Raced, truth: np.ndarray, people: Population) -> Row:
    """A race compared with the population: sums over the budgets, regrets as means."""
    at_budgets = truth[budgets_of(people)]
    named = np.array([answer.algorithm for answer in raced.answers])
    regret = at_budgets.max(axis=1) - at_budgets[np.arange(len(named)), named]
    row: Row = {
        "spent": raced.spent,
        "right": float((regret <= 0).sum()),
        "regret": float(regret.mean()),
    }
    if all(answer.p_best is not None for answer in raced.answers):
        row["p_best"] = float(sum(answer.p_best or 0.0 for answer in raced.answers))
        row["said"] = float(np.mean([answer.regret or 0.0 for answer in raced.answers]))
    return row


def table(rows: Sequence[Row], name: str, guarantee: str) -> list[str]:
    """The rows of a population: sums over seeds, and mean regrets with their standard errors."""
    lines = []
    for way in dict.fromkeys(str(row["way"]) for row in rows):
        own = _of_way(rows, name, guarantee, way)
        if not own:
            continue
        spent = np.mean([float(row["spent"]) for row in own])
        right = sum(float(row["right"]) for row in own)
        cells = [
            name,
            guarantee,
            way,
            f"{spent / 1000:,.0f}",
            f"{right:.0f} of {N_BUDGETS * len(own)}",
            _mean_with_error(np.array([float(row["regret"]) for row in own])),
        ]
        if "said" in own[0]:
            cells.append(f"{np.mean([float(row['said']) for row in own]):.4f}")
            cells.append(f"{sum(float(row['p_best']) for row in own):.1f}")
        else:
            cells += ["", ""]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def differences(rows: Sequence[Row], name: str, guarantee: str) -> list[str]:
    """Differences between two rows of a population, paired by seed."""
    lines = []
    for first, second in (
        (FOR_EACH, ONLY_T),
        (FOR_EACH, F_TEST),
        (ONE_RACE, F_TEST),
        (STOPPED, F_TEST),
        (ONE_RACE, EVERYTHING),
    ):
        of_first = {row["seed"]: row for row in _of_way(rows, name, guarantee, first)}
        of_second = {row["seed"]: row for row in _of_way(rows, name, guarantee, second)}
        seeds = sorted(of_first.keys() & of_second.keys())
        if not seeds:
            continue
        gaps = {
            key: np.array([float(of_first[k][key]) - float(of_second[k][key]) for k in seeds])
            for key in ("spent", "right", "regret")
        }
        cells = [
            name,
            guarantee,
            f"{first}, less {second}",
            _mean_with_error(gaps["spent"] / 1000, 0),
            _mean_with_error(gaps["right"], 2),
            _mean_with_error(gaps["regret"]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _of_way(rows: Sequence[Row], name: str, guarantee: str, way: str) -> list[Row]:
    """The races of one row of the table."""
    expected = (name, guarantee, way)
    return [row for row in rows if (row["population"], row["guarantee"], row["way"]) == expected]


def _mean_with_error(values: np.ndarray, digits: int = 4) -> str:
    """A mean over seeds and its standard error, which takes two seeds."""
    if len(values) < 2:
        return f"{values.mean():,.{digits}f}"
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():,.{digits}f} ± {error:,.{digits}f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--population", nargs="+", required=True, metavar="NAME=STORE[,ROPE]")
    parser.add_argument("--guarantee", nargs="+", default=["pair", "none"])
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--only", help="rows whose name contains this")
    parser.add_argument("--irace", action="store_true", help="race with R's irace, too")
    parser.add_argument("--out", type=Path, default=Path("aim.jsonl"))
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    if arguments.irace and shutil.which("Rscript") is None:
        parser.error("--irace needs R and its package irace")
    earlier = arguments.out.read_text().splitlines() if arguments.out.exists() else []
    rows: list[Row] = [json.loads(line) for line in earlier]
    done = {(row["population"], row["guarantee"], row["way"], row["seed"]) for row in rows}
    names = []
    for text in arguments.population:
        name, _, place = text.partition("=")
        folder, _, epsilon = place.partition(",")
        names.append(name)
        people = read(Path(folder))
        truth = true_values(people)
        for seed in range(arguments.seeds):
            for guarantee in arguments.guarantee:
                rules = Rules(
                    alpha=0.95, epsilon=float(epsilon or 0.05), guarantee=guarantee, regret=0.02
                )
                for way, race_once in ways(people, rules, arguments.draws, arguments.irace).items():
                    is_selected = arguments.only is None or arguments.only in way
                    if not is_selected or (name, guarantee, way, seed) in done:
                        continue
                    identity: Row = {"population": name, "guarantee": guarantee, "way": way}
                    row = {**identity, "seed": seed, **row_of(race_once(seed), truth, people)}
                    rows.append(row)
                    with arguments.out.open("a") as file:
                        file.write(json.dumps(row) + "\n")
    seeds = len({row["seed"] for row in rows})
    lines = [
        f"At most {seeds} seeds, {arguments.draws:,} draws, at most {MOST_PROBLEMS} problems a "
        "race. The head of `benchmarks/aim.py` says what the populations and the rows are; costs "
        "are those of one seed, for all five budgets. A row has as many seeds as a fifth of the "
        "answers that its column of right ones counts. Nothing was chosen on `o` and `g`. In the "
        "replays no algorithm catches up on problems that it lacks, as it does in a race.",
        "",
        "| population | guarantee | way | thousand evaluations | right | regret | regret said | "
        "P(best) said |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in names:
        for guarantee in arguments.guarantee:
            lines += table(rows, name, guarantee)
    lines += [
        "",
        "| population | guarantee | difference | thousand evaluations | right of 5 | regret |",
        "|---|---|---|---|---|---|",
    ]
    for name in names:
        for guarantee in arguments.guarantee:
            lines += differences(rows, name, guarantee)
    print("\n".join(lines))
    if arguments.write is not None:
        arguments.write.write_text("\n".join(["# Aiming at the question", "", *lines, ""]))


if __name__ == "__main__":
    main()
