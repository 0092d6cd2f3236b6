"""The store of the Python interface: its contents, and all questions about them.

A method imports what only it needs: all of these together double the time of `polarbear status`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from polarbear.api.keyword_options import ComparisonKeywords, FigureKeywords, ModelKeywords
from polarbear.errors import RaceError
from polarbear.facts import standings, summary
from polarbear.records import Facts, html_table, json_values
from polarbear.selection.criterion_names import (
    DEFAULT_DOMINATED_LEVEL,
    DEFAULT_PREFERENCE,
    DEFAULT_RISK,
    DEFAULT_VALUE,
)
from polarbear.settings import defaults
from polarbear.settings.decision_levels import DEFAULT_QUANTILE_LEVEL
from polarbear.settings.enumerations import Theme
from polarbear.settings.grid import Budget
from polarbear.settings.options import Source, validate
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, timed

if TYPE_CHECKING:
    from polarbear.api.listening import Listener
    from polarbear.api.plots import Plots
    from polarbear.api.posterior import GridLike, GroupAnswers, Posterior
    from polarbear.api.reporting import Compared, Report
    from polarbear.api.selecting import Answer, CrossValidation
    from polarbear.driver.forget import Forgotten, Renamed
    from polarbear.facts.run_details import Duels as Duels
    from polarbear.facts.run_details import InstanceRuns as InstanceRuns
    from polarbear.facts.standings import Standings
    from polarbear.formats.chooser import Chooser
    from polarbear.formats.transfer import ExportResult


class Store:
    """A folder of runs, posteriors and rounds of a race.

    ``result`` is the record of the call that returned this object (`race`, `run`, `import_data` or
    `merge`, each with its own), with the facts of the command's --json; None after `open`.
    """

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
        from polarbear.api.plots import Plots  # imports Matplotlib

        return Plots(self._disk)

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
        """The improvements of the runs of ``algorithms``, by default of all, and their ends.

        The last row of a run is its end. ``run_status`` is how it ended: budget or lost if it was
        stopped from outside, after which it is absent from comparisons. The y of a run that found
        nothing is null. Where a value is infeasible there is a column violation, 0 where feasible.
        With several objectives there are columns y1, y2 and so on instead of y.

        >>> store.trajectories(["powell"]).columns
        ['algorithm', 'instance', 'run_status', 't', 'y']
        """
        from polarbear.formats.base import has_violations, points_and_end
        from polarbear.formats.imported_runs import VIOLATION
        from polarbear.formats.table import RUN_STATUS
        from polarbear.store.tables import value_columns as value_columns_of

        runs = list(self._disk.improvements(algorithms))
        rows = []
        for run, improvements in runs:
            points = points_and_end(run, improvements, self._disk.sign)
            values = points.value_columns.values()
            labels = (run.algorithm, run.instance, run.status.value)
            rows.append((*labels, points.times, *values, points.violations))
        value_columns = value_columns_of(self._disk.n_objectives)
        schema: dict[str, pl.DataType | type[pl.DataType]] = {
            "algorithm": pl.String,
            "instance": pl.String,
            RUN_STATUS: pl.String,
            "t": pl.List(pl.Float64),
            **dict.fromkeys(value_columns, pl.List(pl.Float64)),
            VIOLATION: pl.List(pl.Float64),
        }
        one_row_per_run = pl.DataFrame(rows, schema, orient="row")
        one_row_per_point = one_row_per_run.explode("t", *value_columns, VIOLATION)
        return one_row_per_point if has_violations(runs) else one_row_per_point.drop(VIOLATION)

    def grid(self, grid: GridLike | None = None, until: float | None = None) -> np.ndarray:
        """The times at which algorithms are compared; ``grid`` and ``until`` as in `infer`.

        >>> store.grid(until=500)
        array([100.])
        """
        from polarbear.api import posterior

        budget = posterior.other_grid(self._disk, grid, until) or self._budget
        return budget.times

    def standings(self) -> Standings:
        """The state of the race; an error where none has been run.

        >>> store.standings().pareto_set
        ('powell',)
        """
        state_of_race = standings.standings(self._disk)
        if state_of_race is None:
            state = "has to be decided again" if self._disk.races.numbers() else "has not been run"
            raise RaceError(f"the race in {self.path} {state}; `polarbear race` does it")
        return state_of_race

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
        from polarbear.facts import run_details

        duels = run_details.duels_at(self._disk, a, b, at)
        for format, path in (("png", png), ("svg", svg)):
            if path is not None:
                from polarbear.report.figures.on_demand import draw_duels  # imports Matplotlib

                draw_duels(duels, self._disk.settings, Path(path), format)
        return duels

    def instance(
        self, id: str, *, png: str | Path | None = None, svg: str | Path | None = None
    ) -> InstanceRuns:
        """Every run on the instance ``id``, with its trajectory and seed.

        They are drawn into the files ``png`` and ``svg``.

        >>> [run.algorithm for run in store.instance("classic-0-sphere-d2").runs]
        ['random', 'powell']
        """
        from polarbear.facts import run_details

        runs = run_details.runs_on(self._disk, id)
        for format, path in (("png", png), ("svg", svg)):
            if path is not None:
                from polarbear.report.figures.on_demand import draw_runs  # imports Matplotlib

                draw_runs(runs, self._disk.settings, Path(path), format)
        return runs

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
        **options: Unpack[ModelKeywords],
    ) -> Posterior:
        """Infer how likely each algorithm is to win over time, by a ``model``.

        The default model is "empirical". ``options`` are those of a configuration's inference, as
        in ``lengthscale={"scale": 2}``. The posterior is kept in the store and reused unless
        ``keep`` is False, except on another ``grid`` (times, or a mapping as in a configuration) or
        on that of the store up to ``until``. Values that differ by at most ``tie_tolerance`` are
        tied; ``algorithms`` restricts the comparison; ``seed`` is that of the draws, by default the
        store's; ``listener`` receives warnings.

        >>> store.infer(draws=1000).theta.shape  # draws, times, algorithms
        (1000, 2, 2)
        """
        from polarbear.api import posterior

        return posterior.infer(
            self._disk,
            model,
            algorithms=algorithms,
            seed=seed,
            tie_tolerance=tie_tolerance,
            grid=grid,
            until=until,
            keep=keep,
            listener=listener,
            **options,
        )

    def infer_by(
        self,
        by: str,
        model: str | None = None,
        *,
        algorithms: Sequence[str] | None = None,
        seed: int | None = None,
        tie_tolerance: float = 0.0,
        grid: GridLike | None = None,
        until: float | None = None,
        listener: Listener | None = None,
        **options: Unpack[ModelKeywords],
    ) -> GroupAnswers:
        """Infer how likely each algorithm is to win in each group of problems ``by`` a feature.

        A feature of few numbers, or of categories, has a group for each; others are cut into
        quarters, or as in ``by="dimension:5,20"``. In the answer for a group, problems of other
        groups count as a weight that held-out duels have chosen. Nothing is stored. ``model``,
        ``algorithms``, ``seed``, ``tie_tolerance``, ``grid``, ``until``, ``listener`` and the
        ``options`` of models are those of `infer`.

        >>> [group.label for group in store.infer_by("dimension", draws=1000).groups]
        ['2', '3']
        """
        from polarbear.api import posterior

        return posterior.infer_by(
            self._disk,
            by,
            model,
            algorithms=algorithms,
            seed=seed,
            tie_tolerance=tie_tolerance,
            grid=grid,
            until=until,
            listener=listener,
            **options,
        )

    def select(
        self,
        preference: str = DEFAULT_PREFERENCE,
        risk: str = DEFAULT_RISK,
        *,
        gamma: float = DEFAULT_QUANTILE_LEVEL,
        portfolio: int | None = None,
        all: bool = False,
        algorithms: Sequence[str] | None = None,
        alpha: float = DEFAULT_DOMINATED_LEVEL,
        sweep: bool = False,
        png: str | Path | None = None,
        value_of_information: bool = False,
        model: str | None = None,
        key: str | None = None,
        value: str = DEFAULT_VALUE,
        seed: int = 0,
        features: Mapping[str, str | float] | str | None = None,
        instance: str | None = None,
        listener: Listener | None = None,
    ) -> Answer:
        """Choose an algorithm, or a portfolio, for a ``preference`` over time.

        Nothing is run. ``risk`` is "p2bb", "mean", "quantile" (at the level ``gamma``) or "regret".
        ``portfolio`` is the number of algorithms to run in parallel. ``algorithms`` restricts the
        candidates: by default those of the race or, without one, all that are not dominated with
        probability ``alpha``; ``all`` also shows the others. ``sweep`` adds the choice for each
        budget, drawn into the file ``png``, and ``value_of_information`` the possible gain of
        further rounds. ``model`` or ``key`` select a posterior; ``seed`` is that of the samples
        that check a preference function; ``listener`` receives warnings. ``value`` is the value
        that the preference aggregates: "duels", the win rate against the strongest rival; "firsts",
        the share of first places; or "theta", the rating of a Plackett-Luce model. ``features`` of
        a new instance, or the id of an ``instance`` of the store, give past problems that are like
        it more weight (needs the extra 'features').

        >>> store.select("at 1000").choice
        'powell'
        """
        from polarbear.api import selecting

        return selecting.select(
            self._disk,
            preference,
            risk,
            gamma=gamma,
            portfolio=portfolio,
            show_all=all,
            algorithms=algorithms,
            alpha=alpha,
            sweep=sweep,
            png=png,
            value_of_information=value_of_information,
            model=model,
            key=key,
            value=value,
            seed=seed,
            features=features,
            instance=instance,
            listener=listener,
        )

    def cross_validate(self, *, png: str | Path | None = None) -> CrossValidation:
        """Score choices with and without features on problems that had no part in them.

        The figure is drawn into the file ``png``. Features need the extra 'features'; without
        features in the store, choices without them are scored.

        >>> [budget.t for budget in store.cross_validate().budgets]
        [100.0, 1000.0]
        """
        from polarbear.api import selecting

        return selecting.cross_validate(self._disk, png)

    def compare(
        self,
        pair: Sequence[str] | None = None,
        *,
        algorithms: Sequence[str] | None = None,
        png: str | Path | None = None,
        csv: str | Path | None = None,
        theme: str = Theme.LIGHT,
        width: str | float = defaults.WIDTH,
        force: bool = False,
        **options: Unpack[ComparisonKeywords],
    ) -> Compared:
        """Compare algorithms by ECDF and AOCC, and report disagreements with the posterior.

        ``pair`` names two algorithms that are compared by their EAF, ``algorithms`` all that are
        compared. ``options`` are those of the command `compare`: targets, optimum, scale,
        bootstrap, seed, ert (distances from the optimum) and per_dimension. Figures in a ``theme``
        and ``width``, and their data, are written into the folders ``png`` and ``csv``, over
        existing files only with ``force``.

        >>> store.compare(algorithms=["random", "powell"]).aocc[0].algorithm
        'powell'
        """
        from polarbear.api import reporting

        return reporting.compare(
            self._disk,
            pair,
            algorithms=algorithms,
            png=png,
            csv=csv,
            theme=theme,
            width=width,
            force=force,
            **options,
        )

    def report(
        self,
        html: str | Path | None = None,
        *,
        only: Sequence[str] | None = None,
        round: int | None = None,
        model: str | None = None,
        latex: str | Path | None = None,
        at: float | None = None,
        by: str | None = None,
        slim: bool = False,
        force: bool = False,
        **figures: Unpack[FigureKeywords],
    ) -> Report:
        """Report on the store in words, and in the given files.

        ``html`` is the page, with ``slim`` without scripts. ``figures`` go into the folders
        ``png``, ``pdf`` and ``svg``, their data into ``csv``, all or ``only`` some; ``theme``,
        ``width``, ``font``, ``font_size`` and ``time_axis`` are their style. ``latex`` is a folder
        for tables and figures, one of which shows the budget ``at``. ``by`` is a feature that
        groups problems, as in `infer_by`. ``round`` reports the state after that round, ``model``
        the newest posterior of a model. Existing files are overwritten only with ``force``.

        >>> store.report("page.html").written
        (PosixPath('page.html'),)
        """
        from polarbear.api import reporting

        return reporting.report(
            self._disk,
            html,
            only=only,
            round=round,
            model=model,
            latex=latex,
            at=at,
            by=by,
            slim=slim,
            force=force,
            **figures,
        )

    def export(
        self,
        format: str,
        to: str | Path,
        *,
        algorithms: Sequence[str] | None = None,
        force: bool = False,
        **format_options: Any,
    ) -> ExportResult:
        """Write runs, rankings or a posterior ``to`` a place in the format of another tool.

        ``format`` is a name that `polarbear export --help` lists, for example csv or parquet (a
        long table), ioh or coco (a folder of runs), arviz (a kept posterior, as .nc or .zarr),
        preflib (a folder of rankings), or chooser (the decision, as .json or .py); its
        ``format_options`` follow as keywords. Only the named ``algorithms`` are written, by default
        all. Existing files are overwritten only with ``force``.

        >>> store.export("csv", "runs.csv").written
        ('runs.csv', 'runs.dictionary.csv')
        """
        from polarbear.formats import EXPORTS
        from polarbear.formats.transfer import export_store

        export = validate(EXPORTS[format], format_options, Source(format))
        return export_store(self._disk, format, export, Path(to), algorithms, force)

    def chooser(
        self,
        preference: str = DEFAULT_PREFERENCE,
        risk: str = DEFAULT_RISK,
        *,
        model: str | None = None,
        key: str | None = None,
        algorithms: Sequence[str] | None = None,
        by_features: bool = False,
    ) -> Chooser:
        """The decision for every budget, as an object to call; arguments are those of `select`.

        ``chooser(300)`` returns the algorithm for a budget and its P(best), ``chooser()`` those for
        the preference. ``to_python()`` is a module without dependencies for use in production,
        ``to_dict()`` the same facts for JSON. It depends on the ``preference``, the ``risk``, the
        posterior of ``model`` or ``key``, and the ``algorithms`` that compete. With ``by_features``
        it also takes the features of an instance, ``chooser(300, {"dimension": 20})``, and the
        groups of the report's rule by features, if there is one, have their own choices.

        >>> store.chooser()(300)
        ('powell', 1.0)
        """
        from polarbear.formats.chooser import make_chooser

        return make_chooser(
            self._disk, preference, risk, model, key, algorithms, by_features=by_features
        )

    def rename(self, old: str, new: str) -> Renamed:
        """Rename an algorithm from ``old`` to ``new`` in the whole store; nothing else changes.

        >>> store.rename("random", "baseline").new
        'baseline'
        """
        from polarbear.driver.forget import rename

        with self._disk.writing():
            return rename(self._disk, old, new)

    def forget(self, algorithm: str, *, failed: bool = False, restore: bool = False) -> Forgotten:
        """Set runs of an ``algorithm`` aside, all or those that ``failed``; ``restore`` undoes it.

        >>> store.forget("random").one_line()
        '16 runs of random set aside'
        """
        from polarbear.driver import forget as runs_set_aside

        with self._disk.writing():
            if restore:
                return runs_set_aside.restore(self._disk, algorithm, failed)
            return runs_set_aside.forget(self._disk, algorithm, failed)

    def __repr__(self) -> str:
        return f"<Store {str(self.path)!r}: {self._contents()}>"

    def _repr_html_(self) -> str:
        runs = json_values(summary.by_algorithm(self._disk))
        return html_table(f"{self.path}: {self._contents()}", runs)

    def _contents(self) -> str:
        budget = self._budget
        rounds = len(self._disk.rounds.numbers())
        parts = [
            counted(len(self.algorithms), "algorithm"),
            counted(len(self._disk.instances()), "instance"),
            f"{counted(len(budget.times), 'time')} up to {timed(budget.limit, budget.axis)}",
        ]
        if rounds:
            parts.append(f"{counted(rounds, 'round')} of a race")
        return ", ".join(parts)


def open(path: str | Path, race: int | None = None) -> Store:
    """The store in the folder ``path``; ``race`` selects an earlier race.

    >>> pb.open("results").algorithms
    ('random', 'powell')
    """
    disk = StoreOnDisk.open(Path(path))
    return Store(disk if race is None else disk.at_race(race))
