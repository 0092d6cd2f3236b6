"""The rule by features: groups of problems with their own recommendation, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from polarbear.errors import SelectionError
from polarbear.facts.evidence import Evidence, evidence_of
from polarbear.inference import ModelOptions
from polarbear.inference.empirical.problem_weights import borrowed_weight
from polarbear.inference.feature_models.duel_tables import duel_table, leads_of
from polarbear.inference.feature_models.duel_tree import (
    Branch,
    Condition,
    Leaf,
    grown_tree,
    leaves,
)
from polarbear.inference.feature_models.split_test import ALPHA
from polarbear.inference.strongest_rival import p_best_at_each_time
from polarbear.racing.recommendation import Advice, Grade, advise
from polarbear.report import story
from polarbear.report.context import ReportContext, once
from polarbear.report.words import without_marks
from polarbear.selection.feature_choice import problem_features
from polarbear.wording import short, whole

TITLE = "By features of the instance"
COLUMNS = ("instances with", "problems#", "run")
EXPLANATION = (
    "A split into groups is tested over all pairs and times together, and corrected for the number "
    f"of features and boundaries that were tried: P(a split by chance) <= {ALPHA:g}. Problems of "
    "the other groups count with a weight of {borrowed}, chosen on held-out duels"
)
EARLY = "too early to say"
DRAWS = 1000  # of the posterior of a group


@dataclass(frozen=True)
class RuleRow:
    """A group of problems: the conditions on its features, its size, and what to run."""

    conditions: str
    problems: int
    advice: str

    @property
    def cells(self) -> tuple[str, ...]:
        """A row of the table with the titles COLUMNS."""
        return (self.conditions, whole(self.problems), self.advice)


@dataclass(frozen=True)
class FeatureRule:
    """The groups of a rule, and the meaning of the table."""

    rows: tuple[RuleRow, ...]
    explanation: str


@once
def feature_rule(context: ReportContext) -> FeatureRule | None:
    """The rule of a store; None where no feature splits its problems."""
    if context.draws is None:
        return None
    # One that is dominated on all problems together may be the best of a group.
    names = context.remaining if context.rounds else context.draws.algorithms
    if len(names) < 2:
        return None
    evidence = evidence_of(context.store, names)
    try:
        of_problems = problem_features(context.store, evidence)
    except SelectionError:
        return None
    duels = evidence.duels
    tree = grown_tree(leads_of(duel_table(duels)), of_problems.matrix, context.store.settings.seed)
    if not isinstance(tree, Branch):
        return None
    groups = np.empty(duels.n_problems, dtype=int)
    all_leaves = list(leaves(tree))
    for index, leaf in enumerate(all_leaves):
        groups[leaf.problems] = index
    borrowed = borrowed_weight(duels, groups, ModelOptions().concentration)
    rows = []
    for index, leaf in enumerate(all_leaves):
        weights = np.where(groups == index, 1.0, borrowed)
        weight_of_problem = dict(zip(duels.names, weights.tolist(), strict=True))
        advice = _advice(context, evidence.weighted(weight_of_problem), len(leaf.problems))
        rows.append(RuleRow(condition_words(leaf), len(leaf.problems), _words(context, advice)))
    return FeatureRule(tuple(rows), EXPLANATION.format(borrowed=short(borrowed)))


def _advice(context: ReportContext, evidence: Evidence, n_problems: int) -> Advice:
    """The recommendation by the problems of a group."""
    options = ModelOptions(draws=DRAWS)
    posterior = evidence.posterior(options, context.store.settings.seed)
    names = evidence.grid.algorithms
    p_best = p_best_at_each_time(posterior, range(len(names)))
    return advise(names, posterior.times, p_best, n_problems)


def _words(context: ReportContext, advice: Advice) -> str:
    likely_best = without_marks(story.advised(advice, context)).removesuffix(".")
    return f"{EARLY}; {likely_best} so far" if advice.grade is Grade.EARLY else likely_best


def condition_words(leaf: Leaf) -> str:
    """The conditions of a group: dimension above 5 up to 20 and function = sphere.

    Of several boundaries of one feature on one side only the narrowest counts, which is the last.
    """
    sides: dict[tuple[str, str | None], dict[bool, Condition]] = {}
    for condition in leaf.conditions:
        of_feature = sides.setdefault((condition.feature, condition.category), {})
        of_feature[condition.is_above] = condition
    return " and ".join(_side_words(of_feature) for of_feature in sides.values())


def _side_words(sides: Mapping[bool, Condition]) -> str:
    """The conditions on one feature: above a boundary, up to one, or between two."""
    words = []
    for is_above in (True, False):
        condition = sides.get(is_above)
        if condition is None:
            continue
        if condition.category is not None:
            sign = "=" if is_above else "other than"
            return f"{condition.feature} {sign} {condition.category}"
        words.append(f"{'above' if is_above else 'up to'} {condition.boundary:,g}")
    feature = next(iter(sides.values())).feature
    return " ".join([feature, *words])
