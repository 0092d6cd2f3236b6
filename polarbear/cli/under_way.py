"""How a race goes that another process is running, for people: a few sentences and two tables."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from polarbear.cli import common
from polarbear.cli.tables import Table
from polarbear.wording import counted, duration, percent, percent_cell

if TYPE_CHECKING:
    from polarbear.store.progress import Told


def facts(told: Told | None) -> dict[str, Any]:
    """What `status --json` says of it: a race under way, or one that was killed."""
    return {
        "under_way": dict(told.facts) if told is not None and told.alive else None,
        "killed": None if told is None or told.alive else _where_it_was(told.facts),
    }


def show(told: Told) -> None:
    """How a race goes, or where it was killed."""
    now = told.facts
    ago = max(0.0, time.time() - now["written"])
    if not told.alive:
        common.show(
            f"a race was killed here in round {now['round']}, {duration(ago)} ago (process "
            f"{now['pid']} on {now['host']}); the command that began it goes on",
        )
        return
    for line in _lines(now):
        common.show(line)
    if now["algorithms"]:
        table = Table("algorithm", "this round#", "runs so far#", "failed#", "a run takes#")
        for one in now["algorithms"]:
            asked = f"{one['round_done']} of {one['round_runs']}" if one["round_runs"] else ""
            mean = duration(one["seconds"] / one["runs"]) if one["runs"] else ""
            table.add_row(one["algorithm"], asked, str(one["runs"]), str(one["failed"]), mean)
        common.show(table)
    if now["workers"]:
        lasted = max(now["written"] - now["began"], 1e-9)
        table = Table("worker", "on", "runs#", "failed#", "busy#", "its last run")
        for one in now["workers"]:
            table.add_row(
                one["worker"],
                one["host"],
                str(one["runs"]),
                str(one["failed"]),
                percent_cell(min(1.0, one["seconds"] / lasted)),
                one["last"],
            )
        common.show(table)


def _lines(now: Mapping[str, Any]) -> list[str]:
    """Where the race is, and how long it will take."""
    parts = [f"under way for {duration(time.time() - now['began'])}, {now['doing']}"]
    if now["round"]:
        failures = f", {now['failed']} failed" if now["failed"] else ""
        done = f"{now['done']} of {counted(now['runs'], 'run')}{failures}"
        parts.append(f"round {now['round']}: {done}")
    if now["early"]:
        parts.append(f"{counted(now['early'], 'run')} begun early")
    if now["busy"] is not None:
        parts.append(f"workers busy for {percent(now['busy'])} of the time")
    lines = ["; ".join(parts)]
    left = []
    if now["left_in_round"] is not None:
        left.append(f"{duration(now['left_in_round'])} left in this round")
    least, most = now["to_go_at_least"], now["to_go_at_most"]
    if least is not None and most is not None:
        left.append(f"the race ends in {duration(least)} to {duration(most)}")
    elif least is not None:
        left.append(f"the race takes at least {duration(least)} more")
    return [*lines, f"at this speed: {'; '.join(left)}"] if left else lines


def _where_it_was(now: Mapping[str, Any]) -> dict[str, Any]:
    return {key: now[key] for key in ("pid", "host", "round", "written")}
