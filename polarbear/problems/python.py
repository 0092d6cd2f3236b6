"""Problems made by a Python function of the user."""

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

    def offers(self) -> Kind:
        return Kind(self.gives)

    def made_of(self, setting: Setting) -> MadeOf:
        return of_function(self.function, setting.folder)

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        function = load_function(self.function, setting.folder)
        check_call(function, self.function, ("seed",), self.options)  # before anything is run
        return f"python-{index}", {"seed": int(rng.integers(2**31))}

    def build(self, spec: Spec, setting: Setting) -> Any:
        made = load_function(self.function, setting.folder)(spec["seed"], **self.options)
        if isinstance(made, Problem):
            return made
        if self.gives == "object":
            if not callable(made):
                return made
            return Problem(made, true_value=_true_value(made), source=made)
        if not callable(made) or not hasattr(made, "lower") or not hasattr(made, "upper"):
            raise ProblemError(
                f"'{self.function}' returned {type(made).__name__}; expected "
                "polarbear.problems.Problem(evaluate, lower, upper), or a callable with the "
                "attributes lower and upper; `gives: object` is for problems without a box"
            )
        lower, upper = (np.asarray(b, dtype=np.float64) for b in (made.lower, made.upper))
        if lower.ndim != 1 or lower.shape != upper.shape or not np.all(lower < upper):
            raise ProblemError(
                f"'{self.function}' returned an invalid box; expected lower and upper as lists "
                "of equal length, lower below upper"
            )
        return Problem(made, lower, upper, true_value=_true_value(made), source=made)


def _true_value(made: Any) -> Callable[[Any], float] | None:
    """The problem's method for the value to record, if it has one."""
    found = getattr(made, "true_value", None)
    if found is not None and not callable(found):
        raise ProblemError(f"true_value is a method of a problem, found {type(found).__name__}")
    return found
