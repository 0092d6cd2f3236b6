"""PrefLib files: orders of alternatives, with the number of voters for each.

One file has the rankings at one time. Files that PolarBear wrote state the time and the names of
the voters, which are instances, in comments that other readers skip.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from polarbear.errors import ExportFailedError, ImportFailedError
from polarbear.formats import base, limits
from polarbear.formats.table import UNRANKED, Unranked
from polarbear.problems.weights import WEIGHT, is_weight
from polarbear.rankings import BELOW
from polarbear.rankings.ranking import NO_TOTAL_ORDER
from polarbear.settings.names import LONGEST_NAME, flaw_in_name
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, typed_time

PATTERNS = ("*.soc", "*.soi", "*.toc", "*.toi")
ALTERNATIVE = re.compile(r"ALTERNATIVE NAME (\d+):(.*)")
LISTED = re.compile(r"POLARBEAR (VOTERS|WEIGHTS) (\d+):(.*)")
TIME = "POLARBEAR TIME:"
MAX_ALTERNATIVES = 1000  # of a file; at most 200 algorithms can be compared
FEWER_VOTERS = "keep some of the voters"
VOTE = re.compile(r"\s*(\d{1,6})\s*:\s*([\d\s,{}]+)")
GROUP = re.compile(r"\{([\d\s,]*)\}|(\d+)")

Order = tuple[tuple[int, ...], ...]  # alternatives from 1 on, best first, ties together


@dataclass
class Profile:
    """The content of a file: names of the alternatives, and orders with their voters."""

    names: dict[int, str] = field(default_factory=dict)
    orders: list[tuple[int, Order]] = field(default_factory=list)
    voters: dict[int, list[str]] = field(default_factory=dict)  # keys are the numbers of orders
    weights: dict[int, list[float]] = field(default_factory=dict)  # the weights of these voters
    time: float | None = None

    def votes(self, stem: str) -> Iterator[tuple[str, Order, float]]:
        """Each voter with its order and weight; voters without a name are numbered."""
        n_before = 0
        for number, (n_voters, order) in enumerate(self.orders, 1):
            names = self.voters.get(number, [])
            if len(names) != n_voters:
                names = [f"{stem}-voter-{n_before + k}" for k in range(1, n_voters + 1)]
            weights = self.weights.get(number, [])
            if len(weights) != n_voters:
                weights = [1.0] * n_voters
            for name, weight in zip(names, weights, strict=True):
                yield name, order, weight
            n_before += n_voters


class PrefLib(base.Format):
    """Orders in a file of PrefLib (.soc, .soi, .toc, .toi), or a folder with one for each time."""

    t: float = Field(1.0, gt=0, description="the time of a file that does not state it")
    unranked: Unranked = UNRANKED

    def read(self, source: Path) -> base.Imported:
        paths = [source] if source.is_file() else base.files_in(source, "PrefLib", *PATTERNS)
        limits.check_text_files([path for path in paths if path.is_file()], source)
        n_positions = 0
        names: dict[str, None] = {}
        weights: dict[str, float] = {}
        rows: list[tuple[str, float, list[str], list[float]]] = []
        for path in paths:
            profile = _profile(path)
            n_positions += sum(voters for voters, _ in profile.orders) * len(profile.names)
            limits.check(n_positions, limits.MAX_ROWS, "positions", source, FEWER_VOTERS)
            if profile.time is None and len(paths) > 1:
                raise ImportFailedError(
                    f"{path} does not state its time, and {source} has "
                    f"{counted(len(paths), 'file')}: import them one by one, each with --set t=TIME"
                )
            names.update(dict.fromkeys(profile.names.values()))
            unranked = profile.names.values() if self.unranked == "below" else ()
            for voter, order, weight in profile.votes(path.stem):
                if weights.setdefault(voter, weight) != weight:
                    raise ImportFailedError(f"{path}: {voter} has another weight than before")
                positions = dict.fromkeys(unranked, inf)
                for position, tied in enumerate(order, 1):
                    for alternative in tied:
                        positions[profile.names[alternative]] = float(position)
                rows.append((voter, profile.time or self.t, [*positions], [*positions.values()]))
        rankings = pl.DataFrame(
            rows, schema=["instance", "t", "algorithm", "position"], orient="row"
        )
        if rankings.select("instance", "t").is_duplicated().any():
            raise ImportFailedError(f"{source} has two rankings of one instance at one time")
        facts = {name: {WEIGHT: weight} for name, weight in weights.items() if weight != 1}
        instances = base.imported_instances(weights, facts)
        return base.Imported(tuple(names), tuple(instances.values()), rankings=rankings)


def _profile(path: Path) -> Profile:
    profile = Profile()
    for number, line in enumerate(base.read_lines(path), 1):
        try:
            if line.startswith("#"):
                _read_comment(profile, line[1:].strip())
            elif line:
                _read_vote(profile, line)
        except base.INVALID:
            raise ImportFailedError(
                f"{path} is not a PrefLib file: line {number}, {line[:80]!r}"
            ) from None
    if not any(voters for voters, _ in profile.orders):
        raise ImportFailedError(f"{path} is not a PrefLib file: it has no order of named ones")
    return profile


def _read_comment(profile: Profile, text: str) -> None:
    if match := ALTERNATIVE.match(text):
        name = match[2].strip()
        if len(profile.names) == MAX_ALTERNATIVES:
            raise ValueError("too many alternatives")
        if name in profile.names.values() or flaw_in_name(name, LONGEST_NAME):
            raise ValueError("the name is invalid or used twice")
        profile.names[int(match[1])] = name
    elif match := LISTED.match(text):
        number = int(match[2])
        names_or_weights = list(json.loads(match[3]))
        if match[1] == "VOTERS":
            profile.voters[number] = list(map(str, names_or_weights))
        elif all(map(is_weight, names_or_weights)):
            profile.weights[number] = list(map(float, names_or_weights))
        else:
            raise ValueError("a weight is invalid")
    elif text.startswith(TIME):
        profile.time = float(text.removeprefix(TIME))
        if not (isfinite(profile.time) and profile.time > 0):
            raise ValueError("the time is invalid")


def _read_vote(profile: Profile, line: str) -> None:
    vote = VOTE.fullmatch(line)
    if not vote:
        raise ValueError("not a number of voters and an order")
    groups = [re.findall(r"\d+", tied or single) for tied, single in GROUP.findall(vote[2])]
    order = tuple(tuple(map(int, group)) for group in groups if group)
    ranked = [a for tied in order for a in tied]
    if not ranked or len(set(ranked)) < len(ranked) or not set(ranked) <= profile.names.keys():
        raise ValueError("unknown or repeated alternatives")
    profile.orders.append((int(vote[1]), order))


class PrefLibExport(base.Export):
    """A folder with the rankings at each time: .toc, or .toi where algorithms are absent."""

    read_by: ClassVar[str] = "preflibtools; `import --format preflib`"
    writes_runs: ClassVar[bool] = False

    tie_tolerance: float = Field(
        0.0, ge=0, description="how much worse than the best of them a value may be and still tie"
    )

    def write(self, store: StoreOnDisk, algorithms: tuple[str, ...], path: Path) -> base.Written:
        budget = store.settings.budget
        grid = store.on_grid(budget.times, algorithms)
        if grid.fronts is not None:
            raise ExportFailedError(f"there are no rankings to write: {NO_TOTAL_ORDER}")
        weights = store.weights()
        positions = grid.positions(self.tie_tolerance)
        path.mkdir(parents=True)
        n_rankings = 0
        for k, t in enumerate(budget.times.tolist()):
            orders: dict[Order, list[str]] = {}
            for instance, positions_at_t in zip(grid.instances, positions[:, :, k], strict=True):
                if (positions_at_t >= 0).sum() > 1:
                    orders.setdefault(_order(positions_at_t), []).append(instance)
            if not orders:
                continue
            is_complete = all(sum(map(len, order)) == len(algorithms) for order in orders)
            name = f"{k + 1:04}.{'toc' if is_complete else 'toi'}"
            text = _text(name, t, budget.axis, algorithms, orders, weights)
            (path / name).write_text(text, encoding="utf-8")
            n_rankings += sum(map(len, orders.values()))
        if not n_rankings:
            raise ExportFailedError(f"{store.path} has no ranking of two or more algorithms")
        notes = []
        n_incomplete = int((positions == BELOW).any(axis=1).sum())
        if n_incomplete:
            notes.append(
                f"{counted(n_incomplete, 'ranking')} recorded only the best: the others are left "
                "out and are below these (import with --set unranked=below)"
            )
        if weights:
            notes.append(
                "instances have weights, which are in lines that only PolarBear reads: for other "
                "readers each counts as one voter"
            )
        summary = f"{counted(n_rankings, 'ranking')} at {counted(len(budget.times), 'time')}"
        return base.Written(summary, tuple(notes))


def _order(positions: np.ndarray) -> Order:
    groups: dict[int, list[int]] = {}
    for a in np.flatnonzero((positions >= 0) & (positions != BELOW)).tolist():
        groups.setdefault(int(positions[a]), []).append(a + 1)
    return tuple(tuple(groups[position]) for position in sorted(groups))


def _text(
    name: str,
    t: float,
    axis: str,
    algorithms: Sequence[str],
    orders: Mapping[Order, Sequence[str]],
    weights: Mapping[str, float],
) -> str:
    """The text of a file: its header, then the orders, the most frequent first."""
    by_frequency = sorted(orders.items(), key=lambda item: (-len(item[1]), item[0]))
    header = [
        f"FILE NAME: {name}",
        f"TITLE: rankings at {typed_time(t, axis)}",
        "DESCRIPTION: each voter is a problem instance, each alternative an algorithm",
        f"DATA TYPE: {name.rpartition('.')[2]}",
        "MODIFICATION TYPE: original",
        "RELATES TO: ",
        "RELATED FILES: ",
        "PUBLICATION DATE: ",
        "MODIFICATION DATE: ",
        f"{TIME} {t!r}",
        f"NUMBER ALTERNATIVES: {len(algorithms)}",
        f"NUMBER VOTERS: {sum(map(len, orders.values()))}",
        f"NUMBER UNIQUE ORDERS: {len(orders)}",
        *(f"ALTERNATIVE NAME {a}: {name}" for a, name in enumerate(algorithms, 1)),
    ]
    for number, (_, voters) in enumerate(by_frequency, 1):
        header.append(f"POLARBEAR VOTERS {number}: {json.dumps(voters, ensure_ascii=False)}")
        if weights:
            weights_of_voters = json.dumps([weights.get(voter, 1.0) for voter in voters])
            header.append(f"POLARBEAR WEIGHTS {number}: {weights_of_voters}")
    votes = [f"{len(voters)}: {', '.join(map(_group, order))}" for order, voters in by_frequency]
    return "\n".join([*(f"# {line}" for line in header), *votes, ""])


def _group(alternatives: tuple[int, ...]) -> str:
    inside = ", ".join(map(str, alternatives))
    return inside if len(alternatives) == 1 else f"{{{inside}}}"
