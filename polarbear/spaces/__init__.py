"""Spaces of configurations: parameters, conditions, forbidden clauses, and draws from them.

A space is read from YAML, from irace's parameter file, or through ConfigSpace.

Uses `errors` and `settings`; knows nothing of the algorithms that values configure.
"""

from polarbear.spaces.read_space import read_space
from polarbear.spaces.space import Parameter, Space, Value, Values

__all__ = ["Parameter", "Space", "Value", "Values", "read_space"]
