"""Rankings in PrefLib's files: orders of alternatives, and how many voters gave each.

A file is of one time. Those that PolarBear wrote say which, and which instances the voters are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf, isfinite
from pathlib import Path

import polars as pl
from pydantic import Field

from polarbear.errors import ImportFailedError
from polarbear.formats.base import Format, Imported
from polarbear.formats.rankings import UNRANKED, Unranked
from polarbear.problems.base import Instance
from polarbear.problems.weights import WEIGHT, is_weight
from polarbear.settings.names import LONGEST_NAME, flaw_in_name
from polarbear.wording import counted

ENDINGS = ("soc", "soi", "toc", "toi")
ALTERNATIVE = re.compile(r"ALTERNATIVE NAME (\d+):(.*)")
VOTERS = re.compile(r"POLARBEAR VOTERS (\d+):(.*)")
WEIGHTS = re.compile(r"POLARBEAR WEIGHTS (\d+):(.*)")
TIME = "POLARBEAR TIME:"
VOTE = re.compile(r"\s*(\d+)\s*:\s*([\d\s,{}]+)")
GROUP = re.compile(r"\{([\d\s,]*)\}|(\d+)")
MOST_VOTERS = 1_000_000

Order = list[list[int]]


@dataclass
class Profile:
    """What one file holds: names of the alternatives, and orders with their number of voters."""

    names: dict[int, str] = field(default_factory=dict)
    orders: list[tuple[int, Order]] = field(default_factory=list)
    voters: dict[int, list[str]] = field(default_factory=dict)
    weights: dict[int, list[float]] = field(default_factory=dict)
    time: float | None = None


class PrefLib(Format):
    """Orders in a file of PrefLib (.soc, .soi, .toc, .toi), or a folder with one for each time."""

    t: float = Field(1.0, gt=0, description="the time that a file is of, where it does not say so")
    unranked: Unranked = UNRANKED

    def read(self, source: Path) -> Imported:
        paths = _paths(source)
        names: dict[str, None] = {}
        instances: dict[str, float] = {}
        rows: list[tuple[str, float, list[str], list[float]]] = []
        for path in paths:
            profile = _profile(path)
            if profile.time is None and len(paths) > 1:
                raise ImportFailedError(
                    f"{path} does not say which time it is of, and {source} has "
                    f"{counted(len(paths), 'file')}: import them one by one, each with --set t=TIME"
                )
            names.update(dict.fromkeys(profile.names.values()))
            t = self.t if profile.time is None else profile.time
            for voter, order, weight in _votes(profile, path.stem):
                if instances.setdefault(voter, weight) != weight:
                    raise ImportFailedError(f"{path}: {voter} has another weight than before")
                ranked = [
                    (profile.names[a], float(place))
                    for place, tied in enumerate(order)
                    for a in tied
                ]
                if self.unranked == "below":
                    here = {name for name, _ in ranked}
                    ranked += [(name, inf) for name in profile.names.values() if name not in here]
                rows.append((voter, t, [name for name, _ in ranked], [p + 1.0 for _, p in ranked]))
        schema: dict[str, pl.DataType | type[pl.DataType]] = {
            "instance": pl.String,
            "t": pl.Float64,
            "algorithm": pl.List(pl.String),
            "position": pl.List(pl.Float64),
        }
        rankings = pl.DataFrame(rows, schema=schema, orient="row")
        if rankings.select("instance", "t").is_duplicated().any():
            raise ImportFailedError(f"{source} has two rankings of one instance at one time")
        times = [row[1] for row in rows]
        return Imported(
            tuple(names),
            tuple(
                Instance(i, name, {"imported": name, **({} if weight == 1 else {WEIGHT: weight})})
                for i, (name, weight) in enumerate(instances.items())
            ),
            (min(times), max(times)),
            rankings=rankings,
        )


def _paths(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    inside = sorted(source.iterdir()) if source.is_dir() else []
    paths = [path for path in inside if path.suffix[1:] in ENDINGS and path.is_file()]
    if not paths:
        raise ImportFailedError(
            f"{source} is no file of PrefLib, nor a folder with one: expected an ending "
            f".{', .'.join(ENDINGS)}"
        )
    return paths


def _profile(path: Path) -> Profile:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ImportFailedError(f"cannot read {path}: {error}") from None
    found = Profile()
    for number, line in enumerate(lines, 1):
        try:
            _take(found, line.strip())
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ImportFailedError(
                f"{path} is not what PrefLib keeps: line {number}, {line[:80]!r}"
            ) from None
    if not found.names or not any(count for count, _ in found.orders):
        raise ImportFailedError(f"{path} is not what PrefLib keeps: it has no order of named ones")
    if sum(count for count, _ in found.orders) > MOST_VOTERS:
        raise ImportFailedError(f"{path} has more than {counted(MOST_VOTERS, 'voter')}")
    return found


def _take(found: Profile, line: str) -> None:
    if not line:
        return
    if line.startswith("#"):
        fact = line[1:].strip()
        if name := ALTERNATIVE.match(fact):
            if name[2].strip() in found.names.values() or flaw_in_name(
                name[2].strip(), LONGEST_NAME
            ):
                raise ValueError("two alternatives of one name, or one that is none")
            found.names[int(name[1])] = name[2].strip() or name[1]
        elif voters := VOTERS.match(fact):
            found.voters[int(voters[1])] = [str(one) for one in json.loads(voters[2])]
        elif weights := WEIGHTS.match(fact):
            found.weights[int(weights[1])] = json.loads(weights[2])
            if not all(is_weight(one) for one in found.weights[int(weights[1])]):
                raise ValueError("no weight")
        elif fact.startswith(TIME):
            found.time = float(fact.removeprefix(TIME))
            if not (isfinite(found.time) and found.time > 0):
                raise ValueError("no time")
        return
    vote = VOTE.fullmatch(line)
    if not vote:
        raise ValueError("no vote")
    order = [
        [int(a) for a in (tied or one).replace(" ", "").split(",") if a]
        for tied, one in GROUP.findall(vote[2])
    ]
    order = [tied for tied in order if tied]
    flat = [a for tied in order for a in tied]
    if not flat or len(set(flat)) < len(flat) or not set(flat) <= found.names.keys():
        raise ValueError("unknown or repeated alternatives")
    found.orders.append((int(vote[1]), order))


def _votes(profile: Profile, stem: str) -> Iterator[tuple[str, Order, float]]:
    """Each voter with its order and weight: an instance of that name, or one of this file."""
    count = 0
    for number, (many, order) in enumerate(profile.orders, 1):
        named, weights = profile.voters.get(number, []), profile.weights.get(number, [])
        for place in range(many):
            count += 1
            known = len(named) == many
            weight = float(weights[place]) if len(weights) == many else 1.0
            yield named[place] if known else f"{stem}-voter-{count}", order, weight
