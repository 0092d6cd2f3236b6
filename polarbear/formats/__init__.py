"""Data that others have recorded, brought into the form of our own runs. One file a format.

Uses `execution`'s outcomes; each format is one file.
"""
