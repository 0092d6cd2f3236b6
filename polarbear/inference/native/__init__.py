"""The embedded engine: Laplace approximations, exact sampling on top of them, and NUTS.

Uses the models, loops and diagnostics.
"""
