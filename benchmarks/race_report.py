"""A Markdown report on many races: rates with confidence intervals, and costs."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from scipy.stats import beta
from truths import POPULATIONS

Rows = list[dict[str, Any]]
Cell = tuple[str, str, str]  # rule, truth, alpha
OURS = "empirical"
OTHER_RULES = ("f-race", "ratings", "dirichlet", "gp", "guarantee", "f-race-holm")


def interval(hits: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's confidence interval of a rate."""
    tail = (1 - level) / 2
    low = float(beta.ppf(tail, hits, trials - hits + 1)) if hits else 0.0
    high = float(beta.isf(tail, hits + 1, trials - hits)) if hits < trials else 1.0
    return low, high


def rate(hits: int, trials: int) -> str:
    if trials == 0:
        return "none"
    low, high = interval(hits, trials)
    return f"{hits}/{trials} = {hits / trials:.1%} [{low:.1%}, {high:.1%}]"


def eliminations(rows: Rows) -> list[dict[str, Any]]:
    return [elimination for row in rows for elimination in row["eliminated"]]


def wrong(rows: Rows) -> tuple[int, int]:
    """The number of eliminations whose eliminator is not better at all times, and of all."""
    all_eliminations = eliminations(rows)
    return sum(elimination["wrong"] for elimination in all_eliminations), len(all_eliminations)


def kept(rows: Rows) -> tuple[int, int]:
    """The number of true Pareto members that are candidates at the end, and of all."""
    return sum(row["kept"] for row in rows), sum(row["members"] for row in rows)


def lost(rows: Rows) -> int:
    """The number of races that lose a true member by more than the ROPE."""
    return sum(any(e["member"] and e["beyond"] for e in row["eliminated"]) for row in rows)


def races_with_wrong(rows: Rows) -> int:
    """The number of races with a wrong elimination."""
    return sum(any(e["wrong"] for e in row["eliminated"]) for row in rows)


def _mean(values: list[float | None]) -> str:
    numbers = [value for value in values if value is not None]
    return f"{np.mean(numbers):.3f}" if numbers else ""


def markdown(rows: Rows, cells: list[Cell], limit: int, before: Rows) -> str:
    """All tables: decisions by cell and pooled, and costs compared with other rules.

    ``before`` are races of an earlier version.
    """
    races = _by_cell(rows)
    raced_cells = [cell for cell in cells if cell in races]
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
    lines += [_decisions("/".join(cell), races[cell]) for cell in raced_cells]
    lines += ["", "All synthetic truths, and all populations, together:", "", *lines[4:6]]
    pools: dict[str, Rows] = {}
    for rule, alpha in dict.fromkeys((rule, alpha) for rule, _, alpha in raced_cells):
        pools[f"{rule}/synthetic/{alpha}"] = []
        pools[f"{rule}/populations/{alpha}"] = []
    for cell in raced_cells:
        rule, truth, alpha = cell
        kind = "populations" if truth in POPULATIONS else "synthetic"
        pools[f"{rule}/{kind}/{alpha}"] += races[cell]
    lines += [_decisions(name, pooled) for name, pooled in pools.items() if pooled]
    lines += ["", *_costs(races, raced_cells)]
    if before:
        lines += ["", *_compared_with_before(races, _by_cell(before))]
    return "\n".join(lines) + "\n"


def _decisions(name: str, rows: Rows) -> str:
    n_beyond = sum(elimination["beyond"] for elimination in eliminations(rows))
    n_kept, n_members = kept(rows)
    return (
        f"| {name} | {len(rows)} | {rate(*wrong(rows))} | {n_beyond} | "
        f"{rate(races_with_wrong(rows), len(rows))} | "
        f"{_mean([row['p_any_wrong'] for row in rows])} | {rate(lost(rows), len(rows))} | "
        f"{n_kept}/{n_members} | {np.mean([row['right'] for row in rows]):.0%} | "
        f"{np.mean([row['right_to_the_rope'] for row in rows]):.0%} | "
        f"{np.mean([row['spent'] for row in rows]):.0f} |"
    )


