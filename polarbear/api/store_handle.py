"""The store of the Python interface: its contents, and all questions about them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from polarbear import api
from polarbear.api.listening import Listener
from polarbear.plain import html_table
from polarbear.settings.grid import Budget
from polarbear.settings.options import Source, validate
from polarbear.store import Store as StoreOnDisk
from polarbear.store import summary
from polarbear.wording import counted, time, timed, whole

if TYPE_CHECKING:
    from polarbear.api.inferring import GridLike
    from polarbear.api.posterior import Posterior
    from polarbear.api.reporting import Report
    from polarbear.api.store_details import Duels, Forgotten, InstanceRuns, Renamed
    from polarbear.api.store_status import Standings
    from polarbear.classical.comparison_facts import Compared
    from polarbear.formats.store_export import ExportResult as ExportResult
    from polarbear.plain import Record
    from polarbear.selection.facts import Answer

__all__ = ["Store", "open"]


class Store:
    """A folder of runs, posteriors and rounds of a race.

    ``result`` is the record of the call that returned this object (`race`, `run`, `import_data` or
    `merge`), with the facts of the command's --json; None after `open`.
    """

    def __init__(self, disk: StoreOnDisk, result: Record | None = None) -> None:
        self._disk = disk
        self.result = result

    @property
    def path(self) -> Path:
        return self._disk.path

    @property
    def config(self) -> dict[str, Any]:
        """The configuration of everything stored, with every default filled in."""
        return copy.deepcopy(self._disk.config)

    @property
    def algorithms(self) -> tuple[str, ...]:
        return tuple(self._disk.config["algorithms"])

    @property
    def times(self) -> np.ndarray:
        """The grid: the times at which algorithms are compared."""
        return self._budget.times.copy()

    @property
    def axis(self) -> str:
        """The unit of time: evaluations, seconds, or one that the algorithms report."""
        return self._budget.axis

    @property
    def _budget(self) -> Budget:
        return Budget.model_validate(self._disk.config["budget"])

    def instances(self) -> pl.DataFrame:
        """One row per instance: its id, its index in the suite, the suite and its specification."""
        return self._disk.instances()

    def runs(self) -> pl.DataFrame:
        """One row for each algorithm on each instance."""
        runs = self._disk.runs()
        return runs.with_columns(best=api.store_details.sign_of(self._disk) * runs["best"])

    def trajectories(self, algorithms: Sequence[str] | None = None) -> pl.DataFrame:
        """All improvements of the runs: a row for each algorithm, instance, t and y."""
        found = list(self._disk.trajectories(algorithms))
        sign, lengths = api.store_details.sign_of(self._disk), [len(t) for _, t, _ in found]
        names = np.array([(run.algorithm, run.instance) for run, _, _ in found], dtype=object)
        algorithm, instance = np.repeat(names.reshape(-1, 2), lengths, axis=0).T
        return pl.DataFrame(
            {
                "algorithm": algorithm,
                "instance": instance,
                "t": np.concatenate([np.empty(0), *(t for _, t, _ in found)]),
                "y": np.concatenate([np.empty(0), *(sign * y for _, _, y in found)]),
            },
            schema_overrides={"algorithm": pl.String, "instance": pl.String},
        )

    def infer(
        self,
        model: str | None = None,
        *,
        algorithms: Sequence[str] | None = None,
        seed: int | None = None,
        tie_tolerance: float = 0.0,
        grid: GridLike | None = None,
        until: float | None = None,
        keep: bool = True,
        listener: Listener | None = None,
        **options: Any,
    ) -> Posterior:
        """Infer how likely each algorithm is to win over time.

        Options are those of a configuration's inference, as in ``lengthscale={"scale": 2}``. The
        posterior is kept in the store and reused, except on another ``grid`` (times, or a mapping
        as in a configuration) or on that of the store up to ``until``.
        """
        asked = api.inferring.model_options(model, options)
        listener = listener or Listener()
        budget = api.inferring.other_grid(self._disk, grid, until)
        seed = self._disk.config["seed"] if seed is None else seed
        return api.inferring.infer(
            self._disk, asked, algorithms, seed, tie_tolerance, keep, listener, budget
        )

    def grid(self, grid: GridLike | None = None, until: float | None = None) -> np.ndarray:
        """The times at which algorithms are compared, with the options of `infer`."""
        return (api.inferring.other_grid(self._disk, grid, until) or self._budget).times

    def standings(self) -> Standings:
        """The state of the race; an error where none has been run."""
        return api.store_status.standings(self._disk)

    def rename(self, old: str, new: str) -> Renamed:
        """Rename an algorithm throughout the store; nothing is run or decided again."""
        with self._disk.writing():
            return api.store_details.rename(self._disk, old, new)

    def forget(self, algorithm: str, *, failed: bool = False, restore: bool = False) -> Forgotten:
        """Set runs of an algorithm aside, all or those that ``failed``; ``restore`` undoes it."""
        act = api.store_details.restore if restore else api.store_details.forget
        with self._disk.writing():
            return act(self._disk, algorithm, failed)

    def select(
        self,
        preference: str = "uniform",
        risk: str = "p2bb",
        *,
        gamma: float = 0.05,
        portfolio: int | None = None,
        everyone: bool = False,
        algorithms: Sequence[str] | None = None,
        alpha: float = 0.99,
        sweep: bool = False,
        png: str | Path | None = None,
        information: bool = False,
        model: str | None = None,
        key: str | None = None,
        value: str = "duels",
        seed: int = 0,
        listener: Listener | None = None,
    ) -> Answer:
        """Choose an algorithm, or a portfolio, for a preference over time.

        Nothing is run. ``value`` is the value that the preference aggregates: "duels", the win rate
        against the strongest rival; "firsts", the share of first places; or "theta", the rating of
        a Plackett-Luce model.
        """
        return api.selecting.select(
            self._disk,
            preference,
            risk,
            gamma=gamma,
            portfolio=portfolio,
            everyone=everyone,
            algorithms=algorithms,
            alpha=alpha,
            sweep=sweep,
            png=None if png is None else Path(png),
            information=information,
            model=model,
            key=key,
            value=value,
            seed=seed,
            listener=listener or Listener(),
        )

    def compare(
        self,
        pair: Sequence[str] | None = None,
        *,
        algorithms: Sequence[str] | None = None,
        png: str | Path | None = None,
        csv: str | Path | None = None,
        theme: str = "light",
        width: str | float = "double",
        force: bool = False,
        **options: Any,
    ) -> Compared:
        """Compare algorithms by ECDF and AOCC, and report disagreements with the posterior.

        ``pair`` names two algorithms that are compared by their EAF. Options are those of the
        command `compare`: targets, optimum, scale, bootstrap, seed, ert (distances from the
        optimum) and per_dimension. Figures and their data are written into the folders ``png`` and
        ``csv``.
        """
        return api.reporting.compare(
            self._disk,
            pair,
            algorithms,
            options,
            given(png=png, csv=csv),
            api.reporting.style_of(theme, width, source="compare"),
            force,
        )

    def export(
        self,
        format: str,
        to: str | Path,
        *,
        algorithms: Sequence[str] | None = None,
        force: bool = False,
        **options: Any,
    ) -> ExportResult:
        """Write runs, rankings or a posterior in the format of another tool.

        ``format`` is csv or parquet (a long table), ioh or coco (a folder of runs), arviz (a kept
        posterior, as .nc or .zarr), preflib (a folder of rankings), or a plug-in's; its ``options``
        follow as keywords. Existing files are overwritten only with ``force``.
        """
        from polarbear.formats import EXPORTS
        from polarbear.formats.store_export import export_store

        chosen = validate(EXPORTS[format], options, Source(format))
        return export_store(self._disk, format, chosen, Path(to), algorithms, force)

    @property
    def page(self) -> Path:
        """The default file of the page of `polarbear report`, next to the store."""
        path = self.path.resolve()
        race = "" if self._disk.past is None else f"-race-{self._disk.past}"
        return path.with_name(f"{path.name}{race}.html")

    def duels(
        self,
        a: str,
        b: str,
        at: float | None = None,
        *,
        png: str | Path | None = None,
        svg: str | Path | None = None,
    ) -> Duels:
        """The instances on which a beat b, and the differences: at a time, by default the last."""
        drawings = given(png=png, svg=svg)
        return api.store_details.duels(self._disk, a, b, at, drawings)

    def instance(
        self, id: str, *, png: str | Path | None = None, svg: str | Path | None = None
    ) -> InstanceRuns:
        """Every run on an instance, with its trajectory and seed; drawn into the given files."""
        return api.store_details.instance(self._disk, id, given(png=png, svg=svg))

    def report(
        self,
        html: str | Path | None = None,
        *,
        png: str | Path | None = None,
        pdf: str | Path | None = None,
        svg: str | Path | None = None,
        csv: str | Path | None = None,
        only: Sequence[str] | None = None,
        round: int | None = None,
        model: str | None = None,
        theme: str = "light",
        width: str | float = "double",
        font_size: float = 8.0,
        time_axis: str = "grid",
        font: str = "sans",
        latex: str | Path | None = None,
        at: float | None = None,
        force: bool = False,
        slim: bool = False,
    ) -> Report:
        """Report on the store in words, and in the given files.

        ``html`` is the page, with ``slim`` without scripts; figures go into the folders ``png``,
        ``pdf`` and ``svg``, their data into ``csv``. ``round`` reports the state after that round.
        ``latex`` is a folder for LaTeX tables and figures, one of which shows the budget ``at``.
        Existing files are overwritten only with ``force``.
        """
        return api.reporting.report(
            self._disk,
            None if html is None else Path(html),
            given(png=png, pdf=pdf, svg=svg, csv=csv),
            only,
            round,
            model,
            api.reporting.style_of(theme, width, font_size, time_axis, font),
            force,
            slim,
            None if latex is None else Path(latex),
            at,
        )

    def __repr__(self) -> str:
        return f"<Store {str(self.path)!r}: {self._contents()}>"

    def _repr_html_(self) -> str:
        rows = [
            [entry.algorithm, whole(entry.runs), whole(entry.failed), time(entry.spent)]
            for entry in summary.by_algorithm(self._disk)
        ]
        columns = ["algorithm", "runs", "failed", self.axis]
        return html_table(f"{self.path}: {self._contents()}", columns, rows)

    def _contents(self) -> str:
        budget, rounds = self._budget, len(self._disk.rounds.numbers())
        parts = [
            counted(len(self.algorithms), "algorithm"),
            counted(len(self._disk.instances()), "instance"),
            f"{counted(len(budget.times), 'time')} up to {timed(budget.limit, budget.axis)}",
        ]
        if rounds:
            parts.append(f"{counted(rounds, 'round')} of a race")
        return ", ".join(parts)


def open(path: str | Path, race: int | None = None) -> Store:
    """The store in a folder; ``race`` selects an earlier race."""
    disk = StoreOnDisk.open(Path(path))
    return Store(disk if race is None else disk.at_race(race))


def given(**named: str | Path | None) -> dict[str, Path]:
    """The files or folders that were named, by the ending of their files."""
    return {ending: Path(path) for ending, path in named.items() if path is not None}
