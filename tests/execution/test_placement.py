"""On the seconds axis only runs on one model of processor are compared."""

from __future__ import annotations

import pytest

from polarbear.errors import ClusterError
from polarbear.execution.cluster import Placement
from polarbear.execution.host import Where

FAST, SLOW = "Fast 3000", "Slow 100"
BOTH = {
    "tcp://10.0.0.1:401": Where("one", FAST, 0.0, "tcp://10.0.0.1:401"),
    "tcp://10.0.0.1:402": Where("one", FAST, 0.0, "tcp://10.0.0.1:402"),
    "tcp://10.0.0.2:401": Where("two", SLOW, 0.0, "tcp://10.0.0.2:401"),
}
ALIKE = {address: where for address, where in BOTH.items() if where.cpu == FAST}


def test_workers_of_another_processor_are_refused_by_name():
    with pytest.raises(ClusterError, match="tcp://10.0.0.2:401 on two has .*Slow 100.*grouped"):
        Placement("same").set_workers(BOTH)
    with pytest.raises(ClusterError, match="other runs are timed on Slow 100"):
        Placement("same", {"i1": SLOW}).set_workers(ALIKE)
    placement = Placement("same", {"i1": FAST})
    placement.set_workers(ALIKE)
    assert placement.restrictions("i2") == {}
    placement.check("i2", Where("yet another", FAST))
    with pytest.raises(ClusterError, match="not comparable"):
        placement.check("i1", Where("late", SLOW))


def test_all_runs_on_one_instance_go_to_one_model_in_proportion_to_its_workers():
    placement = Placement("grouped")
    placement.set_workers(BOTH)
    chosen = [placement.restrictions(f"i{i}")["workers"] for i in range(9)]
    assert chosen.count(["10.0.0.1"]) == 6
    assert chosen.count(["10.0.0.2"]) == 3
    assert [placement.restrictions(f"i{i}")["workers"] for i in range(9)] == chosen
    assert placement.restrictions("i0")["allow_other_workers"] is False


def test_an_instance_continues_where_its_stored_runs_were_timed():
    placement = Placement("grouped", {"i1": SLOW})
    placement.set_workers(BOTH)
    assert placement.restrictions("i1")["workers"] == ["10.0.0.2"]
    with pytest.raises(ClusterError, match="was timed on Fast 3000"):
        placement.check("i1", Where("one", FAST))
    placement.set_workers(ALIKE)
    with pytest.raises(ClusterError, match="no worker has that processor; start one that has"):
        placement.restrictions("i1")


def test_mixed_restricts_nothing():
    placement = Placement("mixed", {"i1": SLOW})
    placement.set_workers(BOTH)
    assert placement.restrictions("i1") == {}
    placement.check("i1", Where("one", FAST))
