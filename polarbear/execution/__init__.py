"""Runs executed and recorded; nothing in here writes to the store.

Uses `algorithms` and `problems`; knows nothing of stores.
"""
