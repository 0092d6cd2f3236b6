"""Connects configuration, store and workers: makes runs, infers, and steps through a race.

Uses everything from `facts` down: `racing` decides, this room does. Only `regression` and `api`
import it; rooms that only ask a store use `facts`.
"""
