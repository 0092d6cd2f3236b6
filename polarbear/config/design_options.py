"""How a design searches: its limits, and who proposes."""

from typing import Any

from pydantic import Field

from polarbear.settings.options import Options


class DesignOptions(Options):
    """The options of `polarbear design`; limits of runs and time are those of a race."""

    generations: int | None = Field(
        None, ge=1, description="largest number of generations; null for no limit"
    )
    candidates: int = Field(8, ge=1, le=1000, description="newcomers in each generation")
    stable: int = Field(
        3, ge=1, description="it ends when this number of generations has not changed the set"
    )
    members: int = Field(
        8, ge=2, description="largest set; the member that is missed least leaves a larger one"
    )
    problems: int = Field(
        100, ge=10, description="problems on which the set is run, and newcomers are judged"
    )
    propose: str | dict[str, Any] = Field(
        "elites",
        description="who proposes newcomers: elites, uniform, optuna, or a mapping with 'use' and "
        "options, as in {use: command, command: ./propose}, python or replay",
    )
