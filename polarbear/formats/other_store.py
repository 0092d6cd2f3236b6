"""Another PolarBear store as a source: runs with seeds, ends and failures, or rankings."""

from dataclasses import replace
from pathlib import Path

from polarbear.classical.common_runs import best_values
from polarbear.errors import ImportFailedError, PolarBearError
from polarbear.execution.host import IMPORTED
from polarbear.execution.outcome import Task
from polarbear.formats.base import INVALID, Format, Imported, ImportedAlgorithm
from polarbear.problems.base import Instance
from polarbear.problems.specs import OPTIMUM
from polarbear.problems.weights import WEIGHT
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, noun


class OtherStore(Format):
    """A store of PolarBear's: its runs, or the rankings that were imported into it."""

    def read(self, source: Path) -> Imported:
        try:
            return _imported(StoreOnDisk.open(source))
        except PolarBearError as error:
            raise ImportFailedError(str(error)) from None
        except INVALID as error:
            raise ImportFailedError(f"{source} is not a valid store: {error}") from None


def _imported(store: StoreOnDisk) -> Imported:
    instances, rankings = _instances(store), store.rankings()
    outcomes = []
    for run, t, y in store.trajectories():
        algorithm = ImportedAlgorithm(name=run.algorithm)
        task = Task(algorithm, instances[run.instance], seed=run.seed, budget=run.budget)
        outcomes.append(replace(run.outcome(task, t, y), where=IMPORTED))
    if not outcomes and not len(rankings):
        raise ImportFailedError(f"{store.path} has neither runs nor rankings")
    ran = {outcome.task.instance.id for outcome in outcomes} or set(rankings["instance"])
    budget, number = store.config["budget"], len(rankings)
    left_out = f"{counted(number, 'ranking')} without values {noun(number, 'is', 'are')} left out"
    return Imported(
        tuple(store.config["algorithms"]),
        tuple(instance for name, instance in instances.items() if name in ran),
        outcomes,
        rankings=None if outcomes else rankings.sort("instance", "t"),
        notes=(left_out,) if outcomes and number else (),
        maximise=store.maximise,
        axis=budget["axis"],
        trajectory=store.config.get("trajectory", "best"),
        grid=budget["grid"] if outcomes else None,
    )


def _instances(store: StoreOnDisk) -> dict[str, Instance]:
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
