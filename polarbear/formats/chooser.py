"""The decision as a small file: from a budget to an algorithm and its probability of being best.

A program in production reads the JSON, or calls the function of the Python file, which needs
nothing but Python.
"""

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from polarbear.formats import base
from polarbear.records import Record
from polarbear.selection import choice
from polarbear.selection.criteria import check_risk
from polarbear.selection.criterion_names import DEFAULT_PREFERENCE, DEFAULT_RISK
from polarbear.selection.posterior_source import contest, find_basis
from polarbear.selection.preference_parsing import read_preference
from polarbear.selection.sweeps import sweep
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


@dataclass(frozen=True, repr=False)
class Chooser(Record):
    """The choice at each time of the grid; fields are the keys of the exported JSON.

    ``choices`` are pairs of an algorithm and its P(best), one for each of ``budgets``; ``default``
    is the choice for ``preference``, for programs that do not know their budget.
    """

    axis: str
    risk: str
    problems: int
    budgets: tuple[float, ...]
    choices: tuple[tuple[str, float], ...]
    preference: str
    default: tuple[str, float]
    too_early: str | None  # the reason, where the data do not suffice for a recommendation

    def __call__(self, budget: float | None = None) -> tuple[str, float]:
        """The algorithm and its P(best); a budget between two times counts as the earlier one."""
        if budget is None:
            return self.default
        return self.choices[max(bisect_right(self.budgets, budget) - 1, 0)]

    def one_line(self) -> str:
        return f"{self.default[0]} for {self.preference}; {counted(len(self.budgets), 'budget')}"

    def to_python(self) -> str:
        """A Python module with the function ``choose``."""
        return PYTHON.format(**vars(self))


def make_chooser(
    store: StoreOnDisk,
    preference: str,
    risk: str,
    model: str | None,
    key: str | None,
    algorithms: Sequence[str] | None,
) -> Chooser:
    """The choice at each time of the grid by a risk profile, and the one for a preference."""
    basis = find_basis(store, model, key)
    candidates = contest(basis, algorithms)
    profile = check_risk(risk)
    names = [basis.algorithms[item] for item in candidates.candidates]
    valued_by, folder = read_preference(preference, basis.axis)
    context = basis.context(folder, basis.posterior.seed)
    # The table has one choice for each time of the grid, so it needs no budgets between the times.
    context_of_grid = replace(context, joint=False)
    table = sweep(basis.posterior, candidates.candidates, names, context_of_grid, profile)
    selection = choice.select(basis, candidates, valued_by, context, profile)
    p_best_of_default = float(selection.criteria.p2bb[selection.choice])
    return Chooser(
        axis=basis.axis,
        risk=profile,
        problems=basis.instances,
        budgets=table.positions,
        choices=tuple((name, table.p2bb[name][k]) for k, name in enumerate(table.choices)),
        preference=preference,
        default=(selection.name(selection.choice), p_best_of_default),
        too_early=selection.too_early(),
    )


class ChooserExport(base.Export):
    """The choice for every budget, as JSON (.json) or as a Python function (.py)."""

    endings: ClassVar[tuple[str, ...]] = (".json", ".py")
    read_by: ClassVar[str] = "your program in production"
    writes_runs: ClassVar[bool] = False

    preference: str = Field(DEFAULT_PREFERENCE, description="the choice if no budget is given")
    risk: str = Field(DEFAULT_RISK, description="the risk profile, as of `select`")
    model: str | None = Field(None, description="by default the race's model, or the default")
    key: str | None = Field(None, description="the posterior of this key")

    def write(self, store: StoreOnDisk, algorithms: tuple[str, ...], path: Path) -> base.Written:
        among = algorithms if len(algorithms) < len(store.settings.algorithms) else None
        chooser = make_chooser(store, self.preference, self.risk, self.model, self.key, among)
        if path.suffix == ".py":
            text = chooser.to_python()
        else:
            text = json.dumps(chooser.to_dict(), indent=1)
        path.write_text(text, encoding="utf-8")
        return base.Written(f"the choice at {counted(len(chooser.budgets), 'time')}")
