"""A readable rule: a small tree over duels, whose leaves are groups of problems.

Each split is tested, see `split_test`. The tree ends where chance explains the best split.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from polarbear.inference.feature_models.encoding import Column, FeatureMatrix
from polarbear.inference.feature_models.split_test import tested_split

SMALLEST_LEAF = 10  # problems, below which no algorithm is recommended
MAX_DEPTH = 3  # a rule with more conditions is hard to read
SMALLEST_SHARE = 0.05  # of all problems, in a leaf


@dataclass(frozen=True)
class Condition:
    """A side of a split: a number above or not above a boundary, or a category or any other."""

    feature: str
    category: str | None
    boundary: float
    is_above: bool


@dataclass(frozen=True, eq=False)
class Leaf:
    """A group of problems, given by the conditions on the path to it."""

    conditions: tuple[Condition, ...]
    problems: np.ndarray


@dataclass(frozen=True, eq=False)
class Branch:
    """A split into two subtrees."""

    conditions: tuple[Condition, ...]
    problems: np.ndarray
    column: Column
    boundary: float
    p_value: float
    below: "Branch | Leaf"
    above: "Branch | Leaf"


Tree = Branch | Leaf


def grown_tree(leads: np.ndarray, matrix: FeatureMatrix, seed: int) -> Tree:
    """The tree of problems by their leads[problem, item] and features."""
    smallest = max(SMALLEST_LEAF, int(SMALLEST_SHARE * len(leads)))
    rng = np.random.default_rng(seed)
    return _grown(leads, matrix, np.arange(len(leads)), (), smallest, rng)


def _grown(
    leads: np.ndarray,
    matrix: FeatureMatrix,
    problems: np.ndarray,
    conditions: tuple[Condition, ...],
    smallest: int,
    rng: np.random.Generator,
) -> Tree:
    """The subtree of some problems."""
    split = None
    if len(conditions) < MAX_DEPTH and len(problems) >= 2 * smallest:
        split = tested_split(leads[problems], matrix.rows(problems), smallest, rng)
    if split is None:
        return Leaf(conditions, problems)
    column = matrix.columns[split.column]
    is_above = matrix.values[problems, split.column] > split.boundary

    def side(which: bool) -> Tree:
        condition = Condition(column.feature, column.category, split.boundary, which)
        inside = problems[is_above == which]
        return _grown(leads, matrix, inside, (*conditions, condition), smallest, rng)

    return Branch(
        conditions=conditions,
        problems=problems,
        column=column,
        boundary=split.boundary,
        p_value=split.p_value,
        below=side(False),
        above=side(True),
    )


def leaves(tree: Tree) -> Iterator[Leaf]:
    """The leaves, those below a boundary first."""
    if isinstance(tree, Leaf):
        yield tree
    else:
        yield from leaves(tree.below)
        yield from leaves(tree.above)
