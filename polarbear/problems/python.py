"""Problems made by a Python function of the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from polarbear.errors import ProblemError
from polarbear.problems.base import Kind, Problem, Setting, Spec, Suite
from polarbear.settings.fingerprint import MadeOf, of_function
from polarbear.settings.user_code import Reference, check_call, load_function


class Python(Suite):
    """``function(seed, **options)`` makes one problem: something to call, with a box."""

    function: Reference = Field(
        description="'module:function' or 'file.py:function', looked for beside the configuration"
    )
    options: dict[str, Any] = Field({}, description="further arguments for the function")
    gives: Literal["continuous", "integer", "object"] = Field(
        "continuous",
        description="what it returns: a callable with `lower` and `upper` (real or whole numbers), "
        "or any object, whose call evaluates a solution; only `use: python` takes objects",
    )

    kind: ClassVar[Kind] = Kind.OBJECT
    keeps_state: ClassVar[bool] = True

    @property
    def runs_user_code(self) -> bool:
        return True

    def offers(self) -> Kind:
        return Kind(self.gives)

    def made_of(self, setting: Setting) -> MadeOf:
        return of_function(self.function, setting.folder)

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        function = load_function(self.function, setting.folder)
        check_call(function, self.function, ("seed",), self.options)  # before anything is run
        return f"python-{index}", {"seed": int(rng.integers(2**31))}

    def build(self, spec: Spec, setting: Setting) -> Any:
        function = load_function(self.function, setting.folder)
        returned = function(spec["seed"], **self.options)
        if isinstance(returned, Problem):
            return returned
        if self.gives == "object":
            if not callable(returned):
                return returned
            return Problem(returned, true_value=_true_value(returned), source=returned)
        return self._boxed(returned)

    def _boxed(self, returned: Any) -> Problem:
        """The problem of a callable with a box that the user's function returned."""
        has_box = hasattr(returned, "lower") and hasattr(returned, "upper")
        if not callable(returned) or not has_box:
            raise ProblemError(
                f"'{self.function}' returned {type(returned).__name__}; expected "
                "polarbear.problems.Problem(evaluate, lower, upper), or a callable with the "
                "attributes lower and upper; `gives: object` is for problems without a box"
            )
        lower = np.asarray(returned.lower, dtype=np.float64)
        upper = np.asarray(returned.upper, dtype=np.float64)
        if lower.ndim != 1 or lower.shape != upper.shape or not np.all(lower < upper):
            raise ProblemError(
                f"'{self.function}' returned an invalid box; expected lower and upper as lists "
                "of equal length, lower below upper"
            )
        return Problem(returned, lower, upper, true_value=_true_value(returned), source=returned)


def _true_value(returned: Any) -> Callable[[Any], float] | None:
    """The problem's method for the value to record, if it has one."""
    method = getattr(returned, "true_value", None)
    if method is not None and not callable(method):
        raise ProblemError(f"true_value is a method of a problem, found {type(method).__name__}")
    return method
