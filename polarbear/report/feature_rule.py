"""The rule by features: groups of problems with their own recommendation, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from polarbear.inference.feature_models.duel_tree import Condition, Leaf
from polarbear.inference.feature_models.split_test import ALPHA
from polarbear.inference.strongest_rival import p_best_at_each_time
from polarbear.racing.recommendation import Advice, Grade, advise
from polarbear.report import story
from polarbear.report.context import ReportContext, once
from polarbear.report.words import without_marks
from polarbear.selection.feature_rule import rule_groups
from polarbear.wording import joined, short, whole

TITLE = "By features of the instance"
COLUMNS = ("instances with", "problems#", "run")
EXPLANATION = (
    "A split into groups is tested over all pairs and times together, and corrected for the number "
    f"of features and boundaries that were tried: P(a split by chance) <= {ALPHA:g}. Problems of "
    "the other groups count with a weight of {borrowed}, chosen on held-out duels"
)
EARLY = "too early to say"


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
    rule = rule_groups(context.store, names)
    if rule is None:
        return None
    rows = []
    for group in rule.groups:
        n_problems = len(group.leaf.problems)
        posterior = group.posterior(context.store.settings.seed)
        p_best = p_best_at_each_time(posterior, range(len(names)))
        advice = advise(posterior.algorithms, posterior.times, p_best, n_problems)
        rows.append(RuleRow(condition_words(group.leaf), n_problems, _words(context, advice)))
    return FeatureRule(tuple(rows), EXPLANATION.format(borrowed=short(rule.borrowed)))


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
    return joined([_side_words(of_feature) for of_feature in sides.values()])


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
