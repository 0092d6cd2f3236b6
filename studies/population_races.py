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


def one_race(way: Way, seed: int, people: Population, limit: int, seen_as: Seen = as_is) -> Row:
    """A race on at most so many instances of the population, and what is true of it.

    ``seen_as`` is what the race sees instead of the values.
    """
    names, duels = people.names, bound.duels_in(people.values)
    values = seen_as(people.sample(seed, limit))
    found = raced(way, values, names, people.times, people.unit, seed)
    state, seen = found.state, len(found.present)
    whole = float(len(names) * people.times[-1])
    reached = np.where(found.present.any(axis=2), found.present.sum(axis=2), 0)
    cost = np.concatenate([[0.0], people.times])[reached]
    last = drawn(way, values[:seen], found.present, people.unit, seed)
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
        "evaluations": found.rounds[-1].spent,
        "by_algorithm": dict(zip(names, cost.sum(axis=0).tolist(), strict=True)),
        "saved_of_1000": 1 - found.rounds[-1].spent / (EVERYTHING * whole),
        "saved_of_as_many": 1 - found.rounds[-1].spent / (state.instances * whole),
        "selections": _selections(last, people.times, names, state.candidates),
    }


def _selections(
    posterior: Posterior, times: np.ndarray, names: tuple[str, ...], left: tuple[str, ...]
) -> Row:
    """The choice of each preference and criterion among those left: by the paper's definition
    (theta) under Plackett-Luce, by duels otherwise."""
    context = Context(times, joint=posterior.joint)
    value = ValueKind.THETA if posterior.options.plackett_luce else ValueKind.DUELS
    items = [names.index(name) for name in left]
    found = {}
    for words in PREFERENCES:
        valuation = parse_preference(words, Source("study")).on(context)
        criteria = Criteria(draws_of_values(posterior, items, valuation, value))
        found[words] = {risk: left[criteria.best(risk)] for risk in Risk}
    return found


def summary(
    rows: list[Row], people: Population, ways: dict[str, Way], paper: Sequence[str], kept: str
) -> list[Row]:
    """Every way's races beside what the paper found, and ``kept``, one whom others lose."""
    duels = bound.duels_in(people.values)
    found = []
    for name in dict.fromkeys(row["way"] for row in rows):
        some = [row for row in rows if row["way"] == name]
        rules = ways[name].rules
        least = bound.bound(duels, people.times, rules.alpha, rules.epsilon, rules.resolution)
        out = [e for row in some for e in row["eliminated"]]
        often, times = most_frequent([" ".join(row["left"]) for row in some])
        evaluations = [row["evaluations"] for row in some]
        found.append(
            {
                "way": name,
                "races": len(some),
                "most frequent set": f"{often} ({times})",
                "paper's set": sum(set(row["left"]) == set(paper) for row in some),
                f"{kept} kept": sum(kept in row["left"] for row in some),
                "wrong eliminations": f"{sum(e['wrong'] for e in out)}/{len(out)}",
                "rounds": middle([row["rounds"] for row in some]),
                "instances": middle([row["instances"] for row in some]),
                "resolved": sum(row["resolved"] for row in some),
                "evaluations": middle(evaluations),
                f"saved of {EVERYTHING:,}": middle([row["saved_of_1000"] for row in some]),
                "saved of as many": middle([row["saved_of_as_many"] for row in some]),
                "information bound": least.spent,
                "median / bound": float(np.median(evaluations)) / least.spent,
            }
        )
    return found


def eliminations(rows: list[Row]) -> list[Row]:
    """Who was put out in how many races, when, and by whom."""
    found = []
    for way in dict.fromkeys(row["way"] for row in rows):
        some = [row for row in rows if row["way"] == way]
        every = [e for row in some for e in row["eliminated"]]
        for who in dict.fromkeys(e["who"] for e in sorted(every, key=lambda e: e["instances"])):
            his = [e for e in every if e["who"] == who]
            found.append(
                {
                    "way": way,
                    "algorithm": who,
                    "races": f"{len(his)}/{len(some)}",
                    "round": middle([e["round"] for e in his]),
                    "instances": middle([e["instances"] for e in his]),
                    "by": " ".join(sorted({e["by"] for e in his})),
                    "wrong": sum(e["wrong"] for e in his),
                }
            )
    return found or [{"way": "all", "algorithm": "nobody"}]


def selections(rows: list[Row]) -> list[Row]:
    """How many races choose whom, by preference and criterion."""
    found = []
    for way in dict.fromkeys(row["way"] for row in rows):
        some = [row for row in rows if row["way"] == way]
        for preference in PREFERENCES:
            line: Row = {"way": way, "preference": preference}
            for risk in Risk:
                chosen = [row["selections"][preference][risk] for row in some]
                counts = {name: chosen.count(name) for name in sorted(set(chosen))}
                line[risk] = ", ".join(f"{name} {count}" for name, count in counts.items())
            found.append(line)
    return found
