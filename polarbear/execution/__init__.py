"""Executes and records runs in guarded processes, on this machine or on a Dask cluster.

Uses `algorithms`, `problems` and `config`; does not read or write stores.
"""
