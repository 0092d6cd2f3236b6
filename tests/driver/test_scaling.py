"""A small version of benchmarks/scaling.py: the real race on simulated workers."""

import json
from typing import Any

import pytest
import scaling
from simulated import Costs, Known, Simulated, Workload, configured, simulate

COSTS = Costs(a_run=0.002, a_round=0.1, deciding=2.0, deciding_a_run=0.0)
WORK = Workload(tuple(json.loads(scaling.LENGTHS.read_text())))
INSTANCES = 80


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Races on a number of workers; they share posteriors."""
    folder, known, done = tmp_path_factory.mktemp("simulated"), Known(), {}

    def race(workers: int, early: int = 4, fill: bool = False) -> Simulated:
        wanted = (workers, early, fill)
        if wanted not in done:
            config = configured(early, fill, INSTANCES)
            place = folder / "-".join(map(str, wanted))
            done[wanted] = simulate(place, config, workers, WORK, COSTS, known)
        return done[wanted]

    return race


@pytest.mark.parametrize(("workers", "early"), [(1, 4), (9, 4), (300, 4), (300, 20), (9, 0)])
def test_on_any_number_of_simulated_workers_a_race_decides_the_same(raced, workers, early):
    """Though workers are lost and runs crash: runs that were lost are made again."""
    assert raced(workers, early).checkpoints == raced(1, early=0).checkpoints


def test_early_runs_keep_simulated_workers_busier_and_make_a_race_faster(raced):
    """By how much is measured by the benchmark; here only that it is so, which is certain: the
    simulation has no chance in it but what is drawn from names."""
    plain, early = raced(9, early=0), raced(9)
    assert early.busy > plain.busy
    assert early.seconds < plain.seconds
    assert early.runs == plain.runs
    assert (plain.extra, early.extra > 0) == (0, True)


def test_rounds_that_fill_all_workers_are_fewer_and_cost_more_runs(raced):
    narrow, wide = raced(300), raced(300, fill=True)
    assert wide.runs / wide.rounds > narrow.runs / narrow.rounds
    assert raced(1, fill=True).checkpoints == raced(1).checkpoints  # where there is nothing to fill
