"""Stores of every kind that a report may describe, pages of them, and a browser that opens pages.

Tests only read these stores and pages.
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
    "never": [0.02, 0.02, 0.01, 0.01, 0.01, 0.01],
}


class Kinds(Mapping[str, ReportContext]):
    """Contexts of stores by the name of what is special about each, filled at their first use."""

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
    """A small race that ended after several rounds: one algorithm is out, the others settled."""
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
    project = Project(folder)
    project.configure(
        **synthetic(RATINGS),
        budget={"grid": TIMES},
        race={"alpha": 0.95, "limits": {"rounds": 4}},
        inference={**stores.QUICK, "draws": 2000},
    )
    project.race("config.yaml")
    # The quickest way to draws that are correlated over time.
    keep_posterior(
        StoreOnDisk.open(project.store), model="random-walk", method="laplace", draws=2000
    )


@pytest.fixture(scope="session")
def race_page(raced_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    def fill(folder: Path) -> None:
        write_text(
            partial(page, gather(StoreOnDisk.open(raced_project.store))), folder / "race.html"
        )

    return filled_once(tmp_path_factory, "race page", fill) / "race.html"


@pytest.fixture(scope="session")
def temporal_page(raced_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of the same store, by a model whose draws are correlated over time."""

    def fill(folder: Path) -> None:
        context = gather(StoreOnDisk.open(raced_project.store), model="random-walk")
        write_text(partial(page, context), folder / "temporal.html")

    return filled_once(tmp_path_factory, "temporal page", fill) / "temporal.html"
