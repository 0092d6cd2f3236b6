"""Another PolarBear store as a source: runs with seeds, ends and failures, or rankings."""

from __future__ import annotations

import json
from pathlib import Path

from polarbear.classical.instance_facts import best_values
from polarbear.errors import ImportFailedError, PolarBearError
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.formats.base import Format, Imported, ImportedAlgorithm
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
            raise ImportFailedError(f"{source} is not a valid store: {error}") from None


def _runs(store: Store) -> Imported:
    instances = _instances(store)
    outcomes = [
        Outcome(
            Task(
                ImportedAlgorithm(name=run.algorithm),
                instances[run.instance],
                seed=run.seed,
                budget=run.budget,
            ),
            Status(run.status),
            message=run.message,
            times=t,
            values=y,
            evaluations=run.evaluations,
            reached=run.reached,
            seconds=run.seconds,
            invalid=run.invalid,
            started=run.started.timestamp(),
        )
        for run, t, y in store.trajectories()
    ]
    rankings = len(store.rankings())
    left_out = f"{counted(rankings, 'ranking')} without values {noun(rankings, 'is', 'are')}"
    budget = store.config["budget"]
    ran = {outcome.task.instance.id for outcome in outcomes}
    reached = [outcome.reached for outcome in outcomes]
    return Imported(
        tuple(store.config["algorithms"]),
        tuple(instance for name, instance in instances.items() if name in ran),
        (min(reached), max(reached)),
        outcomes,
        notes=(f"{left_out} left out",) if rankings else (),
        maximise=bool(store.config["instances"].get("maximise")),
        axis=budget["axis"],
        grid=budget["grid"],
    )


def _rankings(store: Store) -> Imported:
    rankings = store.rankings()
    if not len(rankings):
        raise ImportFailedError(f"{store.path} has neither runs nor rankings")
    ranked = set(rankings["instance"])
    times = rankings["t"].to_numpy()
    return Imported(
        tuple(store.config["algorithms"]),
        tuple(one for name, one in _instances(store).items() if name in ranked),
        (float(times.min()), float(times.max())),
        rankings=rankings.sort("instance", "t"),
        axis=store.config["budget"]["axis"],
    )


def _instances(store: Store) -> dict[str, Instance]:
    """The instances by name; their specs include what the suite and the configuration know."""
    rows = store.instances().select("instance", "index", "spec").rows()
    optima = best_values(store, [name for name, _, _ in rows])
    weights = store.weights()
    found = {}
    for (name, index, spec), optimum in zip(rows, optima, strict=True):
        facts = {} if optimum is None else {OPTIMUM: optimum}
        if name in weights:
            facts[WEIGHT] = weights[name]
        found[name] = Instance(index, name, {"imported": name, **json.loads(spec), **facts})
    return found
