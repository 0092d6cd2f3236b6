"""The classical view of a store's runs: ECDF, AOCC, EAF, ERT, and how the posterior disagrees.

Uses `store`, `selection` and the rooms below them; draws nothing.
"""
