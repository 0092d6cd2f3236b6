"""The native engine of the Plackett-Luce models: Laplace approximations, split HMC, and NUTS.

Uses the models, options and diagnostics of `inference`, and no other engine.
"""
