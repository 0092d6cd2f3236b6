"""The check of a change: is the candidate worse than the baseline, at any time within the budget?

`gate_decision` is the statistics, `gate_run` makes the runs, and `gate_report` writes the results.
Uses every room but `api` and `cli`.
"""
