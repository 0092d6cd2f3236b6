"""What many races add up to: rates with confidence intervals, as a Markdown table."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from scipy.stats import beta

Rows = list[dict[str, Any]]


def interval(hits: int, of: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's confidence interval of a rate."""
    tail = (1 - level) / 2
    low = float(beta.ppf(tail, hits, of - hits + 1)) if hits else 0.0
    high = float(beta.isf(tail, hits + 1, of - hits)) if hits < of else 1.0
    return low, high


def rate(hits: int, of: int) -> str:
    if of == 0:
        return "none"
    low, high = interval(hits, of)
    return f"{hits}/{of} = {hits / of:.1%} [{low:.1%}, {high:.1%}]"


def by_cell(rows: Rows) -> dict[str, Rows]:
    found: dict[str, Rows] = defaultdict(list)
    for row in rows:
        found[row["cell"]].append(row)
    return found


def eliminations(rows: Rows) -> list[dict[str, Any]]:
    return [elimination for row in rows for elimination in row["eliminated"]]


def wrong(rows: Rows) -> tuple[int, int]:
    """Eliminations whose eliminator is not better at all times in truth, of all of them."""
    found = eliminations(rows)
    return sum(not elimination["true"] for elimination in found), len(found)


def kept(rows: Rows) -> tuple[int, int]:
    """True Pareto members that are still in at the end, of all of them."""
    return (
        sum(len(set(row["pareto"]) & set(row["candidates"])) for row in rows),
        sum(len(row["pareto"]) for row in rows),
    )


def markdown(rows: Rows, limit: int) -> str:
    """Two tables: are decisions right, and what do they cost beside the baseline."""
    cells = by_cell(rows)
    lines = [
        "# Races on synthetic truths",
        "",
        f"5 algorithms, 20 times, truths from the paper's prior, batches of 8 to 64, crossing "
        f"resolution, epsilon 0.05, at most {limit} instances. A cell is named by what decides, "
        "the noise's correlation length over time (in units of the grid), alpha, and how rankings "
        "of one instance are counted. An elimination is wrong if its eliminator is not better at "
        "all times in truth; 95 % confidence intervals in brackets.",
        "",
        "| cell | races | eliminations | wrong | Pareto members among the eliminated | true Pareto "
        "members kept | final set right | settled within the limit | median weight |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, races in cells.items():
        out = eliminations(races)
        right = sum(set(row["pareto"]) == set(row["candidates"]) for row in races)
        lines.append(
            f"| {name} | {len(races)} | {len(out)} | {rate(*wrong(races))} | "
            f"{rate(sum(e['was_pareto'] for e in out), len(out))} | {rate(*kept(races))} | "
            f"{right / len(races):.0%} | {np.mean([row['resolved'] for row in races]):.0%} | "
            f"{np.median([row['weight'] for row in races]):.2f} |"
        )
    lines += _pooled(rows)
    lines += [
        "",
        "Cost, in whole runs of one algorithm, as the mean over races: what was spent; the same "
        "as a share of running everything on as many instances; and, over the races in which both "
        "end with the true Pareto set, what was spent until then, against the F-race at each "
        "timepoint on the same truths and noise.",
        "",
        "| cell | spent | of running everything | races compared | until right | F-race until "
        "right | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, races in cells.items():
        spent = np.mean([row["spent"] for row in races])
        share = sum(row["spent"] for row in races) / sum(row["everything"] for row in races)
        lines.append(f"| {name} | {spent:.0f} | {share:.0%} | {_beside(name, races, cells)} |")
    return "\n".join(lines) + "\n"


def _pooled(rows: Rows) -> list[str]:
    """The same over all correlations together."""
    together: dict[str, Rows] = defaultdict(list)
    for row in rows:
        kind, _, alpha, dependence = row["cell"].split("/")
        together[f"{kind}/*/{alpha}/{dependence}"].append(row)
    lines = [
        "",
        "Over all four correlations together:",
        "",
        "| cells | races | wrong | true Pareto members kept |",
        "|---|---|---|---|",
    ]
    for name, races in together.items():
        lines.append(f"| {name} | {len(races)} | {rate(*wrong(races))} | {rate(*kept(races))} |")
    return lines


def _beside(name: str, races: Rows, cells: dict[str, Rows]) -> str:
    kind, correlation, alpha, _ = name.split("/")
    baseline = {row["seed"]: row for row in cells.get(f"f-race/{correlation}/{alpha}/-", ())}
    pairs = [
        (row["spent_when_right"], baseline[row["seed"]]["spent_when_right"])
        for row in races
        if row["seed"] in baseline
    ]
    pairs = [(one, two) for one, two in pairs if one is not None and two is not None]
    if kind == "f-race" or not pairs:
        return "| | | "
    one, two = np.mean(pairs, axis=0)
    return f"{len(pairs)} | {one:.0f} | {two:.0f} | {one / two:.2f}"


def missed(rows: Rows) -> int:
    """1 if the tool's own default is wrong more often than promised, beyond chance.

    Only cells that count dependent rankings as such, and those without a choice, are held to it.
    """
    for name, races in by_cell(rows).items():
        kind, _, alpha, dependence = name.split("/")
        if kind == "f-race" or dependence == "independent":
            continue
        hits, of = wrong(races)
        stay, members = kept(races)
        promised = float(alpha)
        if of and interval(hits, of)[0] > 1 - promised:
            return 1
        if interval(stay, members)[1] < promised:
            return 1
    return 0
