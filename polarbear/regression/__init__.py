"""The check of a change: is the candidate worse than the baseline, at any time within the budget?

`sequential` is the statistics, `gate_decision` the verdict on a pair. `gate_run` makes the runs,
`gate_report` writes the results. Uses every room but `api` and `cli`.
"""

from __future__ import annotations
