"""Stores of every kind that a report may meet; nothing here is written to by a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from polarbear.report.material import Material, gather
from polarbear.store import Store
from tests.report import stores


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
