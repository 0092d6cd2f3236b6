"""A small version of benchmarks/scaling.py: the real race on simulated workers."""

import json
from typing import Any

import pytest
import scaling
from simulated import Costs, DecisionCache, Simulated, Workload, configured, simulate

COSTS = Costs(per_run=0.002, per_round=0.1, decision=2.0, decision_per_run=0.0)
WORK = Workload(tuple(json.loads(scaling.LENGTHS.read_text())))
INSTANCES = 80


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Races on a number of workers; they share posteriors."""
    folder = tmp_path_factory.mktemp("simulated")
    cache = DecisionCache()
    races: dict[tuple[int, int, bool], Simulated] = {}

    def race(workers: int, early: int = 4, fill: bool = False) -> Simulated:
        key = (workers, early, fill)
        if key not in races:
            config = configured(early, fill, INSTANCES)
            store = folder / "-".join(map(str, key))
            races[key] = simulate(store, config, workers, WORK, COSTS, cache)
        return races[key]

    return race


@pytest.mark.parametrize(("workers", "early"), [(1, 4), (9, 4), (300, 4), (300, 20), (9, 0)])
def test_on_any_number_of_simulated_workers_a_race_decides_the_same(raced, workers, early):
    """Workers are lost and runs crash in the simulation; runs that were lost are repeated."""
    assert raced(workers, early).checkpoints == raced(1, early=0).checkpoints


def test_early_runs_keep_simulated_workers_busier_and_make_a_race_faster(raced):
    """The benchmark measures by how much. The comparison is certain, since all random numbers of
    the simulation derive from names."""
    plain = raced(9, early=0)
    early = raced(9)
    assert early.busy > plain.busy
    assert early.seconds < plain.seconds
    assert early.runs == plain.runs
    assert plain.extra == 0
    assert early.extra > 0


def test_rounds_that_fill_all_workers_are_fewer_and_cost_more_runs(raced):
    narrow = raced(300)
    wide = raced(300, fill=True)
    assert wide.runs / wide.rounds > narrow.runs / narrow.rounds
    assert raced(1, fill=True).checkpoints == raced(1).checkpoints  # where there is nothing to fill
