"""Connects configuration, store and workers: makes runs, infers, and steps through a race.

Uses everything from `store` down: `racing` decides, this room does.
"""
