"""A posterior as a record: ratings, and pairs where they are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from polarbear.driver.evidence import evidence_of
from polarbear.driver.inferred import inferred, with_pairs
from polarbear.driver.posterior_cache import CachedPosterior, cached_posterior
from polarbear.inference import ModelOptions
from polarbear.plain import plain
from tests.driver.test_posterior_cache import synthetic


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> CachedPosterior:
    folder: Path = tmp_path_factory.mktemp("inferred")
    store = synthetic(folder, instances=12)
    return cached_posterior(
        store, evidence_of(store), ModelOptions(model="dirichlet", draws=400), seed=1
    )


def test_ratings_are_those_of_the_posterior_at_the_times_shown(learned: CachedPosterior):
    told = inferred(learned, [1])
    assert [(row.algorithm, row.t) for row in told.ratings] == [("A", 100), ("B", 100), ("C", 100)]
    assert [row.mean for row in told.ratings] == pytest.approx(learned.posterior.mean()[1])
    assert all(row.low < row.mean < row.high for row in told.ratings)
    assert list(plain(told))[-1] == "ratings"


def test_every_ordered_pair_is_there_where_asked_for_and_over_all_times_only_where_known(
    learned: CachedPosterior,
):
    told = with_pairs(inferred(learned, [0, 1]), learned, [0, 1], 0.1)
    assert told.pairs is not None
    assert len(told.pairs) == 3 * 2 * 2
    better = {(row.a, row.b, row.t): row.p_dominates for row in told.pairs}
    for (a, b, t), p in better.items():
        assert p + better[b, a, t] == pytest.approx(1)
    assert told.joint is None
    assert list(plain(told))[-2:] == ["epsilon", "pairs"]


def test_diagnostics_say_in_plain_data_whether_they_passed(learned: CachedPosterior):
    shown = plain(inferred(learned, [0]))["diagnostics"]
    assert shown["passed"] == (not shown["problems"])
    assert list(shown)[-2:] == ["passed", "problems"]
