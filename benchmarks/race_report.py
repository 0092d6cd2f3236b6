"""What many races add up to: rates with confidence intervals, as a Markdown table."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from scipy.stats import beta
from truths import POPULATIONS

Rows = list[dict[str, Any]]
Cell = tuple[str, str, str]  # rule, truth, alpha
OURS = "empirical"
BESIDE = ("f-race", "ratings", "dirichlet", "gp", "guarantee", "f-race-holm")


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


def eliminations(rows: Rows) -> list[dict[str, Any]]:
    return [elimination for row in rows for elimination in row["eliminated"]]


def wrong(rows: Rows) -> tuple[int, int]:
    """Eliminations whose eliminator is not better at all times in truth, of all of them."""
    found = eliminations(rows)
    return sum(elimination["wrong"] for elimination in found), len(found)


def kept(rows: Rows) -> tuple[int, int]:
    """True Pareto members that are still in at the end, of all of them."""
    return sum(row["kept"] for row in rows), sum(row["members"] for row in rows)


def lost(rows: Rows) -> int:
    """Races that lose a true member by more than the ROPE."""
    return sum(any(e["member"] and e["beyond"] for e in row["eliminated"]) for row in rows)


def _mean(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{np.mean(known):.3f}" if known else ""


def markdown(rows: Rows, cells: list[Cell], limit: int, before: Rows) -> str:
    """All tables: decisions cell by cell and pooled, and what they cost beside other rules."""
    found = _by_cell(rows)
    known = [cell for cell in cells if cell in found]
    lines = [
        "# Races on truths that are known",
        "",
        "`python benchmarks/race.py` describes rules and truths. Most synthetic truths have 5 "
        f"algorithms and 20 times; at most {limit} instances, batches of 8 to a tenth of the "
        "instances so far, pairs settled by membership (tests and the paper's rule: by crossing; "
        "the paper's batches: up to 64), epsilon 0.05. An elimination is wrong if the eliminator "
        "does not win more than half of all duels at every time, in truth, beyond the two "
        "standard errors to which that is known. A member is lost beyond the ROPE if, at some "
        "time, it wins at least 55 % of its duels against the eliminator. 95 % confidence "
        "intervals in brackets.",
        "",
        "| rule / truth / alpha | races | wrong eliminations | by more than the ROPE | races with "
        "a wrong one | mean P(any wrong) | races that lose a member beyond the ROPE | true members "
        "kept | final set right | right up to the ROPE | runs spent |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_decisions("/".join(cell), found[cell]) for cell in known]
    lines += ["", "All synthetic truths, and all populations, together:", "", *lines[4:6]]
    for rule, alpha in dict.fromkeys((rule, alpha) for rule, _, alpha in known):
        for name, real in (("synthetic", False), ("populations", True)):
            some = [
                row
                for cell in known
                if (cell[0], cell[2]) == (rule, alpha) and (cell[1] in POPULATIONS) == real
                for row in found[cell]
            ]
            if some:
                lines.append(_decisions(f"{rule}/{name}/{alpha}", some))
    lines += ["", *_costs(found, known)]
    if before:
        lines += ["", *_against(found, _by_cell(before))]
    return "\n".join(lines) + "\n"


def _decisions(name: str, rows: Rows) -> str:
    found = eliminations(rows)
    return (
        f"| {name} | {len(rows)} | {rate(*wrong(rows))} | "
        f"{sum(elimination['beyond'] for elimination in found)} | "
        f"{rate(sum(any(e['wrong'] for e in row['eliminated']) for row in rows), len(rows))} | "
        f"{_mean([row['p_any_wrong'] for row in rows])} | {rate(lost(rows), len(rows))} | "
        f"{'{}/{}'.format(*kept(rows))} | {np.mean([row['right'] for row in rows]):.0%} | "
        f"{np.mean([row['right_to_the_rope'] for row in rows]):.0%} | "
        f"{np.mean([row['spent'] for row in rows]):.0f} |"
    )


def _costs(found: dict[Cell, Rows], known: list[Cell]) -> list[str]:
    lines = [
        "Whole runs until the set was the true one and stayed so, against each other rule over the "
        "races in which both came to that (their number in brackets), as means and their ratio "
        "with its 95 % bootstrap interval over races; pooled ratios are of sums over all cells.",
        "",
        "| truth / alpha | " + " | ".join(f"{OURS} : {other}" for other in BESIDE) + " |",
        "|---|" + "---|" * len(BESIDE),
    ]
    sums: dict[tuple[str, str], np.ndarray] = defaultdict(lambda: np.zeros(2))
    for kind, alpha in dict.fromkeys((kind, alpha) for rule, kind, alpha in known if rule == OURS):
        entries = []
        for other in BESIDE:
            pairs = _until_right(found, kind, alpha, other)
            if len(pairs):
                sums[alpha, other] += pairs.sum(axis=0)
                sums["both", other] += pairs.sum(axis=0)
                one, two = pairs.mean(axis=0)
                low, high = _interval(pairs)
                ratio = f"{one / two:.2f} [{low:.2f}, {high:.2f}]"
                entries.append(f"{one:.0f} : {two:.0f} = {ratio} ({len(pairs)})")
            else:
                entries.append("")
        lines.append(f"| {kind}/{alpha} | " + " | ".join(entries) + " |")
    for alpha in dict.fromkeys(alpha for alpha, _ in sums):
        ratios = [sums[alpha, other] for other in BESIDE]
        entries = [f"{one / two:.2f}" if two else "" for one, two in ratios]
        lines.append(f"| pooled, {alpha} | " + " | ".join(entries) + " |")
    return lines


def _against(found: dict[Cell, Rows], before: dict[Cell, Rows]) -> list[str]:
    """Runs until settled (or the limit), against an earlier version on the same seeds."""
    lines = [
        "Whole runs until settled or at the limit, the default against the earlier version on the "
        "same truths and seeds:",
        "",
        "| truth / alpha | races | now | before | ratio |",
        "|---|---|---|---|---|",
    ]
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(2))
    for cell in [cell for cell in found if cell[0] == OURS and cell in before]:
        ours, theirs = (
            {row["seed"]: row["spent"] for row in rows[cell]} for rows in (found, before)
        )
        both = [(ours[seed], theirs[seed]) for seed in ours if seed in theirs]
        if both:
            one, two = np.mean(both, axis=0)
            name = "population" if cell[1] in POPULATIONS else "synthetic"
            sums[f"pooled, {name}, {cell[2]}"] += one, two
            sums["pooled, all"] += one, two
            shown = f"{one:.0f} | {two:.0f} | {one / two:.2f}"
            lines.append(f"| {cell[1]}/{cell[2]} | {len(both)} | {shown} |")
    lines += [f"| {name} | | {a:.0f} | {b:.0f} | {a / b:.2f} |" for name, (a, b) in sums.items()]
    return lines


def _until_right(found: dict[Cell, Rows], kind: str, alpha: str, other: str) -> np.ndarray:
    """What ours and another rule spent on the same truths, where both were right: [race, 2]."""
    ours, theirs = (
        {row["seed"]: row["until_right"] for row in found.get((rule, kind, alpha), [])}
        for rule in (OURS, other)
    )
    both = [seed for seed in ours if ours[seed] is not None and theirs.get(seed) is not None]
    return np.array([(ours[seed], theirs[seed]) for seed in both]).reshape(-1, 2)


def _interval(pairs: np.ndarray) -> np.ndarray:
    """Of the ratio of sums, 95 % of what drawing the races again (with replacement) gives."""
    weights = np.random.default_rng(0).multinomial(
        len(pairs), np.ones(len(pairs)) / len(pairs), 4000
    )
    one, two = (weights @ pairs).T
    return np.asarray(np.quantile(one / two, [0.025, 0.975]))


def _by_cell(rows: Rows) -> dict[Cell, Rows]:
    found: dict[Cell, Rows] = defaultdict(list)
    for row in rows:
        found[row["rule"], row["truth"], row["alpha"]].append(row)
    return found


def missed(rows: Rows) -> int:
    """1 if a promise is broken, and chance can be told from it: the default's eliminations, cell by
    cell, and the guarantee's races."""
    for (rule, _, alpha), races in _by_cell(rows).items():
        allowed = 1 - float(alpha)
        if rule == OURS:
            hits, of = wrong(races)
        elif rule == "guarantee":
            hits, of = sum(any(e["wrong"] for e in row["eliminated"]) for row in races), len(races)
        else:
            continue
        if of and interval(hits, of)[0] > allowed:
            return 1
    return 0
