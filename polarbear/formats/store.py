"""Another store: its runs as they are, with seeds, ends and failures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from polarbear.errors import ImportFailedError, PolarBearError
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.status import Status
from polarbear.formats.base import Format, Imported, ImportedAlgorithm
from polarbear.problems import SUITES
from polarbear.problems.base import Instance
from polarbear.problems.specs import OPTIMUM
from polarbear.problems.weights import WEIGHT
from polarbear.store import Store
from polarbear.wording import counted, noun


class OtherStore(Format):
    """A store of PolarBear's: its runs, or the rankings that were imported into it."""

    def read(self, source: Path) -> Imported:
        try:
            store = Store.open(source)
            return _runs(store) if len(store.runs()) else _rankings(store)
        except ImportFailedError:
            raise
        except PolarBearError as error:
            raise ImportFailedError(str(error)) from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ImportFailedError(f"{source} is not what PolarBear writes: {error}") from None


def _runs(store: Store) -> Imported:
    instances = {
        row["instance"]: Instance(row["index"], row["instance"], spec)
        for row, spec in _with_specs(store)
    }
    outcomes = []
    for run, t, y in store.trajectories():
        task = Task(
            ImportedAlgorithm(name=run["algorithm"]),
            instances[run["instance"]],
            seed=run["seed"],
            budget=run["budget"],
        )
        outcomes.append(
            Outcome(
                task,
                Status(run["status"]),
                message=run["message"],
                times=t,
                values=y,
                evaluations=run["evaluations"],
                reached=run["reached"],
                seconds=run["seconds"],
                invalid=run["invalid"],
                started=run["started"].timestamp(),
            )
        )
    notes = []
    ranked = len(store.rankings())
    if ranked:
        left = noun(ranked, "is", "are")
        notes.append(f"{counted(ranked, 'ranking')} without values {left} left out")
    times = store.config["budget"]
    ran = {outcome.task.instance.id for outcome in outcomes}
    reached = [outcome.reached for outcome in outcomes]
    return Imported(
        tuple(store.config["algorithms"]),
        tuple(instance for name, instance in instances.items() if name in ran),
        (min(reached), max(reached)),
        outcomes,
        notes=tuple(notes),
        maximise=bool(store.config["instances"].get("maximise")),
        axis=times["axis"],
        grid=times["grid"],
    )


def _rankings(store: Store) -> Imported:
    rankings = store.rankings()
    if not len(rankings):
        raise ImportFailedError(f"{store.path} holds neither runs nor rankings")
    ranked = set(rankings["instance"])
    return Imported(
        tuple(store.config["algorithms"]),
        tuple(
            Instance(row["index"], row["instance"], spec)
            for row, spec in _with_specs(store)
            if row["instance"] in ranked
        ),
        (float(rankings["t"].min()), float(rankings["t"].max())),  # type: ignore[arg-type]
        rankings=rankings.sort(pl.col("instance"), "t"),
        axis=store.config["budget"]["axis"],
    )


def _with_specs(store: Store) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Instances with what is known of them; the optimum too, where their suite knows it."""
    settings = store.config["instances"]
    weights = store.weights()
    suite = None
    if settings["suite"] in SUITES:
        try:
            suite = SUITES[settings["suite"]].model_validate(settings)
        except (PolarBearError, ValidationError):
            suite = None
    found = []
    for row in store.instances().iter_rows(named=True):
        spec = json.loads(row["spec"])
        best = None
        try:
            best = suite.best_value(spec) if suite is not None else None
        except PolarBearError:  # a package of the suite is not installed here
            suite = None
        known = {} if best is None else {OPTIMUM: best}
        if row["instance"] in weights:
            known[WEIGHT] = weights[row["instance"]]
        found.append((row, {"imported": row["instance"], **spec, **known}))
    return found
