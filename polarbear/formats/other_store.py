"""Another PolarBear store as a source: runs with seeds, ends and failures, or rankings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from polarbear.classical.common_runs import best_values
from polarbear.errors import ImportFailedError, PolarBearError
from polarbear.execution.host import IMPORTED
from polarbear.execution.outcome import Task
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
    outcomes = []
    for run, t, y in store.trajectories():
        algorithm = ImportedAlgorithm(name=run.algorithm)
        task = Task(algorithm, instances[run.instance], seed=run.seed, budget=run.budget)
        outcomes.append(replace(run.outcome(task, t, y), where=IMPORTED))
    rankings = len(store.rankings())
    left_out = f"{counted(rankings, 'ranking')} without values {noun(rankings, 'is', 'are')}"
    budget = store.config["budget"]
    ran = {outcome.task.instance.id for outcome in outcomes}
    return Imported(
        tuple(store.config["algorithms"]),
        tuple(instance for name, instance in instances.items() if name in ran),
        outcomes,
        notes=(f"{left_out} left out",) if rankings else (),
        maximise=store.maximise,
        axis=budget["axis"],
        grid=budget["grid"],
    )


def _rankings(store: Store) -> Imported:
    rankings = store.rankings()
    if not len(rankings):
        raise ImportFailedError(f"{store.path} has neither runs nor rankings")
    ranked = set(rankings["instance"])
    return Imported(
        tuple(store.config["algorithms"]),
        tuple(one for name, one in _instances(store).items() if name in ranked),
        rankings=rankings.sort("instance", "t"),
        axis=store.config["budget"]["axis"],
    )


def _instances(store: Store) -> dict[str, Instance]:
    """The instances by name; their specs include what the suite and the configuration know."""
    specs, weights, indices = store.specs(), store.weights(), store.instances()["index"]
    optima = best_values(store, list(specs))
    found = {}
    for index, (name, spec), optimum in zip(indices, specs.items(), optima, strict=True):
        facts = {} if optimum is None else {OPTIMUM: optimum}
        if name in weights:
            facts[WEIGHT] = weights[name]
        found[name] = Instance(index, name, {"imported": name, **spec, **facts})
    return found
