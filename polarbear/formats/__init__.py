"""Data that others have recorded, brought into the form of our own runs. One file a format.

Uses `execution`'s outcomes, and `store` to add what was read.
"""
