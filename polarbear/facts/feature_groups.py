"""Groups of a store's instances by a feature: its categories, its few numbers, or bins of many.

A grouping is written as the feature's name, or with the ends of bins: ``dimension:5,20`` makes the
groups up to 5, above 5 up to 20, and above 20.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from polarbear.errors import InferenceError
from polarbear.facts.evidence import Evidence
from polarbear.facts.features import FeatureColumn, Features, category_of
from polarbear.inference.empirical.problem_weights import borrowed_weight
from polarbear.numerics.arrays import Floats
from polarbear.wording import counted, short, visible

MAX_GROUPS = 24  # the number of BBOB's functions; tables of more cannot be compared
MAX_DISTINCT_NUMBERS = 6  # up to which each number of a feature is a group
BINS = 4  # of a feature with more numbers: its quarters
MISSING = "unknown"
ENDS_OF_BINS = re.compile(r"(?P<name>.+):(?P<ends>[-+.,\deE ]+)")


@dataclass(frozen=True)
class InstanceGroup:
    """The instances whose feature has a value, or lies in a bin, that ``label`` names."""

    label: str
    instances: tuple[str, ...]


@dataclass(frozen=True)
class Grouping:
    """The groups of some instances by a feature; each instance is in one."""

    feature: str
    groups: tuple[InstanceGroup, ...]

    @property
    def group_of(self) -> dict[str, int]:
        """The index of the group of each instance."""
        return {
            instance: index
            for index, group in enumerate(self.groups)
            for instance in group.instances
        }


def grouped(features: Features, by: str) -> Grouping:
    """The instances in groups by a feature, in the order of its values; missing ones come last."""
    column, ends = _column_and_ends(features, by)
    if isinstance(column.values, np.ndarray):
        labels, order = _numeric_labels(column.values, ends, column.name)
    else:
        if ends is not None:
            raise InferenceError(
                f"the feature '{column.name}' has categories, which have no bins: leave out "
                f"':{by.rpartition(':')[2]}'"
            )
        labels = [MISSING if category is None else category for category in column.values]
        order = sorted({*labels} - {MISSING}, key=_by_number_or_text)
    if MISSING in labels:
        order = [*order, MISSING]
    members: dict[str, list[str]] = {label: [] for label in order}
    for instance, label in zip(features.instances, labels, strict=True):
        members[label].append(instance)
    groups = [InstanceGroup(label, tuple(members[label])) for label in order if members[label]]
    if len(groups) > MAX_GROUPS:
        raise InferenceError(
            f"the feature '{column.name}' has {counted(len(groups), 'category', 'categories')}; "
            f"at most {MAX_GROUPS} groups can be compared"
        )
    return Grouping(column.name, tuple(groups))


def _column_and_ends(features: Features, by: str) -> tuple[FeatureColumn, Floats | None]:
    """The feature of a grouping, and the ends of its bins; None if they were not given."""
    with_ends = ENDS_OF_BINS.fullmatch(by)
    if with_ends is None or by in features.names:
        return features.column(by), None
    column = features.column(with_ends["name"])
    try:
        ends = [float(word) for word in with_ends["ends"].split(",")]
    except ValueError:
        raise InferenceError(
            f"expected the ends of bins as numbers with commas, as in {column.name}:5,20; found "
            f"'{visible(with_ends['ends'])}'"
        ) from None
    return column, np.unique(ends)


def _numeric_labels(values: Floats, ends: Floats | None, name: str) -> tuple[list[str], list[str]]:
    """The label of the group of each number, and all labels in the order of the numbers."""
    distinct = np.unique(values[~np.isnan(values)])
    if not len(distinct):
        raise InferenceError(f"the feature '{name}' has no value on any instance")
    if ends is None and len(distinct) <= MAX_DISTINCT_NUMBERS:
        labels = [MISSING if np.isnan(number) else category_of(number) for number in values]
        return labels, [category_of(number) for number in distinct]
    if ends is None:
        quantiles = np.quantile(values[~np.isnan(values)], np.arange(1, BINS) / BINS)
        ends = np.unique([float(short(end)) for end in quantiles])
    words = _bin_words(ends)
    index_of_bin = np.searchsorted(ends, values, side="left")
    labels = [
        MISSING if np.isnan(number) else words[index]
        for number, index in zip(values, index_of_bin, strict=True)
    ]
    return labels, words


def _bin_words(ends: Floats) -> list[str]:
    """The bins in words: up to 5, above 5 up to 20, above 20."""
    texts = [f"{end:g}" for end in ends]
    between = [f"above {low} up to {high}" for low, high in pairwise(texts)]
    return [f"up to {texts[0]}", *between, f"above {texts[-1]}"]


def _by_number_or_text(category: str) -> tuple[bool, float, str]:
    """The order of categories: numbers by their size, then texts by the alphabet."""
    try:
        return False, float(category), category
    except ValueError:
        return True, 0.0, category


@dataclass(frozen=True, eq=False)
class ProblemGroups:
    """The problems of some evidence in groups, and the weight of problems of other groups.

    ``group_of_problem`` has the index of a group by the name of a problem, ``sizes`` the number of
    problems in each group. ``borrowed`` is the weight that a problem has in the answers for all
    groups but its own.
    """

    grouping: Grouping
    group_of_problem: Mapping[str, int]
    sizes: tuple[int, ...]
    borrowed: float

    def problem_weights(self, group: int) -> dict[str, float]:
        """The weight of each problem in the answer for a group."""
        return {
            problem: 1.0 if own_group == group else self.borrowed
            for problem, own_group in self.group_of_problem.items()
        }

    def n_weighted(self, group: int) -> float:
        """The sum of these weights: the number of problems that the answer stands on."""
        return float(sum(self.problem_weights(group).values()))


def problem_groups(evidence: Evidence, grouping: Grouping, concentration: float) -> ProblemGroups:
    """The problems of some evidence in the groups that have any of them.

    A problem with several instances is in the group of the first of them.
    """
    group_of_instance = grouping.group_of
    group_of_problem: dict[str, int] = {}
    for instance, problem in zip(evidence.grid.instances, evidence.problem_names, strict=True):
        if instance in group_of_instance:
            group_of_problem.setdefault(problem, group_of_instance[instance])
    present = sorted({*group_of_problem.values()})
    index = {group: k for k, group in enumerate(present)}
    group_of_problem = {name: index[group] for name, group in group_of_problem.items()}
    sizes = tuple(list(group_of_problem.values()).count(k) for k in range(len(present)))
    used = Grouping(grouping.feature, tuple(grouping.groups[group] for group in present))
    duels = evidence.weighted(dict.fromkeys(group_of_problem, 1.0)).duels
    groups = np.array([group_of_problem[name] for name in duels.names])
    borrowed = borrowed_weight(duels, groups, concentration)
    return ProblemGroups(used, group_of_problem, sizes, borrowed)
