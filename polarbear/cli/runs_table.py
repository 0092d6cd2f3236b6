"""The table of runs and costs that `polarbear run` and `status` print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.cli import output
from polarbear.wording import percent_cell, time

if TYPE_CHECKING:
    from polarbear.api.plain_runs import Collected
    from polarbear.api.store_status import StoreStatus


def show_runs(status: StoreStatus | Collected) -> None:
    """Print runs and costs of each algorithm and, after `run`, its share of first places."""
    from polarbear.api.standings_words import failure_lines

    entries = status.algorithms
    axis = status.axis
    columns = {
        "algorithm": [entry.algorithm for entry in entries],
        "runs#": [f"{entry.runs}" for entry in entries],
        "failed#": [f"{entry.failed}" for entry in entries],
        "ended early#": [f"{entry.ended}" for entry in entries],
        f"{axis}#": [time(entry.spent) for entry in entries],
    }
    # A source of imported runs tells only their costs on the axis.
    for cost in ("evaluations", "seconds"):
        costs = [getattr(entry, cost) for entry in entries]
        if cost != axis and any(costs):
            columns[f"{cost}#"] = ["unknown" if c is None else time(c) for c in costs]
    shares = [getattr(entry, "first_at_end", None) for entry in entries]
    if any(share is not None for share in shares):
        title = f"best at {axis} {time(status.budget)}#"
        columns[title] = ["" if share is None else percent_cell(share) for share in shares]
    output.show_table(list(columns), zip(*columns.values(), strict=True))
    output.show(*failure_lines(status.failures))
