"""Stores whose pairs are too many for draws: a posterior of those that no other one dominates."""

from unittest import mock

import numpy as np
import pytest

from polarbear.facts.evidence import evidence_of
from polarbear.facts.undominated import that_fits
from polarbear.inference import ModelOptions, dispatch
from polarbear.inference.empirical.pair_probabilities import p_always_better, p_better
from polarbear.rankings.duels import ProblemDuels, duels_of
from polarbear.store import StoreOnDisk
from tests.classical.helpers import Run, make_store
from tests.support import Project

N_INSTANCES = 40
MEMORY_FOR_TWO = 5_000  # numbers: draws of two algorithms fit, those of all four do not


@pytest.fixture
def store(project: Project) -> StoreOnDisk:
    """Early is best early, late is best late; the others are worse than early at each time."""
    rng = np.random.default_rng(2)
    runs: dict[str, list[Run | None]] = {"worse": [], "early": [], "late": [], "worst": []}
    for noise in rng.normal(0, 0.1, (N_INSTANCES, 4)):
        values = {"worse": [8, 5, 3], "early": [7, 4, 2], "late": [9, 6, 1], "worst": [9.5, 7, 4]}
        for (name, levels), difference in zip(values.items(), noise, strict=True):
            runs[name].append(Run([1, 10, 100], [level + difference for level in levels]))
    return make_store(project.folder / "store", runs)


def test_only_undominated_algorithms_are_inferred_if_all_do_not_fit(
    project: Project, store: StoreOnDisk
):
    with mock.patch.object(dispatch, "MAX_NUMBERS", MEMORY_FOR_TWO):
        inferred = project.json("infer", "store", "--pairs")
        selected = project.json("select", "store", "--preference", "at 100")
    assert {rating["algorithm"] for rating in inferred["ratings"]} == {"early", "late"}
    assert inferred["notes"][0].startswith("2 of 4 algorithms left out, for which another one is")
    assert selected["choice"] == "late"
    assert {row["algorithm"] for row in selected["ranking"]} == {"early", "late"}


def test_evidence_that_fits_is_unchanged(store: StoreOnDisk):
    evidence = evidence_of(store)
    assert that_fits(evidence, ModelOptions()) is evidence
    with mock.patch.object(dispatch, "MAX_NUMBERS", MEMORY_FOR_TWO):
        assert that_fits(evidence, ModelOptions(model="gp")) is evidence
        assert that_fits(evidence, ModelOptions()).grid.algorithms == ("early", "late")


@pytest.mark.parametrize("share_missing", [0, 0.4])
def test_counted_duels_are_the_sums_of_scores(share_missing: float):
    rng = np.random.default_rng(1)
    positions = rng.integers(0, 5, (600, 5, 7)).astype(np.int16)
    draw = rng.random(positions.shape)
    positions[draw < share_missing / 2] = -1
    positions[(draw > share_missing / 2) & (draw < share_missing)] = 2**15 - 2
    duels = duels_of(positions)
    counted = duels.record()
    summed = ProblemDuels(positions, duels.starts, duels.names, np.ones(600)).record()
    for name in ("wins", "losses", "draws", "shared"):
        assert np.array_equal(getattr(counted, name), getattr(summed, name))


def test_the_lowest_probability_over_time_is_that_of_each_pair(store: StoreOnDisk):
    record = evidence_of(store).duels.record()
    table = p_always_better(record, 1.0)
    for a in range(4):
        for b in range(4):
            expected = 0.0
            if a != b:
                expected = p_better(record, a, b, 1.0).min()
            if expected > 0.5:
                assert table[a, b] == pytest.approx(expected, abs=1e-12)
            else:
                assert table[a, b] == 0
