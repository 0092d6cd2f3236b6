"""Independent models: a Dirichlet prior at each time for itself, by Laplace and exactly.

Uses the models and loops, and what the embedded engine has for all models.
"""
