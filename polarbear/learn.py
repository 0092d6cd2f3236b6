"""What a store's runs say: rankings, choice sets and posterior, each kept and answered once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from polarbear import __version__, rankings, tables
from polarbear.budget import Budget
from polarbear.choice_sets import ChoiceSets
from polarbear.errors import InferenceError
from polarbear.inference import ModelOptions, Posterior, extend, infer
from polarbear.inference.diagnostics import Diagnostics
from polarbear.options import unknown
from polarbear.store import GridValues, Store


@dataclass(frozen=True)
class Evidence:
    """Rankings on the store's grid and what they boil down to."""

    grid: GridValues
    unit_times: np.ndarray
    positions: np.ndarray
    choice_sets: ChoiceSets

    @property
    def key(self) -> str:
        """Names this evidence: the same algorithms, times and rankings give the same key."""
        names = json.dumps([self.grid.algorithms, self.grid.times.tolist()])
        digest = hashlib.sha256(names.encode())
        digest.update(self.positions.tobytes())
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Learned:
    """A posterior with the names of what it is about, and where it came from."""

    posterior: Posterior
    algorithms: tuple[str, ...]
    times: np.ndarray
    instances: int
    key: str
    from_store: bool


def evidence_of(
    store: Store, algorithms: Sequence[str] | None = None, tie_tolerance: float = 0.0
) -> Evidence:
    """Rank the stored runs, of all algorithms or of some, at each time of the store's grid."""
    known = list(store.config["algorithms"])
    for name in algorithms or ():
        if name not in known:
            raise InferenceError(f"{unknown('algorithm', name, known)} (in {store.path})")
    chosen = [name for name in known if algorithms is None or name in algorithms]
    budget = Budget.model_validate(store.config["budget"])
    return ranked(store.on_grid(budget.times, chosen), budget.unit_times, tie_tolerance)


def ranked(grid: GridValues, unit_times: np.ndarray, tie_tolerance: float = 0.0) -> Evidence:
    """What values on a grid say about who is better than whom."""
    positions = rankings.rank(grid.values, ~np.isnan(grid.values), tie_tolerance)
    return Evidence(grid, unit_times, positions, rankings.choice_sets(positions))


def learn(store: Store, evidence: Evidence, options: ModelOptions, seed: int) -> Learned:
    """The posterior of this evidence: from the store if it is there, otherwise inferred."""
    settings = {"options": options.model_dump(mode="json"), "seed": seed, "version": __version__}
    text = json.dumps({"evidence": evidence.key, **settings}, sort_keys=True)
    key = hashlib.sha256(text.encode()).hexdigest()[:16]
    kept = store.posterior(key)
    if kept is not None:
        posterior = posterior_from_table(*kept)
    else:
        names = evidence.grid.algorithms
        inferred = infer(
            evidence.choice_sets,
            evidence.unit_times,
            options,
            seed,
            names=names,
            positions=evidence.positions,
        )
        # As the store keeps it, so that an answer is the same whether it was kept or not.
        posterior = posterior_from_table(*posterior_to_table(inferred, evidence))
    grid = evidence.grid
    return Learned(
        posterior, grid.algorithms, grid.times, len(grid.instances), key, kept is not None
    )


def learn_newcomer(store: Store, others: Learned, evidence: Evidence, seed: int) -> Learned:
    """What all rankings say of the last algorithm, given what is believed of the others."""
    text = json.dumps({"others": others.key, "evidence": evidence.key, "seed": seed})
    key = hashlib.sha256(text.encode()).hexdigest()[:16]
    kept = store.posterior(key)
    grid = evidence.grid
    if kept is not None:
        posterior = posterior_from_table(*kept)
    else:
        last = len(grid.algorithms) - 1
        # its rankings repeat each other over time as much as those of the others do
        weighted = evidence.choice_sets.weighted(others.posterior.evidence_weight)
        extended = extend(others.posterior, weighted, last, seed, names=grid.algorithms)
        posterior = posterior_from_table(*posterior_to_table(extended, evidence))
    return Learned(
        posterior, grid.algorithms, grid.times, len(grid.instances), key, kept is not None
    )


def keep(store: Store, evidence: Evidence, learned: Learned) -> None:
    """Store a posterior and its evidence; the caller holds the store's lock."""
    store.add_evidence(evidence.key, rankings_table(evidence), choice_sets_table(evidence))
    store.add_posterior(learned.key, *posterior_to_table(learned.posterior, evidence))


