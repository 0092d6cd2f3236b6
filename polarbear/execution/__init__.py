"""Runs executed and recorded; nothing in here writes to the store."""
