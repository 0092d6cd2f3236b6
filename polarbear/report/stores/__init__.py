"""Several stores side by side: the differences between them, and how sure these are.

Uses the report's context, drawing and prose; knows no page.
"""
