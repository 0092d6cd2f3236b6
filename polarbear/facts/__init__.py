"""Read-only questions to a store: its evidence, posterior, standings, runs and counts.

Uses `store` and the rooms below it; runs nothing and writes nothing.
"""
