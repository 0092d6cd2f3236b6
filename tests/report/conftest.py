"""Stores of every kind that a report may meet, pages of them, and one browser to look at them.

Nothing here is written to by a test.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from polarbear.driver.evidence import evidence_of
from polarbear.driver.posteriors import keep, learn
from polarbear.inference import ModelOptions
from polarbear.report.material import Material, gather
from polarbear.report.page import write_page
from polarbear.store import Store
from tests.report import stores
from tests.report.browser import Browser, chromium
from tests.support import Project

TIMES = [10, 20, 40, 80, 160, 320]
RATINGS = {
    "early": [0.55, 0.5, 0.4, 0.25, 0.15, 0.1],
    "middle": [0.2, 0.25, 0.35, 0.4, 0.3, 0.2],
    "late": [0.15, 0.15, 0.2, 0.3, 0.5, 0.65],
    "never": [0.1, 0.1, 0.05, 0.05, 0.05, 0.05],
}


@pytest.fixture(scope="session")
def raced_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small race that ended: one out, the others settled, several rounds."""
    return stores.raced(tmp_path_factory.mktemp("raced")).path


@pytest.fixture(scope="session")
def raced(raced_store: Path) -> Material:
    return gather(Store.open(raced_store))


@pytest.fixture(scope="session")
def kinds(raced: Material, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Material]:
    """Everything a figure must cope with, by what is odd about it."""
    made = {"raced": raced}
    for name, make in stores.KINDS.items():
        made[name] = gather(make(tmp_path_factory.mktemp(name.replace(" ", "-"))))
    made["looking back"] = gather(raced.store, upto=1)
    return made


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def raced_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A race over six times, and a posterior of a temporal model beside it; only read."""
    made = Project(tmp_path_factory.mktemp("raced"))
    made.configure(
        algorithms=[{"name": name, "use": "synthetic"} for name in RATINGS],
        instances={"suite": "synthetic", "ratings": RATINGS},
        budget={"grid": TIMES},
        race={"alpha": 0.95, "limits": {"rounds": 4}},
        inference={"draws": 2000},
    )
    done = made("race", "config.yaml", timeout=600)
    assert done.returncode in (0, 3), done.stderr
    infer_temporal(Store.open(made.store))
    return made


def infer_temporal(store: Store) -> None:
    """Keep a posterior whose draws belong together over time, by the quickest way there is."""
    evidence = evidence_of(store)
    options = ModelOptions(model="random-walk", method="laplace", draws=2000)
    learned = learn(store, evidence, options, seed=1)
    with store.writing():
        keep(store, evidence, learned)


@pytest.fixture(scope="session")
def race_page(raced_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "race.html"
    write_page(gather(Store.open(raced_project.store)), path)
    return path


@pytest.fixture(scope="session")
def temporal_page(raced_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same store by the model in which draws of neighbouring times belong together."""
    path = tmp_path_factory.mktemp("page") / "temporal.html"
    write_page(gather(Store.open(raced_project.store), model="random-walk"), path)
    return path
