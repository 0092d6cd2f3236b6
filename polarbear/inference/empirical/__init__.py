"""Who beats whom, from duels alone: a Bayesian bootstrap over problem instances.

Assumes no more than that instances are exchangeable. Uses `rankings` and `numerics`.
"""
