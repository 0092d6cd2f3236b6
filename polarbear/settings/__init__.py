"""Common parts of all groups of options: validation, registries, YAML, the grid, user code.

Uses `errors` and `wording`.
"""
