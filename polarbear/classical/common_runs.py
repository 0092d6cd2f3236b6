"""Who is compared on what: the instances that every compared algorithm ran in full.

A race stops algorithms early and on purpose. Where some are missing, a mean over instances would
compare different instances, so the classical view keeps to complete cases. Which those are was
decided before they were run, so they are a fair sample; but there may be few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from polarbear.errors import ReportError
from polarbear.execution.status import Status
from polarbear.numerics.arrays import Floats
from polarbear.settings.options import unknown
from polarbear.store import Store
from polarbear.wording import counted, noun, short

FEW = 10  # a bootstrap of fewer instances comes out too narrow


@dataclass(frozen=True)
class Step:
    """What leaving out some algorithms would gain."""

    without: tuple[str, ...]
    instances: int


@dataclass(frozen=True)
class CommonRuns:
    """The compared algorithms and the instances they have in common.

    ``full`` counts the instances each algorithm of the store ran to the end of the grid; ``left``
    are algorithms without any; ``steps`` say how the common instances grow as algorithms go;
    ``problems`` is what each common instance is a seed of, itself where there is one only.
    """

    algorithms: tuple[str, ...]
    instances: tuple[str, ...]
    full: dict[str, int]
    left: tuple[str, ...]
    total: int
    only_ranked: int
    steps: tuple[Step, ...]
    problems: tuple[str, ...]
    weights: Floats | None = None  # of the common instances, None where each counts as one

    def notes(self) -> list[str]:
        """What a reader should know about the instances before the numbers."""
        count, several = len(self.instances), len(self.algorithms) > 1
        made = []
        if count < self.total:
            who = f"all {len(self.algorithms)} algorithms" if several else self.algorithms[0]
            made.append(
                f"the classical view uses {count} of {counted(self.total, 'instance')}: those that "
                f"{who} ran to the end of the grid"
            )
        if self.steps:
            gains = "; ".join(
                f"without {', '.join(step.without)}: {step.instances}" for step in self.steps
            )
            made.append(f"fewer algorithms have more instances in common ({gains})")
        if self.left:
            made.append(f"left out, with no run to the end of the grid: {', '.join(self.left)}")
        if self.only_ranked:
            made.append(
                f"left out: {counted(self.only_ranked, 'instance')} that "
                f"{noun(self.only_ranked, 'was', 'were')} imported as rankings and "
                f"{noun(self.only_ranked, 'has', 'have')} no values"
            )
        if self.weights is not None:
            made.append(
                f"instances have weights, from {short(self.weights.min())} to "
                f"{short(self.weights.max())}: means, shares and intervals go by them; medians and "
                "quartile lines count each run once"
            )
        drawn = len(set(self.problems))
        what = "instance" if drawn == count else "problem"
        if drawn < count:
            made.append(
                f"the instances are seeds of {counted(drawn, 'problem')}; intervals are about "
                "further problems"
            )
        if drawn == 1:
            made.append(f"one {what} says nothing about others: there is no interval")
        elif drawn < FEW:
            made.append(f"{counted(drawn, what)} are few: intervals come out too narrow")
        return made


def common_runs(
    store: Store,
    until: float,
    among: Sequence[str] | None = None,
    per: Mapping[str, int] | None = None,
) -> CommonRuns:
    """Those asked for, or all that ran in full somewhere, on the instances they share.

    Where time is counted ``per`` something, that says how much of it each instance has.
    """
    known = tuple(store.config["algorithms"])
    for name in among or ():
        if name not in known:
            raise ReportError(f"{unknown('algorithm', name, known)} (in {store.path})")
    runs = store.runs()
    ranked = set(store.rankings()["instance"]) - set(runs["instance"])
    if runs.is_empty():
        raise ReportError(_nothing_to_compare(store, bool(ranked)))
    reached = pl.col("reached")
    if per is not None:
        reached = reached / pl.col("instance").replace_strict(per, return_dtype=pl.Float64)
    cut_short = (pl.col("status") == Status.BUDGET) & (reached < until)
    in_full = runs.filter(~cut_short)
    ran: dict[str, set[str]] = {name: set() for name in known}
    for name, instance in in_full.select("algorithm", "instance").iter_rows():
        ran[name].add(instance)
    wanted = known if among is None else tuple(name for name in known if name in among)
    names = tuple(name for name in wanted if ran[name] or among is not None)
    if not names:
        raise ReportError(
            f"no run in {store.path} goes to the end of the grid ({short(until)}); the classical "
            "view needs some that do"
        )
    shared = set.intersection(*(ran[name] for name in names))
    steps = _steps(names, ran, len(shared))
    if not shared:
        counts = ", ".join(f"{name} {len(ran[name])}" for name in names)
        remedy = ""
        if steps:
            rest = ",".join(name for name in names if name not in steps[0].without)
            remedy = f"; --algorithms {rest!r} has {steps[0].instances} in common"
        raise ReportError(
            f"no instance was run to the end of the grid by all of: {', '.join(names)} "
            f"(instances run in full: {counts}){remedy}"
        )
    order = store.instances()["instance"].to_list()
    instances = tuple(instance for instance in order if instance in shared)
    problem = store.problems()
    return CommonRuns(
        names,
        instances,
        {name: len(ran[name]) for name in known},
        tuple(name for name in wanted if name not in names),
        len(set(runs["instance"])),
        len(ranked),
        steps,
        tuple(problem.get(instance, instance) for instance in instances),
        _weights(store, instances),
    )


def share_more(store: Store, until: float, among: Sequence[str]) -> bool:
    """Whether some have more instances in common than everybody has."""
    try:
        found = len(common_runs(store, until, among).instances)
    except ReportError:
        return False
    try:
        return found > len(common_runs(store, until).instances)
    except ReportError:
        return True


def _weights(store: Store, instances: tuple[str, ...]) -> Floats | None:
    weight = store.weights()
    found = np.array([weight.get(instance, 1.0) for instance in instances])
    return None if (found == 1).all() else found


def _steps(names: tuple[str, ...], ran: dict[str, set[str]], now: int) -> tuple[Step, ...]:
    """Leave out the one with the fewest instances, then the next, down to a pair."""
    rest, gone, found = list(names), [], []
    while len(rest) > 2:
        fewest = min(rest, key=lambda name: len(ran[name]))
        rest.remove(fewest)
        gone.append(fewest)
        shared = len(set.intersection(*(ran[name] for name in rest)))
        if shared > now:
            found.append(Step(tuple(gone), shared))
            now = shared
    return tuple(found)


def _nothing_to_compare(store: Store, ranked: bool) -> str:
    if ranked:
        return (
            f"{store.path} holds rankings without values; ECDF, AOCC and EAF need the values "
            "themselves: import the trajectories (--format table, ioh or coco)"
        )
    return f"{store.path} holds no runs yet; `polarbear run` or `polarbear race` makes some"
