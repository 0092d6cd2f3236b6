"""The rule by features: groups of problems that a tree over duels finds, each with its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.errors import SelectionError
from polarbear.facts.evidence import Evidence, evidence_of
from polarbear.inference import ModelOptions, Posterior
from polarbear.inference.empirical.problem_weights import borrowed_weight
from polarbear.inference.feature_models.duel_tables import duel_table, leads_of
from polarbear.inference.feature_models.duel_tree import Branch, Leaf, grown_tree, leaves
from polarbear.selection.feature_choice import problem_features
from polarbear.store import StoreOnDisk

DRAWS = 1000  # of the posterior of a group


@dataclass(frozen=True, eq=False)
class RuleGroup:
    """A leaf of the tree, and the evidence in which other problems have the borrowed weight."""

    leaf: Leaf
    evidence: Evidence

    def posterior(self, seed: int) -> Posterior:
        """The posterior of the group."""
        return self.evidence.posterior(ModelOptions(draws=DRAWS), seed)


@dataclass(frozen=True, eq=False)
class RuleGroups:
    """The groups of a rule, and the weight of problems of other groups."""

    groups: tuple[RuleGroup, ...]
    borrowed: float


def rule_groups(store: StoreOnDisk, names: Sequence[str]) -> RuleGroups | None:
    """The rule of a store for some algorithms; None where no feature splits its problems."""
    if len(names) < 2:
        return None
    evidence = evidence_of(store, names)
    try:
        of_problems = problem_features(store, evidence)
    except SelectionError:
        return None
    duels = evidence.duels
    tree = grown_tree(leads_of(duel_table(duels)), of_problems.matrix, store.settings.seed)
    if not isinstance(tree, Branch):
        return None
    all_leaves = list(leaves(tree))
    group_of_problem = np.empty(duels.n_problems, dtype=int)
    for index, leaf in enumerate(all_leaves):
        group_of_problem[leaf.problems] = index
    borrowed = borrowed_weight(duels, group_of_problem, ModelOptions().concentration)
    groups = []
    for index, leaf in enumerate(all_leaves):
        weights = np.where(group_of_problem == index, 1.0, borrowed)
        weight_of_problem = dict(zip(duels.names, weights.tolist(), strict=True))
        groups.append(RuleGroup(leaf, evidence.weighted(weight_of_problem)))
    return RuleGroups(tuple(groups), borrowed)
