"""Contract algorithms: the budgets of their runs, and what these runs have at any time.

A contract algorithm plans for the budget that it is given, so its value at time t is the final
value of a run that was given t. One run is made for each contract time of the grid. Between two of
them the run with the larger budget counts, even if a shorter one was better: the best of several
runs would be a restart that nobody has paid for.
"""

from collections.abc import Mapping
from typing import Annotated

import numpy as np
from pydantic import BeforeValidator, Field

from polarbear.settings.options import Options, describe

DEFAULT_POINTS = 8


class Contract(Options):
    """How many budgets a contract algorithm is run with on an instance."""

    points: int = Field(
        DEFAULT_POINTS,
        ge=2,
        le=1000,
        description="how many times of the grid are contract times, evenly spaced by position, "
        "the first and the last included; all times of a shorter grid",
    )

    def times(self, grid: np.ndarray) -> np.ndarray:
        """The contract times: the budgets of the runs on an instance."""
        positions = np.linspace(0, len(grid) - 1, min(self.points, len(grid)))
        return np.asarray(grid[np.unique(np.round(positions).astype(int))])


def _contract(value: object) -> object:
    """``true`` is a contract with the default number of points, ``false`` is none."""
    if value is None or value is False:
        return None
    if value is True:
        return Contract()
    if isinstance(value, Contract | Mapping):
        return value
    raise ValueError(f"expected true, false or {{points: K}}, found {describe(value)}")


OptionalContract = Annotated[
    Contract | None, BeforeValidator(_contract, json_schema_input_type=bool | Contract | None)
]
ContractTimes = Mapping[str, np.ndarray]  # of the contract algorithms, by name


def latest(contract_times: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The index of the last contract time that is no later than each time; -1 before the first."""
    return np.asarray(np.searchsorted(contract_times, times, side="right") - 1)


def decided_at(ends_a_run: np.ndarray) -> np.ndarray:
    """The index of the time that decides at each time, the last axis: the last end of runs by then.

    ``ends_a_run`` says at which times all compared algorithms end a run, or need not.
    """
    index = np.where(ends_a_run, np.arange(ends_a_run.shape[-1]), 0)
    return np.asarray(np.maximum.accumulate(index, axis=-1))


def reached(contract_times: np.ndarray, has_run: np.ndarray, grid: np.ndarray) -> float:
    """The last time of the grid before the first contract time without a run."""
    missing = contract_times[~has_run]
    if len(missing) == 0:
        return float(grid[-1])
    earlier = grid[grid < missing[0]]
    return float(earlier[-1]) if len(earlier) else 0.0


def on_grid(contract_times: np.ndarray, final_values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The values at some times, by the final value of the run for each contract time.

    They are NaN where that run is missing, also if a shorter one was made.
    """
    return np.asarray(np.append(final_values, np.nan)[latest(contract_times, times)])
