"""The store of the Python interface: its contents, and all questions about them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from polarbear import api
from polarbear.errors import RaceError
from polarbear.facts.standings import Standings
from polarbear.facts.standings import standings as standings_of
from polarbear.records import Facts, html_table, json_values
from polarbear.settings.grid import Budget
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, timed

if TYPE_CHECKING:
    from polarbear.api.plots import Plots
    from polarbear.api.posterior import GridLike, infer
    from polarbear.api.reporting import compare, report
    from polarbear.api.selecting import select
    from polarbear.api.store_changes import chooser, export, forget, rename
    from polarbear.facts.run_details import Duels as Duels
    from polarbear.facts.run_details import InstanceRuns as InstanceRuns
else:

    class _Question:
        """A method whose function, and the rooms that it needs, are imported at its first use."""

        def __init__(self, module: str) -> None:
            self._module = module

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, store: Store | None, owner: type) -> Callable[..., object]:
            module = importlib.import_module(f"polarbear.api.{self._module}")
            function = getattr(module, self._name)
            return function if store is None else MethodType(function, store)

    infer, select = _Question("posterior"), _Question("selecting")
    compare, report = _Question("reporting"), _Question("reporting")
    chooser, export = _Question("store_changes"), _Question("store_changes")
    forget, rename = _Question("store_changes"), _Question("store_changes")


class Store:
    """A folder of runs, posteriors and rounds of a race.

    ``result`` is the record of the call that returned this object (`race`, `run`, `import_data` or
    `merge`, each with its own), with the facts of the command's --json; None after `open`.
    """

    infer = infer
    select = select
    compare = compare
    report = report
    chooser = chooser
    export = export
    forget = forget
    rename = rename

    def __init__(self, disk: StoreOnDisk, result: Any = None) -> None:
        self._disk = disk
        self.result = result

    @property
    def path(self) -> Path:
        return self._disk.path

    @property
    def config(self) -> Facts:
        """The configuration of everything stored, with every default filled in."""
        return self._disk.settings.plain()

    @property
    def algorithms(self) -> tuple[str, ...]:
        return tuple(self._disk.settings.algorithms)

    @property
    def times(self) -> np.ndarray:
        """The grid: the times at which algorithms are compared."""
        return self._budget.times.copy()

    @property
    def axis(self) -> str:
        """The unit of time: evaluations, seconds, or one that the algorithms report."""
        return self._budget.axis

    @property
    def page(self) -> Path:
        """The default file of the page of `polarbear report`, next to the store."""
        path = self.path.resolve()
        race = "" if self._disk.past is None else f"-race-{self._disk.past}"
        return path.with_name(f"{path.name}{race}.html")

    @property
    def plot(self) -> Plots:
        """The figures of the report for notebooks: ``store.plot.leaders()``."""
        return api.plots.Plots(self._disk)

    @property
    def _budget(self) -> Budget:
        return self._disk.settings.budget

    def instances(self) -> pl.DataFrame:
        """One row per instance: its id, its index in the suite, the suite and its specification.

        >>> store.instances()["instance"][0]
        'classic-0-sphere-d2'
        """
        return self._disk.instances()

    def runs(self) -> pl.DataFrame:
        """One row for each algorithm on each instance.

        >>> store.runs()["status"].unique().to_list()
        ['budget']
        """
        return self._disk.runs().with_columns(best=self._disk.sign * pl.col("best"))

    def trajectories(self, algorithms: Sequence[str] | None = None) -> pl.DataFrame:
        """All improvements of the runs of ``algorithms``, by default of all: rows of t and y.

        >>> store.trajectories(["powell"]).columns
        ['algorithm', 'instance', 't', 'y']
        """
        rows = [
            (run.algorithm, run.instance, t, y) for run, t, y in self._disk.trajectories(algorithms)
        ]
        numbers, names = pl.List(pl.Float64), {"algorithm": pl.String, "instance": pl.String}
        frame = pl.DataFrame(rows, {**names, "t": numbers, "y": numbers}, orient="row")
        signed = self._disk.sign * pl.col("y")
        return frame.explode("t", "y").drop_nulls("t").with_columns(y=signed)

    def grid(self, grid: GridLike | None = None, until: float | None = None) -> np.ndarray:
        """The times at which algorithms are compared; ``grid`` and ``until`` as in `infer`.

        >>> store.grid(until=500)
        array([100.])
        """
        return (api.posterior.other_grid(self._disk, grid, until) or self._budget).times

    def standings(self) -> Standings:
        """The state of the race; an error where none has been run.

        >>> store.standings().pareto_set
        ('powell',)
        """
        found = standings_of(self._disk)
        if found is None:
            state = "has to be decided again" if self._disk.races.numbers() else "has not been run"
            raise RaceError(f"the race in {self.path} {state}; `polarbear race` does it")
        return found

    def duels(
        self,
        a: str,
        b: str,
        at: float | None = None,
        *,
        png: str | Path | None = None,
        svg: str | Path | None = None,
    ) -> Duels:
        """The instances on which ``a`` beat ``b`` ``at`` a time, by default the last, and margins.

        They are drawn into the files ``png`` and ``svg``.

        >>> store.duels("powell", "random").wins_b
        0
        """
        from polarbear.facts.run_details import duels_at

        found = duels_at(self._disk, a, b, at)
        for format, path in given(png=png, svg=svg).items():
            from polarbear.report.figures.on_demand import draw_duels  # imports matplotlib

            draw_duels(found, self._disk.settings, path, format)
        return found

    def instance(
        self, id: str, *, png: str | Path | None = None, svg: str | Path | None = None
    ) -> InstanceRuns:
        """Every run on the instance ``id``, with its trajectory and seed.

        They are drawn into the files ``png`` and ``svg``.

        >>> [run.algorithm for run in store.instance("classic-0-sphere-d2").runs]
        ['random', 'powell']
        """
        from polarbear.facts.run_details import runs_on

        found = runs_on(self._disk, id)
        for format, path in given(png=png, svg=svg).items():
            from polarbear.report.figures.on_demand import draw_runs  # imports matplotlib

            draw_runs(found, self._disk.settings, path, format)
        return found

    def __repr__(self) -> str:
        return f"<Store {str(self.path)!r}: {self._contents()}>"

    def _repr_html_(self) -> str:
        from polarbear.facts import summary

        runs = json_values(summary.by_algorithm(self._disk))
        return html_table(f"{self.path}: {self._contents()}", runs)

    def _contents(self) -> str:
        budget, rounds = self._budget, len(self._disk.rounds.numbers())
        parts = [
            counted(len(self.algorithms), "algorithm"),
            counted(len(self._disk.instances()), "instance"),
            f"{counted(len(budget.times), 'time')} up to {timed(budget.limit, budget.axis)}",
            *([f"{counted(rounds, 'round')} of a race"] if rounds else []),
        ]
        return ", ".join(parts)


def open(path: str | Path, race: int | None = None) -> Store:
    """The store in the folder ``path``; ``race`` selects an earlier race.

    >>> pb.open("results").algorithms
    ('random', 'powell')
    """
    disk = StoreOnDisk.open(Path(path))
    return Store(disk if race is None else disk.at_race(race))


def given(**named: str | Path | None) -> dict[str, Path]:
    """The files or folders that were named, by the ending of their files."""
    return {ending: Path(path) for ending, path in named.items() if path is not None}
