"""Chooses which processors may execute which runs on the seconds axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from polarbear.config.execution import Processors
from polarbear.errors import ClusterError
from polarbear.execution.host import Where


class Placement:
    """Keeps runs that are compared in seconds on one model of processor.

    Only runs on the same instance are compared. ``timed_on`` has the processor on which each
    instance's stored runs were timed.
    """

    def __init__(self, rule: Processors, timed_on: Mapping[str, str] | None = None) -> None:
        self._rule = rule
        self._timed_on = dict(timed_on or {})
        self._hosts: dict[str, list[str]] = {}  # network names by processor
        self._workers: Counter[str] = Counter()  # by processor
        self._instances: Counter[str] = Counter()  # by processor

    def set_workers(self, workers: Mapping[str, Where]) -> None:
        """Set the workers, by address; refuse different processors if they must be the same."""
        self._hosts, self._workers = {}, Counter()
        for address, where in sorted(workers.items()):
            self._workers[where.cpu] += 1
            self._hosts.setdefault(where.cpu, []).append(_network_name(address))
            if self._rule == "same":
                self._refuse_other(where)
                self._timed_on.setdefault("", where.cpu)

    def restrictions(self, instance: str) -> dict[str, list[str] | bool]:
        """The arguments of Dask's submit that say where runs on an instance may be executed."""
        if self._rule != "grouped" or not self._hosts:
            return {}
        if instance not in self._timed_on:
            chosen = min(self._workers, key=lambda cpu: (self._share_if_added(cpu), cpu))
            self._timed_on[instance] = chosen
            self._instances[chosen] += 1
        hosts = self._hosts.get(self._timed_on[instance])
        if hosts is None:
            raise ClusterError(
                f"runs on {instance} were timed on {self._timed_on[instance]}, and no worker has "
                "that processor; start one that has, or choose another folder with --store"
            )
        return {"workers": sorted(set(hosts)), "allow_other_workers": False}

    def _share_if_added(self, cpu: str) -> float:
        """Instances per worker of a processor, if it had one more instance."""
        return (self._instances[cpu] + 1) / self._workers[cpu]

    def check(self, instance: str, where: Where) -> None:
        """Refuse a run that was timed on another processor than those it is compared with."""
        if self._rule == "same":
            self._refuse_other(where)
        elif self._rule == "grouped" and where.cpu and where.cpu != self._timed_on.get(instance):
            raise ClusterError(
                f"a run on {instance} was timed on {where.cpu} ({where.host}), others on "
                f"{self._timed_on.get(instance)}; give machines of different processors "
                "different network names"
            )

    def _refuse_other(self, where: Where) -> None:
        for cpu in self._timed_on.values():
            if where.cpu and cpu != where.cpu:
                raise ClusterError(
                    f"worker {where.worker} on {where.host} has the processor {where.cpu}, but "
                    f"other runs are timed on {cpu}; seconds of different processors are not "
                    "comparable: set `execution.processors` to `grouped`, so that all runs on one "
                    "instance have the same processor, or to `mixed`"
                )


def _network_name(address: str) -> str:
    """The host of an address such as tcp://10.0.0.7:40123."""
    return address.rpartition("://")[2].rpartition(":")[0].strip("[]")
