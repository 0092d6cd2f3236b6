"""What MA-BBOB hangs on: modules of CMA-ES, and who draws, on populations made by hand."""

from __future__ import annotations

from pathlib import Path

import modules
import numpy as np
import pathfinder
import pytest
import yaml
from releases import Release, written

from polarbear.config import parse
from polarbear.racing.rules import Rules
from polarbear.settings.options import Source
from tests.inference.stan_support import needs_cmdstan
from tests.studies.test_mabbob import population


@pytest.mark.parametrize("name", modules.CHANGES)
def test_a_change_is_one_of_every_cma_and_can_be_configured(name: str):
    plain = yaml.safe_load(modules.CONFIG.read_text())
    config = parse(modules.changed(plain, modules.CHANGES[name]), Source(name))
    (key,) = modules.CHANGES[name]
    before = parse(plain, Source("plain"))
    for one, other in zip(before.algorithms, config.algorithms, strict=True):
        same = one.model_dump() == other.model_dump()
        assert same == (one.name == "RS")
        assert other.model_dump(exclude={key}) == one.model_dump(exclude={key})
    assert config.instances == before.instances


def test_all_are_compared_with_the_first(tmp_path: Path):
    people, names = population(), tuple(f"i{k}" for k in range(60))
    ways = [Release(name, people, names) for name in ("plain", "one", "two")]
    text = written(ways, tmp_path, "way", with_first=True)
    assert text.startswith("60 instances, all algorithms on each by each way.")
    assert "by the first way" in text
    compared = (tmp_path / "changed.csv").read_text().splitlines()[1:]
    assert {tuple(line.split(",")[2:4]) for line in compared} == {
        ("one", "plain"),
        ("two", "plain"),
    }


@needs_cmdstan
def test_pathfinder_and_exact_draws_are_told_apart_by_no_more_than_draws_are(monkeypatch):
    """With 1,000 draws each a probability has a standard error of 0.016 at most; 84 of them are
    looked at, of which the largest difference is beyond 5 of those once in a million times."""
    monkeypatch.setattr(pathfinder, "LIMIT", 16)
    few = {"draws": 1000}
    monkeypatch.setattr(pathfinder, "EXACT", pathfinder.EXACT.model_copy(update=few))
    monkeypatch.setattr(pathfinder, "PATHFINDER", pathfinder.PATHFINDER.model_copy(update=few))
    row = pathfinder.compared(0, population(), Rules(alpha=0.99, resolution="strict"))
    assert row["instances"] == 16
    assert not row["XNES is out"]
    assert row["exact again, at most"] < 5 * 0.016 * np.sqrt(2)
    assert row["Pathfinder, off by"] < 0.1
    text = pathfinder.written([{"seed": 0, **row}], 0.99)
    assert "XNES is out within 16 instances in 0." in text