def _costs(races: dict[Cell, Rows], cells: list[Cell]) -> list[str]:
    """A table of costs: the default and each other rule on the same truths."""
    lines = [
        "Whole runs until the set of candidates was the true one for good: the default and each "
        "other rule, over the races in which both reached it (their number in brackets), as means "
        "and their ratio with its 95 % bootstrap interval over races; pooled ratios are of sums "
        "over all cells.",
        "",
        "| truth / alpha | " + " | ".join(f"{OURS} : {other}" for other in OTHER_RULES) + " |",
        "|---|" + "---|" * len(OTHER_RULES),
    ]
    sums: dict[tuple[str, str], np.ndarray] = defaultdict(lambda: np.zeros(2))
    our_cells = [(kind, alpha) for rule, kind, alpha in cells if rule == OURS]
    for kind, alpha in dict.fromkeys(our_cells):
        entries = []
        for other in OTHER_RULES:
            pairs = _until_right(races, kind, alpha, other)
            if len(pairs):
                sums[alpha, other] += pairs.sum(axis=0)
                sums["both", other] += pairs.sum(axis=0)
                ours, theirs = pairs.mean(axis=0)
                low, high = _ratio_interval(pairs)
                ratio = f"{ours / theirs:.2f} [{low:.2f}, {high:.2f}]"
                entries.append(f"{ours:.0f} : {theirs:.0f} = {ratio} ({len(pairs)})")
            else:
                entries.append("")
        lines.append(f"| {kind}/{alpha} | " + " | ".join(entries) + " |")
    for alpha in dict.fromkeys(alpha for alpha, _ in sums):
        pooled = [sums[alpha, other] for other in OTHER_RULES]
        entries = [f"{ours / theirs:.2f}" if theirs else "" for ours, theirs in pooled]
        lines.append(f"| pooled, {alpha} | " + " | ".join(entries) + " |")
    return lines


def _compared_with_before(races: dict[Cell, Rows], before: dict[Cell, Rows]) -> list[str]:
    """A table of runs until the end of races, now and in an earlier version."""
    lines = [
        "Whole runs until every pair is settled or the limit is reached: the default now and in "
        "the earlier version, on the same truths and seeds:",
        "",
        "| truth / alpha | races | now | before | ratio |",
        "|---|---|---|---|---|",
    ]
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(2))
    for cell in [cell for cell in races if cell[0] == OURS and cell in before]:
        _, truth, alpha = cell
        spent_now = {row["seed"]: row["spent"] for row in races[cell]}
        spent_before = {row["seed"]: row["spent"] for row in before[cell]}
        pairs = [
            (spent_now[seed], spent_before[seed]) for seed in spent_now if seed in spent_before
        ]
        if pairs:
            mean_pair = np.mean(pairs, axis=0)
            name = "population" if truth in POPULATIONS else "synthetic"
            sums[f"pooled, {name}, {alpha}"] += mean_pair
            sums["pooled, all"] += mean_pair
            lines.append(f"| {truth}/{alpha} | {len(pairs)} | {_ratio_cells(*mean_pair)} |")
    lines += [f"| {name} | | {_ratio_cells(*pair)} |" for name, pair in sums.items()]
    return lines


def _ratio_cells(now: float, before: float) -> str:
    return f"{now:.0f} | {before:.0f} | {now / before:.2f}"


def _until_right(races: dict[Cell, Rows], kind: str, alpha: str, other: str) -> np.ndarray:
    """The costs of the default and another rule on truths where both were right: [race, 2]."""
    ours = _until_right_by_seed(races, (OURS, kind, alpha))
    theirs = _until_right_by_seed(races, (other, kind, alpha))
    return np.array([(ours[seed], theirs[seed]) for seed in ours if seed in theirs]).reshape(-1, 2)


def _until_right_by_seed(races: dict[Cell, Rows], cell: Cell) -> dict[int, float]:
    return {
        row["seed"]: row["until_right"]
        for row in races.get(cell, [])
        if row["until_right"] is not None
    }


def _ratio_interval(pairs: np.ndarray) -> np.ndarray:
    """The 95 % bootstrap interval, over races, of the ratio of sums."""
    weights = np.random.default_rng(0).multinomial(
        len(pairs), np.ones(len(pairs)) / len(pairs), 4000
    )
    ours, theirs = (weights @ pairs).T
    return np.asarray(np.quantile(ours / theirs, [0.025, 0.975]))


def _by_cell(rows: Rows) -> dict[Cell, Rows]:
    races: dict[Cell, Rows] = defaultdict(list)
    for row in rows:
        races[row["rule"], row["truth"], row["alpha"]].append(row)
    return races


def missed(rows: Rows) -> int:
    """The exit code: 1 if a promise is broken by more than chance explains.

    The default promises a rate of wrong eliminations, in each cell; the guarantee promises a rate
    of races with a wrong elimination.
    """
    for (rule, _, alpha), races in _by_cell(rows).items():
        if rule == OURS:
            n_wrong, trials = wrong(races)
        elif rule == "guarantee":
            n_wrong = races_with_wrong(races)
            trials = len(races)
        else:
            continue
        if trials and interval(n_wrong, trials)[0] > 1 - float(alpha):
            return 1
    return 0
