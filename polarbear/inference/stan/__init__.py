"""The Stan engine: every model as a Stan program, run by CmdStanPy, as the reference.

Uses the models' options and diagnostics, and CmdStanPy.
"""
