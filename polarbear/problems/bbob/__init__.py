"""The 24 functions of BBOB, their instances and their mixtures, compiled: nothing to install.

Uses `numerics`.
"""
