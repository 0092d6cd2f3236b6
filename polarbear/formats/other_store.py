"""Another PolarBear store as a source: runs with seeds, ends and failures, or rankings."""

from dataclasses import replace
from pathlib import Path

import polars as pl

from polarbear.classical.common_runs import best_values
from polarbear.errors import ImportFailedError, PolarBearError
from polarbear.execution.host import IMPORTED
from polarbear.execution.outcome import Task
from polarbear.formats.base import INVALID, Format, Imported
from polarbear.formats.imported_runs import ImportedAlgorithm
from polarbear.problems.base import Instance
from polarbear.problems.specs import OPTIMUM
from polarbear.problems.weights import WEIGHT
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, joined, noun


class OtherStore(Format):
    """A PolarBear store: its runs, or the rankings that were imported into it."""

    def read(self, source: Path) -> Imported:
        try:
            return _imported(StoreOnDisk.open(source))
        except PolarBearError as error:
            raise ImportFailedError(str(error)) from None
        except INVALID as error:
            raise ImportFailedError(f"{source} is not a valid store: {error}") from None


def _imported(store: StoreOnDisk) -> Imported:
    instances = _instances(store)
    rankings = store.rankings()
    outcomes = []
    for run, improvements in store.improvements():
        algorithm = ImportedAlgorithm(name=run.algorithm)
        task = Task(algorithm, instances[run.instance], seed=run.seed, budget=run.budget)
        outcomes.append(replace(run.outcome(task, improvements), where=IMPORTED))
    if not outcomes and not len(rankings):
        raise ImportFailedError(f"{store.path} has neither runs nor rankings")
    if outcomes:
        used_instances = {outcome.task.instance.id for outcome in outcomes}
    else:
        used_instances = set(rankings["instance"])
    settings = store.settings
    notes: tuple[str, ...] = ()
    if outcomes and len(rankings):
        n_rankings = counted(len(rankings), "ranking")
        notes = (f"{n_rankings} without values {noun(len(rankings), 'is', 'are')} left out",)
    if settings.contracts:
        notes += (
            f"{joined(list(settings.contracts))}: the runs with several budgets are one trajectory "
            "here, the final value of each at its budget",
        )
    return Imported(
        tuple(settings.algorithms),
        tuple(instance for name, instance in instances.items() if name in used_instances),
        outcomes,
        rankings=None if outcomes else rankings.sort("instance", "t"),
        notes=notes,
        maximise=store.maximise,
        axis=settings.budget.axis,
        n_objectives=store.n_objectives,
        trajectory="last" if settings.contracts else settings.trajectory,
        grid=settings.budget.grid if outcomes else None,
        features=store.features().filter(pl.col("instance").is_in(list(used_instances))),
    )


def _instances(store: StoreOnDisk) -> dict[str, Instance]:
    """The instances by name; their specs include optima of the suite and configured weights."""
    specs = store.specs()
    weights = store.weights()
    indices = store.instances()["index"]
    optima = best_values(store, list(specs))
    instances = {}
    for index, (name, spec), optimum in zip(indices, specs.items(), optima, strict=True):
        facts = {} if optimum is None else {OPTIMUM: optimum}
        if name in weights:
            facts[WEIGHT] = weights[name]
        instances[name] = Instance(index, name, {"imported": name, **spec, **facts})
    return instances
