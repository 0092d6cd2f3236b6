"""The embedded engine: Laplace approximations, exact sampling on top of them, and NUTS.

Uses the models, loops, chains and diagnostics. What only temporal models need is in `temporal`,
what only the others need in `independent`, under the same names.
"""
