"""Shared numerical tools: compiled loops, threads, seeds, array types.

Uses nothing of ours.
"""
