"""One configuration file as one frozen, typed object: read, checked, compared with another.

Uses `settings`, and the options of `problems`, `algorithms`, `racing` and `inference`.
"""
