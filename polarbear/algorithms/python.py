"""Algorithms that are Python functions of the user."""

from dataclasses import replace
from typing import Any, ClassVar

from pydantic import Field

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.problems.base import Kind, Setting
from polarbear.settings.fingerprint import MadeOf, of_function
from polarbear.settings.user_code import Reference, check_call, load_function


class Python(Algorithm):
    """``function(problem, seed, **options)``: it calls the problem until the budget ends it."""

    function: Reference = Field(
        description="'module:function' or 'file.py:function', looked for beside the configuration"
    )
    options: dict[str, Any] = Field({}, description="further arguments for the function")

    accepts: ClassVar[frozenset[Kind]] = frozenset(Kind) - {Kind.SCORES}
    reports_any_axis: ClassVar[bool] = True
    accepts_objectives: ClassVar[bool] = True

    @property
    def runs_user_code(self) -> bool:
        return True

    def prepare(self, setting: Setting) -> None:
        function = load_function(self.function, setting.folder)
        check_call(function, self.function, ("problem", "seed"), self.options)

    def made_of(self, setting: Setting) -> MadeOf:
        return of_function(self.function, setting.folder)

    def run(self, trial: Trial, setting: Setting) -> None:
        function = load_function(self.function, setting.folder)
        users_trial = trial.in_own_sign()
        source = getattr(trial.problem, "source", None)
        if source is not None:
            users_trial = replace(users_trial, problem=source)
        function(users_trial, trial.seed, **self.options)
