"""A run as rows of the store's tables: what names it, and what is known about it."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from polarbear import __version__

if TYPE_CHECKING:
    from polarbear.execution.outcome import Outcome


def run_id(algorithm: str, instance: str, attempt: int) -> str:
    """The id that these three give a run."""
    text = f"{algorithm}\x1f{instance}\x1f{attempt}"
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def run_key(outcome: Outcome) -> dict[str, Any]:
    """What names a run."""
    task = outcome.task
    return {
        "run": run_id(task.algorithm.name, task.instance.id, task.attempt),
        "algorithm": task.algorithm.name,
        "instance": task.instance.id,
        "attempt": task.attempt,
    }


def run_facts(outcome: Outcome, workers: int) -> dict[str, Any]:
    """How a run went, and where it ran."""
    where = outcome.where
    return {
        "seed": outcome.task.seed,
        "budget": outcome.task.budget,
        "status": outcome.status.value,
        "message": outcome.message,
        "reached": outcome.reached,
        "best": float(outcome.values[-1]) if len(outcome.values) else None,
        "points": len(outcome.values),
        "evaluations": outcome.evaluations,
        "invalid": outcome.invalid,
        "seconds": outcome.seconds,
        "started": datetime.fromtimestamp(outcome.started, UTC),
        "host": where.host,
        "cpu": where.cpu,
        "load": where.load,
        "worker": where.worker,
        "workers": workers,
        "version": __version__,
        "fingerprint": outcome.task.fingerprint,
    }
