"""Models of duels by the features of problems: a tree that can be read, and a forest.

Uses `rankings`, `numerics`, `settings`, `errors`.
"""