def posterior_to_table(
    posterior: Posterior, evidence: Evidence
) -> tuple[pa.Table, Mapping[str, Any]]:
    """A posterior as the store keeps it: its draws, and everything else as plain facts."""
    size = posterior.n_draws
    flat = posterior.theta.astype(np.float32).reshape(size, -1)
    hyper = (
        np.stack([*posterior.hyper.values()], axis=1) if posterior.hyper else np.empty((size, 0))
    )
    table = pa.table(
        {
            "draw": np.arange(size, dtype=np.int32),
            "chain": np.repeat(
                np.arange(posterior.chains, dtype=np.int16), size // posterior.chains
            ),
            "theta": _lists(flat),
            "hyper": _lists(hyper.astype(np.float64)),
        },
        schema=tables.POSTERIOR,
    )
    facts = {
        "algorithms": list(evidence.grid.algorithms),
        "times": evidence.grid.times.tolist(),
        "instances": len(evidence.grid.instances),
        "unit_times": posterior.unit_times.tolist(),
        "chains": posterior.chains,
        "hyper": list(posterior.hyper),
        "options": posterior.options.model_dump(mode="json"),
        "engine": posterior.engine,
        "method": posterior.method,
        "seed": posterior.seed,
        "seconds": posterior.seconds,
        "joint": posterior.joint,
        "notes": list(posterior.notes),
        "evidence_weight": posterior.evidence_weight,
        "diagnostics": asdict(posterior.diagnostics),
        "evidence": evidence.key,
    }
    return table, facts


def posterior_from_table(
    table: pa.Table, facts: Mapping[str, Any], as_kept: bool = False
) -> Posterior:
    """A posterior read back from the store; ``as_kept`` leaves theta in single precision."""
    size, times, n = len(table), len(facts["times"]), len(facts["algorithms"])
    kind = np.float32 if as_kept else np.float64
    theta = _numbers(table["theta"], np.float32).astype(kind, copy=False)
    hyper = _numbers(table["hyper"], np.float64).reshape(size, -1)
    return Posterior(
        theta=theta.reshape(size, times, n),
        chains=facts["chains"],
        unit_times=np.array(facts["unit_times"]),
        options=ModelOptions.model_validate(facts["options"]),
        engine=facts["engine"],
        method=facts["method"],
        seed=facts["seed"],
        seconds=facts["seconds"],
        diagnostics=Diagnostics(**facts["diagnostics"]),
        joint=facts["joint"],
        hyper=MappingProxyType({name: hyper[:, i] for i, name in enumerate(facts["hyper"])}),
        notes=tuple(facts["notes"]),
        evidence_weight=facts["evidence_weight"],
    )


def rankings_table(evidence: Evidence) -> pa.Table:
    """The rankings as a stored table: one row for each instance and time with two or more."""
    grid = evidence.grid
    rows = evidence.positions.swapaxes(1, 2).reshape(-1, len(grid.algorithms))
    ranked = (rows != rankings.ABSENT).sum(axis=1) > 1
    rows = rows[ranked]
    present = rows != rankings.ABSENT
    offsets = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int32)
    names = np.array(grid.algorithms)[np.nonzero(present)[1]]
    return pa.table(
        {
            "instance": np.repeat(np.array(grid.instances), len(grid.times))[ranked],
            "t": np.tile(grid.times, len(grid.instances))[ranked],
            "algorithm": pa.ListArray.from_arrays(offsets, pa.array(names)),
            "position": pa.ListArray.from_arrays(offsets, rows[present].astype(np.float64)),
        },
        schema=tables.RANKINGS,
    )


def choice_sets_table(evidence: Evidence) -> pa.Table:
    """The choice sets as a stored table; a set of one stands for how often it was chosen."""
    names, sets, times = evidence.grid.algorithms, evidence.choice_sets, evidence.grid.times
    rows = [
        {"t": float(times[t]), "choice": [name], "count": float(sets.wins[t, i])}
        for t in range(sets.n_times)
        for i, name in enumerate(names)
    ]
    for t, mask, count in zip(sets.set_times(), sets.masks, sets.counts, strict=True):
        members = [name for i, name in enumerate(names) if int(mask) >> i & 1]
        rows.append({"t": float(times[t]), "choice": members, "count": float(count)})
    return pa.Table.from_pylist(rows, tables.CHOICE_SETS)


def _lists(rows: np.ndarray) -> pa.Array:
    """A matrix as a column of lists."""
    size, width = rows.shape
    offsets = np.arange(size + 1, dtype=np.int32) * width
    return pa.ListArray.from_arrays(offsets, np.ascontiguousarray(rows).ravel())


def _numbers(column: pa.ChunkedArray, kind: type[np.floating[Any]]) -> np.ndarray:
    """All numbers in a column of lists, one list after the other.

    Straight from memory: pyarrow's own way imports pandas where it finds it, which takes longer.
    """
    flat = column.combine_chunks().flatten()
    if not len(flat):
        return np.empty(0, kind)
    start = flat.offset * np.dtype(kind).itemsize
    return np.frombuffer(flat.buffers()[1], kind, len(flat), start)
