"""How a race stands, as plain facts for people, scripts and pipelines."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from polarbear import racing as race
from polarbear.racing import OPEN, State
from polarbear.store import Store, summary


def standings(store: Store, upto: int | None = None) -> dict[str, Any] | None:
    """What the rounds in a store have come to; None where no race has been run.

    ``upto`` looks back at an earlier round as if it were the last.
    """
    numbers = [n for n in store.round_numbers() if upto is None or n <= upto]
    if not numbers:
        return None
    rounds = [store.round(number) for number in numbers]
    last = rounds[-1]
    state = race.from_plain(last["state"])
    return {
        "pareto_set": list(state.candidates),
        "eliminated": [vars(elimination) for elimination in state.eliminated],
        "resolved": not state.open_pairs,
        "rounds": state.round,
        "instances": state.instances,
        "evaluations": last["evaluations"],
        "failed_runs": sum(failure.runs for failure in summary.failures(store)),
        "store": str(store.path),
        "model": last["inference"]["model"],
        "rules": last["rules"],
        "share_settled": state.share_settled,
        "batch": state.batch,
        "joining": state.joining,
        "caught_up": state.caught_up,
        "saved": _saved(rounds, state),
        "instances_by_algorithm": _instances_of(rounds, state),
        "instances_to_go": last["instances_to_go"],
        "algorithms": _algorithms(last, state),
        "best": _leaders(store, state),
        "open_pairs": _open_pairs(store, state),
        "settled_pairs": _settled_pairs(state),
        "problems": last["problems"],
    }


def _algorithms(last: dict[str, Any], state: State) -> list[dict[str, Any]]:
    """One entry an algorithm: in or out, and what speaks against it."""
    out = {elimination.algorithm: elimination for elimination in state.eliminated}
    found = []
    for name in state.algorithms:
        entry: dict[str, Any] = {"algorithm": name, "evaluations": last["evaluations"][name]}
        if name in out:
            gone = out[name]
            entry |= {"standing": "out", "by": gone.by, "probability": gone.probability}
        else:
            threat = last["threats"].get(name, {"by": None, "probability": None})
            standing = "in" if name in state.unresolved else "settled"
            entry |= {"standing": "joining" if name == state.joining else standing, **threat}
        found.append(entry)
    return found


def _instances_of(rounds: list[dict[str, Any]], state: State) -> dict[str, int]:
    """On how many instances each algorithm was run."""
    found = dict.fromkeys(state.algorithms, 0)
    for record in rounds:
        for name in record["ran_to"]:
            found[name] += record["drawn"]
    return found


def _saved(rounds: list[dict[str, Any]], state: State) -> float:
    """The share of the budget of running everything to the end that the race did not spend."""
    everything = len(state.algorithms) * state.instances * state.times[-1]
    allotted = sum(record["drawn"] * t for record in rounds for t in record["ran_to"].values())
    return 1 - allotted / everything if everything else 0.0


def _leaders(store: Store, state: State) -> list[dict[str, Any]]:
    """Which candidate has the highest rating when: one entry a stretch of time."""
    ratings, _ = store.beliefs(state.round)
    names = ratings["algorithm"].to_pylist()
    mean = ratings["mean"].to_numpy().reshape(-1, len(state.times))
    rows = [names[i * len(state.times)] for i in range(len(mean))]
    keep = [i for i, name in enumerate(rows) if name in state.candidates]
    leader = [rows[keep[i]] for i in mean[keep].argmax(axis=0)]
    found = []
    for name, stretch in groupby(range(len(leader)), key=leader.__getitem__):
        times = list(stretch)
        found.append(
            {"algorithm": name, "from": state.times[times[0]], "to": state.times[times[-1]]}
        )
    return found


def _open_pairs(store: Store, state: State) -> list[dict[str, Any]]:
    """Pairs about which something is not settled: at how many times, where, and how it leans."""
    if not state.open_pairs:
        return []
    _, pairs = store.beliefs(state.round)
    believed = {
        (row["a"], row["b"], row["t"]): row["p_above"] for row in pairs.to_pylist() if row["t"]
    }
    found = []
    for a, b in state.open_pairs:
        times = [state.times[i] for i in np.flatnonzero(state.relation(a, b) == OPEN)]
        leaning = [p for t in times if (p := believed.get((a, b, t))) is not None]
        found.append(
            {
                "a": a,
                "b": b,
                "times": len(times),
                "from": times[0],
                "to": times[-1],
                "p_above": [min(leaning), max(leaning)] if leaning else None,
            }
        )
    return found


def _settled_pairs(state: State) -> list[dict[str, Any]]:
    """Pairs of candidates that are done with, and how: crossing, equivalent, or time by time."""
    found = []
    gone = set(state.algorithms) - set(state.candidates)
    for (a, b), row in zip(state.pairs, state.settled, strict=True):
        if {a, b} & gone or (row == OPEN).any():
            continue
        above, below = (row == race.ABOVE).any(), (row == race.BELOW).any()
        if above and below:
            how = "crossing"
        elif above or below:
            how = "never worse" if above else "never better"
        else:
            how = "equivalent"
        found.append({"a": a, "b": b, "how": how})
    return found
