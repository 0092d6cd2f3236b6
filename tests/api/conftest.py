"""One small race for all tests of the Python interface; tests that write make another store."""

from pathlib import Path
from typing import Any

import pytest

import polarbear as pb
from polarbear.store import StoreOnDisk
from tests.support import synthetic

RATINGS = {"A": 0.6, "B": 0.35, "<b>C</b>": 0.05}


def configuration(**changes: Any) -> dict[str, Any]:
    """Three synthetic algorithms, the first the best, one with a name that HTML must escape."""
    return {
        **synthetic(RATINGS),
        "budget": {"grid": [10, 100, 1000]},
        "race": {"regret": None, "limits": {"instances": 32}},
        "execution": {"workers": 2},
        "inference": {"draws": 1000},
        **changes,
    }


def stored_runs(folder: Path, instances: int = 2) -> StoreOnDisk:
    """A store on disk with the runs of all algorithms, without a race."""
    suite = {"suite": "synthetic", "ratings": RATINGS, "count": instances}
    return StoreOnDisk.open(pb.run(configuration(instances=suite), folder / "store").path)


@pytest.fixture(scope="session")
def raced(tmp_path_factory: pytest.TempPathFactory) -> pb.Store:
    """A race at its limit; tests add posteriors only."""
    return pb.race(configuration(), tmp_path_factory.mktemp("api") / "raced")


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> pb.Store:
    """The same algorithms with meaningful values, which the classical view needs."""
    folder = tmp_path_factory.mktemp("measured")
    rows = [
        f"{name},i{i},{t},{10 * a + i + 100 / t}"
        for a, name in enumerate(RATINGS)
        for i in range(6)
        for t in (1, 10, 100)
    ]
    (folder / "table.csv").write_text("\n".join(["algorithm,instance,t,y", *rows]))
    return pb.import_data(folder / "table.csv", folder / "store")


@pytest.fixture(scope="session")
def temporal(raced: pb.Store) -> pb.Posterior:
    return raced.infer(model="random-walk", draws=1000)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"
