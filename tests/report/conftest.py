"""Stores of every kind that a report may meet, pages of them, and one browser to look at them.

Nothing here is written to by a test.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from polarbear.report.context import ReportContext, gather
from polarbear.report.figures.figure_files import write_text
from polarbear.report.page.build import page
from polarbear.store import StoreOnDisk
from tests.report import stores
from tests.report.browser import Browser, chromium
from tests.sharing import filled_once
from tests.support import Project, keep_posterior, synthetic

TIMES = [10, 20, 40, 80, 160, 320]
RATINGS = {
    "early": [0.55, 0.5, 0.4, 0.25, 0.15, 0.1],
    "middle": [0.2, 0.25, 0.35, 0.4, 0.3, 0.2],
    "late": [0.15, 0.15, 0.2, 0.3, 0.5, 0.65],
    "never": [0.1, 0.1, 0.05, 0.05, 0.05, 0.05],
}


class Kinds(Mapping[str, ReportContext]):
    """Everything a figure must cope with, by what is odd about it; made when asked for."""

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        self._factory = factory
        self._gathered: dict[str, ReportContext] = {}

    def __getitem__(self, name: str) -> ReportContext:
        if name not in self._gathered:
            self._gathered[name] = self._gather(name)
        return self._gathered[name]

    def _gather(self, name: str) -> ReportContext:
        if name == "looking back":
            return gather(self["raced"].store, upto=1)
        folder = filled_once(self._factory, name, stores.KINDS[name])
        return gather(StoreOnDisk.open(folder / "store"), model=stores.MODELS.get(name))

    def __iter__(self) -> Iterator[str]:
        return iter([*stores.KINDS, "looking back"])

    def __len__(self) -> int:
        return len(stores.KINDS) + 1


@pytest.fixture(scope="session")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Kinds:
    return Kinds(tmp_path_factory)


@pytest.fixture(scope="session")
def raced(kinds: Kinds) -> ReportContext:
    """A small race that ended: one out, the others settled, several rounds."""
    return kinds["raced"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def raced_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A race over six times, and a posterior of a temporal model beside it; only read."""
    return Project(filled_once(tmp_path_factory, "raced project", race_over_six_times))


def race_over_six_times(folder: Path) -> None:
    made = Project(folder)
    made.configure(
        **synthetic(RATINGS),
        budget={"grid": TIMES},
        race={"alpha": 0.95, "limits": {"rounds": 4}},
        inference={**stores.QUICK, "draws": 2000},
    )
    made.race("config.yaml")
    # draws that belong together over time, by the quickest way there is
    keep_posterior(StoreOnDisk.open(made.store), model="random-walk", method="laplace", draws=2000)


@pytest.fixture(scope="session")
def race_page(raced_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    def fill(folder: Path) -> None:
        write_text(
            partial(page, gather(StoreOnDisk.open(raced_project.store))), folder / "race.html"
        )

    return filled_once(tmp_path_factory, "race page", fill) / "race.html"


@pytest.fixture(scope="session")
def temporal_page(raced_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same store by the model in which draws of neighbouring times belong together."""

    def fill(folder: Path) -> None:
        context = gather(StoreOnDisk.open(raced_project.store), model="random-walk")
        write_text(partial(page, context), folder / "temporal.html")

    return filled_once(tmp_path_factory, "temporal page", fill) / "temporal.html"
