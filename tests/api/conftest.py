"""One small race that the door is tried on; tests that write make a store of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import polarbear as pb

RATINGS = {"A": 0.6, "B": 0.35, "<b>C</b>": 0.05}


def configuration(**changes: Any) -> dict[str, Any]:
    """Three synthetic algorithms, the first the best, one with a name that HTML must escape."""
    return {
        "algorithms": [{"name": name, "use": "synthetic"} for name in RATINGS],
        "instances": {"suite": "synthetic", "ratings": RATINGS},
        "budget": {"grid": [10, 100, 1000]},
        "race": {"limits": {"instances": 32}},
        "execution": {"workers": 2},
        "inference": {"draws": 1000},
        **changes,
    }


@pytest.fixture(scope="session")
def raced(tmp_path_factory: pytest.TempPathFactory) -> pb.Store:
    """A race at its limit; nothing here is written to by a test, but for posteriors."""
    return pb.race(configuration(), tmp_path_factory.mktemp("api") / "raced")


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> pb.Store:
    """The same algorithms with values that mean something, as the classical view needs them."""
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
