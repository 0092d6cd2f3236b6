"""What every group of options leans on: validation, registries, YAML lines, the grid, user code.

Uses `errors` and `wording`.
"""
