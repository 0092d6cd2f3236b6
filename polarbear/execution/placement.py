"""On the seconds axis, which processors may time which runs; elsewhere any may."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from polarbear.config.execution import Processors
from polarbear.errors import ClusterError
from polarbear.execution.host import Where

REMEDY = (
    "say `execution.processors: grouped`, so that all runs on one instance have the same one, or "
    "`mixed` if you mean it"
)


class Placement:
    """Keeps runs that are compared in seconds on one kind of processor.

    ``timed_on`` has the processor that each instance's stored runs were timed on. Runs on one
    instance are compared with each other and with no others.
    """

    def __init__(self, rule: Processors, timed_on: Mapping[str, str] | None = None) -> None:
        self._rule = rule
        self._timed_on = dict(timed_on or {})
        self._hosts: dict[str, list[str]] = {}  # network names by processor
        self._slots: Counter[str] = Counter()  # workers by processor
        self._given: Counter[str] = Counter()  # instances by processor

    def meet(self, workers: Mapping[str, Where]) -> None:
        """Learn who is there, by address; refuse them if they must be alike and are not."""
        self._hosts, self._slots = {}, Counter()
        for address, where in sorted(workers.items()):
            self._slots[where.cpu] += 1
            self._hosts.setdefault(where.cpu, []).append(_network_name(address))
            if self._rule == "same":
                self._refuse_other(where)
                self._timed_on.setdefault("", where.cpu)

    def restrictions(self, instance: str) -> dict[str, Any]:
        """Where the runs on an instance may be executed, as Dask is told."""
        if self._rule != "grouped" or not self._hosts:
            return {}
        if instance not in self._timed_on:
            # The kind with the most workers for each instance that it has.
            slots, given = self._slots, self._given
            chosen = min(slots, key=lambda cpu: ((given[cpu] + 1) / slots[cpu], cpu))
            self._timed_on[instance] = chosen
            self._given[chosen] += 1
        hosts = self._hosts.get(self._timed_on[instance])
        if hosts is None:
            raise ClusterError(
                f"runs on {instance} were timed on {self._timed_on[instance]}, and no worker has "
                "that processor; start one that has, or choose another folder with --store"
            )
        return {"workers": sorted(set(hosts)), "allow_other_workers": False}

    def accept(self, instance: str, where: Where) -> None:
        """Refuse a run that was timed on another processor than those it is compared with."""
        if self._rule == "same":
            self._refuse_other(where)
        elif self._rule == "grouped" and where.cpu and where.cpu != self._timed_on.get(instance):
            raise ClusterError(
                f"a run on {instance} was timed on {where.cpu} ({where.host}), others on "
                f"{self._timed_on.get(instance)}; let machines of different processors have "
                "different network names"
            )

    def _refuse_other(self, where: Where) -> None:
        for cpu in self._timed_on.values():
            if where.cpu and cpu != where.cpu:
                raise ClusterError(
                    f"worker {where.worker} on {where.host} has the processor {where.cpu}, but "
                    f"other runs are timed on {cpu}; seconds of different processors are not "
                    f"comparable: {REMEDY}"
                )


def _network_name(address: str) -> str:
    """The host of an address such as tcp://10.0.0.7:40123."""
    return address.rpartition("://")[2].rpartition(":")[0].strip("[]")
