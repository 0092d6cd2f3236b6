"""The decision as a small file: from a budget to an algorithm and its probability of being best.

A program in production reads the JSON, or calls the function of the Python file, which needs
nothing but Python.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from polarbear.formats import base
from polarbear.inference.feature_models.duel_tree import Condition
from polarbear.records import Record, optional_key
from polarbear.selection import choice
from polarbear.selection.criteria import check_risk
from polarbear.selection.criterion_names import DEFAULT_PREFERENCE, DEFAULT_RISK, Risk
from polarbear.selection.feature_rule import rule_groups
from polarbear.selection.posterior_source import Basis, Contest, contest, find_basis
from polarbear.selection.preference_parsing import read_preference
from polarbear.selection.sweeps import SweepTable, sweep
from polarbear.store import StoreOnDisk
from polarbear.wording import counted

PYTHON = '''"""The algorithm to run for a budget in AXIS; written by PolarBear."""

from bisect import bisect_right

AXIS = {axis!r}
PROBLEMS = {problems!r}
TOO_EARLY = {too_early!r}
BUDGETS = {budgets!r}
CHOICES = {choices!r}
DEFAULT = {default!r}


def choose(budget=None):
    """The algorithm and its P(best); a budget between two times counts as the earlier one."""
    if budget is None:
        return DEFAULT
    return CHOICES[max(bisect_right(BUDGETS, budget) - 1, 0)]
'''
PYTHON_BY_FEATURES = '''"""The algorithm for a budget in AXIS and features; written by PolarBear."""

from bisect import bisect_right

AXIS = {axis!r}
PROBLEMS = {problems!r}
TOO_EARLY = {too_early!r}
BUDGETS = {budgets!r}
CHOICES = {choices!r}
DEFAULT = {default!r}
# Conditions (feature, category, boundary, is above), and the choices where all of them hold.
GROUPS = {groups!r}


def choose(budget=None, features=None):
    """The algorithm and its P(best); a budget between two times counts as the earlier one.

    Without the features of a group's conditions the choice is that for all instances.
    """
    choices, default = CHOICES, DEFAULT
    for conditions, of_group, default_of_group in GROUPS:
        if all(holds(features or {{}}, *condition) for condition in conditions):
            choices, default = of_group, default_of_group
    if budget is None:
        return default
    return choices[max(bisect_right(BUDGETS, budget) - 1, 0)]


def holds(features, name, category, boundary, is_above):
    """Whether a condition holds; one on a feature that is not given does not."""
    if name not in features:
        return False
    if category is not None:
        return (str(features[name]) == category) == is_above
    return (features[name] > boundary) == is_above
'''


@dataclass(frozen=True)
class GroupChoices:
    """The choices for instances on which all conditions hold, as those of `Chooser`."""

    conditions: tuple[Condition, ...]
    problems: int
    choices: tuple[tuple[str, float], ...]
    default: tuple[str, float]

    def holds(self, features: Mapping[str, str | float]) -> bool:
        """Whether an instance is in the group; not if a feature of it is not given."""
        return all(_holds(condition, features) for condition in self.conditions)


def _holds(condition: Condition, features: Mapping[str, str | float]) -> bool:
    if condition.feature not in features:
        return False
    value = features[condition.feature]
    if condition.category is not None:
        return (str(value) == condition.category) == condition.is_above
    return (float(value) > condition.boundary) == condition.is_above


@dataclass(frozen=True, repr=False)
class Chooser(Record):
    """The choice at each time of the grid; fields are the keys of the exported JSON.

    ``choices`` are pairs of an algorithm and its P(best), one for each of ``budgets``; ``default``
    is the choice for ``preference``, for programs that do not know their budget. ``groups`` have
    their own choices, by the rule by features, if that was requested and there is one.
    """

    axis: str
    risk: str
    problems: int
    budgets: tuple[float, ...]
    choices: tuple[tuple[str, float], ...]
    preference: str
    default: tuple[str, float]
    too_early: str | None  # the reason, where the data do not suffice for a recommendation
    groups: tuple[GroupChoices, ...] | None = optional_key()

    def __call__(
        self, budget: float | None = None, features: Mapping[str, str | float] | None = None
    ) -> tuple[str, float]:
        """The algorithm and its P(best); a budget between two times counts as the earlier one.

        ``features`` are those of the instance, by which it may be in a group.
        """
        of_instance = [group for group in self.groups or () if group.holds(features or {})]
        choices = of_instance[0].choices if of_instance else self.choices
        default = of_instance[0].default if of_instance else self.default
        if budget is None:
            return default
        return choices[max(bisect_right(self.budgets, budget) - 1, 0)]

    def one_line(self) -> str:
        return f"{self.default[0]} for {self.preference}; {counted(len(self.budgets), 'budget')}"

    def to_python(self) -> str:
        """A Python module with the function ``choose``."""
        if self.groups is None:
            return PYTHON.format(**vars(self))
        groups = [
            (tuple(map(astuple, group.conditions)), group.choices, group.default)
            for group in self.groups
        ]
        return PYTHON_BY_FEATURES.format(**{**vars(self), "groups": groups})


def make_chooser(
    store: StoreOnDisk,
    preference: str,
    risk: str,
    model: str | None,
    key: str | None,
    algorithms: Sequence[str] | None,
    *,
    by_features: bool = False,
) -> Chooser:
    """The choice at each time of the grid by a risk profile, and the one for a preference.

    With ``by_features``, the groups of the rule by features have their own.
    """
    basis = find_basis(store, model, key)
    candidates = contest(basis, algorithms)
    profile = check_risk(risk)
    table, selection = _choices(basis, candidates, preference, profile)
    groups = None
    if by_features:
        groups = _groups(store, basis, algorithms, preference, profile)
    return Chooser(
        axis=basis.axis,
        risk=profile,
        problems=basis.instances,
        budgets=table.positions,
        choices=_with_p_best(table),
        preference=preference,
        default=_default(selection),
        too_early=selection.too_early(),
        groups=groups,
    )


def _choices(
    basis: Basis, candidates: Contest, preference: str, profile: Risk
) -> tuple[SweepTable, choice.Selection]:
    """The choice at each time of the grid, and the one for a preference."""
    names = [basis.algorithms[item] for item in candidates.candidates]
    valued_by, folder = read_preference(preference, basis.axis)
    context = basis.context(folder, basis.posterior.seed)
    # The table has one choice for each time of the grid, so it needs no budgets between the times.
    context_of_grid = replace(context, joint=False)
    table = sweep(basis.posterior, candidates.candidates, names, context_of_grid, profile)
    return table, choice.select(basis, candidates, valued_by, context, profile)


def _with_p_best(table: SweepTable) -> tuple[tuple[str, float], ...]:
    return tuple((name, table.p2bb[name][k]) for k, name in enumerate(table.choices))


def _default(selection: choice.Selection) -> tuple[str, float]:
    p_best = float(selection.criteria.p2bb[selection.choice])
    return selection.name(selection.choice), p_best


def _groups(
    store: StoreOnDisk,
    basis: Basis,
    algorithms: Sequence[str] | None,
    preference: str,
    profile: Risk,
) -> tuple[GroupChoices, ...] | None:
    """The choices for each group of the rule by features; None where there is no rule."""
    names = algorithms or basis.pareto_set or basis.algorithms
    rule = rule_groups(store, names)
    if rule is None:
        return None
    groups = []
    for group in rule.groups:
        posterior = replace(group.posterior(store.settings.seed), axis=basis.axis)
        basis_of_group = replace(basis, posterior=posterior, source="infer", pareto_set=None)
        candidates = contest(basis_of_group)
        table, selection = _choices(basis_of_group, candidates, preference, profile)
        groups.append(
            GroupChoices(
                conditions=group.leaf.conditions,
                problems=len(group.leaf.problems),
                choices=_with_p_best(table),
                default=_default(selection),
            )
        )
    return tuple(groups)


class ChooserExport(base.Export):
    """The choice for every budget, as JSON (.json) or as a Python function (.py)."""

    endings: ClassVar[tuple[str, ...]] = (".json", ".py")
    read_by: ClassVar[str] = "your program in production"
    writes_runs: ClassVar[bool] = False

    preference: str = Field(DEFAULT_PREFERENCE, description="the choice if no budget is given")
    risk: str = Field(DEFAULT_RISK, description="the risk profile, as of `select`")
    model: str | None = Field(None, description="by default the race's model, or the default")
    key: str | None = Field(None, description="the posterior of this key")
    by_features: bool = Field(
        False, description="groups of the rule by features have their own choices"
    )

    def write(self, store: StoreOnDisk, algorithms: tuple[str, ...], path: Path) -> base.Written:
        among = algorithms if len(algorithms) < len(store.settings.algorithms) else None
        chooser = make_chooser(
            store,
            self.preference,
            self.risk,
            self.model,
            self.key,
            among,
            by_features=self.by_features,
        )
        if path.suffix == ".py":
            text = chooser.to_python()
        else:
            text = json.dumps(chooser.to_dict(), indent=1)
        path.write_text(text, encoding="utf-8")
        return base.Written(f"the choice at {counted(len(chooser.budgets), 'time')}")
