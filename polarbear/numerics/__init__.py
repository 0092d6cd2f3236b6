"""Shared numerical tools: compiled loops, threads, seeds, array types.

Uses no other room.
"""
