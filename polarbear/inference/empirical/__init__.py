"""The default model: win probabilities from duels alone, by a Bayesian bootstrap over problems.

Its only assumption is that problems are exchangeable. Uses `rankings`.
"""
