"""The runs of algorithms as a table."""

from collections.abc import Sequence

from polarbear.api.text_table import TableText
from polarbear.store.summary import AlgorithmRuns
from polarbear.wording import percent_cell, time


def runs_table(entries: Sequence[AlgorithmRuns], axis: str, budget: float) -> TableText:
    """Runs and costs of each algorithm and, after `run`, its share of first places."""
    columns = {
        "algorithm": [entry.algorithm for entry in entries],
        "runs#": [f"{entry.runs}" for entry in entries],
        "failed#": [f"{entry.failed}" for entry in entries],
        "ended early#": [f"{entry.ended}" for entry in entries],
        f"{axis}#": [time(entry.spent) for entry in entries],
    }
    # Of imported runs nothing is known but the axis.
    for cost in ("evaluations", "seconds"):
        numbers = [getattr(entry, cost) for entry in entries]
        if cost != axis and any(numbers):
            columns[f"{cost}#"] = ["unknown" if one is None else time(one) for one in numbers]
    first = [getattr(entry, "first_at_end", None) for entry in entries]
    if any(share is not None for share in first):
        cells = ["" if share is None else percent_cell(share) for share in first]
        columns[f"best at {axis} {time(budget)}#"] = cells
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]
