"""Shows the progress of a race that another process is running."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from polarbear.cli import common
from polarbear.cli.tables import Table
from polarbear.wording import counted, duration, percent, percent_cell


def show_killed(killed: Mapping[str, Any]) -> None:
    """Print where a race was killed."""
    ago = max(0.0, time.time() - killed["written"])
    common.show(
        f"a race was killed in round {killed['round']}, {duration(ago)} ago (process "
        f"{killed['pid']} on {killed['host']}); the same command continues it",
    )


def show(now: Mapping[str, Any]) -> None:
    """Print the progress by algorithm and by worker, and the forecast."""
    for line in _lines(now):
        common.show(line)
    if now["algorithms"]:
        table = Table("algorithm", "this round#", "runs so far#", "failed#", "mean duration#")
        for one in now["algorithms"]:
            asked = f"{one['round_done']} of {one['round_runs']}" if one["round_runs"] else ""
            mean = duration(one["seconds"] / one["runs"]) if one["runs"] else ""
            table.add_row(one["algorithm"], asked, str(one["runs"]), str(one["failed"]), mean)
        common.show(table)
    if now["workers"]:
        lasted = max(now["written"] - now["began"], 1e-9)
        table = Table("worker", "host", "runs#", "failed#", "busy#", "last run")
        for one in now["workers"]:
            busy = percent_cell(min(1.0, one["seconds"] / lasted))
            runs = str(one["runs"]), str(one["failed"])
            table.add_row(one["worker"], one["host"], *runs, busy, one["last"])
        common.show(table)


def _lines(now: Mapping[str, Any]) -> list[str]:
    """The current activity, and the remaining time."""
    parts = [f"running for {duration(time.time() - now['began'])}, {now['doing']}"]
    if now["round"]:
        failures = f", {now['failed']} failed" if now["failed"] else ""
        done = f"{now['done']} of {counted(now['runs'], 'run')}{failures}"
        parts.append(f"round {now['round']}: {done}")
    if now["early"]:
        parts.append(counted(now["early"], "speculative run"))
    if now["busy"] is not None:
        parts.append(f"workers busy for {percent(now['busy'])} of the time")
    left = []
    if now["left_in_round"] is not None:
        left.append(f"{duration(now['left_in_round'])} left in this round")
    least, most = now["to_go_at_least"], now["to_go_at_most"]
    if least is not None and most is not None:
        left.append(f"the race ends in {duration(least)} to {duration(most)}")
    elif least is not None:
        left.append(f"the race takes at least {duration(least)} more")
    return ["; ".join(parts), *([f"at this speed: {'; '.join(left)}"] if left else [])]
