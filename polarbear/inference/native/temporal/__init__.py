"""Temporal models: a Gaussian prior over all times at once, by Laplace and exactly.

Uses the models and loops, and what the embedded engine has for all models.
"""
