"""Compiled loops of inference: pure functions of their arguments; randomness is handed in.

Uses `numerics`; everything here is compiled.
"""
