"""Races on a population: outcomes compared with the whole population, and tables of many races."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import bound
import numpy as np
from common import Row, middle, most_frequent
from populations import Population
from ways import Way, drawn, raced

from polarbear.inference import Posterior
from polarbear.selection.criteria import Criteria, draws_of_values
from polarbear.selection.criterion_names import Risk, ValueKind
from polarbear.selection.preference import Context
from polarbear.selection.preference_parsing import parse_preference
from polarbear.settings.options import Source

EVERYTHING = 1000  # instances on which it is usual to run everything
PREFERENCES = ("uniform", "log-uniform")

Seen = Callable[[np.ndarray], np.ndarray]


def as_is(values: np.ndarray) -> np.ndarray:
    return values


def one_race(
    strategy: Way, seed: int, people: Population, limit: int, transform: Seen = as_is
) -> Row:
    """A race on at most ``limit`` instances of the population, compared with the population.

    The race sees the result of ``transform`` instead of the values.
    """
    names = people.names
    duels = bound.duels_in(people.values)
    values = transform(people.sample(seed, limit))
    replayed = raced(strategy, values, names, people.times, people.unit, seed)
    state = replayed.state
    n_seen = len(replayed.present)
    full_run = float(len(names) * people.times[-1])
    reached = np.where(replayed.present.any(axis=2), replayed.present.sum(axis=2), 0)
    cost = np.concatenate([[0.0], people.times])[reached]
    last = drawn(strategy, values[:n_seen], replayed.present, people.unit, seed)
    return {
        "population": len(people.values),
        "left": list(state.candidates),
        "eliminated": [
            {
                "who": e.algorithm,
                "by": e.by,
                "round": e.round,
                "instances": e.instances,
                "wrong": not duels.better[names.index(e.by), names.index(e.algorithm)],
            }
            for e in state.eliminated
        ],
        "resolved": not state.open_pairs,
        "rounds": state.round,
        "instances": state.instances,
        "evaluations": replayed.rounds[-1].spent,
        "by_algorithm": dict(zip(names, cost.sum(axis=0).tolist(), strict=True)),
        "saved_of_1000": 1 - replayed.rounds[-1].spent / (EVERYTHING * full_run),
        "saved_of_as_many": 1 - replayed.rounds[-1].spent / (state.instances * full_run),
        "selections": _selections(last, people.times, names, state.candidates),
    }


def _selections(
    posterior: Posterior, times: np.ndarray, names: tuple[str, ...], candidates: tuple[str, ...]
) -> Row:
    """The choice of each preference and criterion among those left: by the paper's definition
    (theta) under Plackett-Luce, by duels otherwise."""
    context = Context(times, joint=posterior.joint)
    value = ValueKind.THETA if posterior.options.plackett_luce else ValueKind.DUELS
    items = [names.index(name) for name in candidates]
    choices = {}
    for words in PREFERENCES:
        valuation = parse_preference(words, Source("study")).on(context)
        criteria = Criteria(draws_of_values(posterior, items, valuation, value))
        choices[words] = {risk: candidates[criteria.best(risk)] for risk in Risk}
    return choices


def summary(
    rows: list[Row], people: Population, ways: dict[str, Way], paper: Sequence[str], kept: str
) -> list[Row]:
    """The races of each way beside the paper's set; ``kept`` is a member that some ways lose."""
    duels = bound.duels_in(people.values)
    lines = []
    for name in dict.fromkeys(row["way"] for row in rows):
        races = [row for row in rows if row["way"] == name]
        rules = ways[name].rules
        least = bound.bound(duels, people.times, rules.alpha, rules.epsilon, rules.resolution)
        out = [e for row in races for e in row["eliminated"]]
        often, times = most_frequent([" ".join(row["left"]) for row in races])
        evaluations = [row["evaluations"] for row in races]
        lines.append(
            {
                "way": name,
                "races": len(races),
                "most frequent set": f"{often} ({times})",
                "paper's set": sum(set(row["left"]) == set(paper) for row in races),
                f"{kept} kept": sum(kept in row["left"] for row in races),
                "wrong eliminations": f"{sum(e['wrong'] for e in out)}/{len(out)}",
                "rounds": middle([row["rounds"] for row in races]),
                "instances": middle([row["instances"] for row in races]),
                "resolved": sum(row["resolved"] for row in races),
                "evaluations": middle(evaluations),
                f"saved of {EVERYTHING:,}": middle([row["saved_of_1000"] for row in races]),
                "saved of as many": middle([row["saved_of_as_many"] for row in races]),
                "information bound": least.spent,
                "median / bound": float(np.median(evaluations)) / least.spent,
            }
        )
    return lines


def eliminations(rows: list[Row]) -> list[Row]:
    """The eliminations of each algorithm: the number of races, the rounds, the eliminators."""
    lines = []
    for name in dict.fromkeys(row["way"] for row in rows):
        races = [row for row in rows if row["way"] == name]
        every = [e for row in races for e in row["eliminated"]]
        for who in dict.fromkeys(e["who"] for e in sorted(every, key=lambda e: e["instances"])):
            of_algorithm = [e for e in every if e["who"] == who]
            lines.append(
                {
                    "way": name,
                    "algorithm": who,
                    "races": f"{len(of_algorithm)}/{len(races)}",
                    "round": middle([e["round"] for e in of_algorithm]),
                    "instances": middle([e["instances"] for e in of_algorithm]),
                    "by": " ".join(sorted({e["by"] for e in of_algorithm})),
                    "wrong": sum(e["wrong"] for e in of_algorithm),
                }
            )
    return lines or [{"way": "all", "algorithm": "nobody"}]


def selections(rows: list[Row]) -> list[Row]:
    """The number of races that choose each algorithm, by preference and criterion."""
    lines = []
    for name in dict.fromkeys(row["way"] for row in rows):
        races = [row for row in rows if row["way"] == name]
        for preference in PREFERENCES:
            line: Row = {"way": name, "preference": preference}
            for risk in Risk:
                chosen = [row["selections"][preference][risk] for row in races]
                counts = {choice: chosen.count(choice) for choice in sorted(set(chosen))}
                line[risk] = ", ".join(f"{choice} {count}" for choice, count in counts.items())
            lines.append(line)
    return lines
